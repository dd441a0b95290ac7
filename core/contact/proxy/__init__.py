"""Collision proxy: a collision surface near the render surface, interpolated from a draft lattice."""
