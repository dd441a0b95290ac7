"""Tetrahedral meshing of a surface: draft, robust and clean methods, with local refinement."""
