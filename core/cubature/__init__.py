"""Cubature: a few weighted tets that represent the energy of the whole body."""
