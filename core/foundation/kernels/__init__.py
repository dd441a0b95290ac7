"""Numba kernels: compilation and its disk cache, threads, and 3 x 3 algebra."""
