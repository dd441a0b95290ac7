"""Shared basis of all packages: errors, events, unit texts, settings, files, processes and Numba kernels."""
