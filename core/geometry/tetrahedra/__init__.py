"""Tetrahedral meshing of a surface by three methods (draft, robust, clean), and local refinement."""
