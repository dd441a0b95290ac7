"""Sparse symmetric positive-definite systems behind one protocol."""
