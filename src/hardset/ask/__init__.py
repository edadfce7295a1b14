"""The durable ask: every model call in the program goes through it."""
