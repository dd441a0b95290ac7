"""Surfaces, tetrahedra, and what ties the one to the other."""
