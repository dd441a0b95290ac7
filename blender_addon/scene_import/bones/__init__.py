"""Readers of the joints of bone bodies, and of the animation that they follow."""
