"""Simulation over all frames: bakes, live mode, and the compilation of the kernels that they use."""
