"""Potentials of a body's positions, with their values and gradients: elasticity, inertia, gravity, and other loads."""
