"""Pins of a body, and the proposal of its dynamic nodes."""
