"""Deformation gradients, and assembly of element matrices into systems with a sparsity built once per mesh."""
