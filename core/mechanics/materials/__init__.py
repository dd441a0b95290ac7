"""Materials, and their transfer from painted weights to parameters of tets."""
