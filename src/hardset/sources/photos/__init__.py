"""Pictures that three Python packages ship, and questions that were written looking at them."""
