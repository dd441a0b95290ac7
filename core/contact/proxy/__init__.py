"""Collision proxy: a collision surface near the render surface. The vertices are interpolated from a draft lattice."""
