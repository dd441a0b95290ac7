"""Solvers of sparse symmetric positive-definite linear systems, with a common protocol."""
