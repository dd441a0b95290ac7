"""Validated model of a body, and its state."""
