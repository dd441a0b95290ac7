"""Ties: potentials that hold points of two bodies together, or points of a body on a surface of another."""
