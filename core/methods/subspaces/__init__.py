"""Model order reduction: subspaces of few unknowns, and the reduced model of a body."""
