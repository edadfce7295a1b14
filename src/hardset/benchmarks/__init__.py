"""One file a system: rows to Items, the prompt, how a reply is read, which metrics."""
