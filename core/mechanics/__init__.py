"""Continuum mechanics on a tetrahedral mesh: energies, materials, assembly, loads and constraints."""
