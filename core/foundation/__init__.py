"""What every room needs: errors, events, units in words, settings, files, processes, kernels."""
