"""Tetrahedral meshing of a surface by three methods (draft, robust, clean), with local refinement."""
