"""Deformation gradients, and assembly of element matrices into systems: done once per mesh, then refilled."""
