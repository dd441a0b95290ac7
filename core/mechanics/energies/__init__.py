"""Elastic energy densities, one file each, and their registry."""

from .registry import ENERGIES, energy

__all__ = ["ENERGIES", "energy"]
