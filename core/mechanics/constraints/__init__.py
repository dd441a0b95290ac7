"""Pins of a body."""
