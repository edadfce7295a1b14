"""Training of local/scout: its examples, its network, its steps and its export."""
