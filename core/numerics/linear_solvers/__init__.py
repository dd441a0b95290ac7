"""Solvers of sparse symmetric positive-definite systems behind one protocol."""
