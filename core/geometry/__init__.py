"""Surfaces, tetrahedral meshes, and tetrahedralization."""
