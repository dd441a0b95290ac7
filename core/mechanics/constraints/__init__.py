"""Constraints of a body: pins."""
