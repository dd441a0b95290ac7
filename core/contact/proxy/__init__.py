"""The collision proxy: a skin near the render surface that a draft lattice can carry."""
