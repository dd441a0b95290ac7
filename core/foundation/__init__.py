"""Foundation of all rooms: errors, events, units in words, settings, files, processes, kernels."""
