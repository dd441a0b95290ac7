"""Simulation methods: models, subspaces, solvers, and EigenFit."""
