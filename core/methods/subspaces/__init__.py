"""Model order reduction: subspaces with few unknowns, and the reduced model of a body."""
