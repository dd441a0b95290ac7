"""Subspaces: few unknowns that move a whole body, and the model of a body in them."""
