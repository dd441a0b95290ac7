"""Elastic energy densities, one file each, and the registry that names them."""

from .registry import ENERGIES, energy

__all__ = ["ENERGIES", "energy"]
