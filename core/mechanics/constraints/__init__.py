"""Pins of a body, and the automatic proposal of its dynamic nodes.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""
