"""Cubature: a few tets whose weighted energy stands for that of the whole body."""
