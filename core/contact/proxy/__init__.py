"""Collision proxy: a collision surface near the render surface whose vertices are interpolated from a draft lattice."""
