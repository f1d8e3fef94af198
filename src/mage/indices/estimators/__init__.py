"""Ways to compute an index."""
