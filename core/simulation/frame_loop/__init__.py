"""Simulation over all frames: bakes, live mode, and the compilation of their kernels."""
