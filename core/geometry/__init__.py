"""Surfaces, tetrahedral meshes, and how the second are made from the first."""
