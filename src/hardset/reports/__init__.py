"""Terminal tables, figures and the self-contained HTML report."""
