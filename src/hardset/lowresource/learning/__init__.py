"""What learning from a picked set gives: figures over seeds, gaps to random sets, curves over k."""
