"""Foundation of all packages: errors, events, units as text, settings, files, processes, Numba kernels."""
