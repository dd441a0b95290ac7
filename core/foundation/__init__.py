"""Foundation of all packages: errors, events, units in words, settings, files, processes, kernels."""
