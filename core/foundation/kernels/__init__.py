"""Numba kernels: compilation with a disk cache, threads, and 3 x 3 algebra."""
