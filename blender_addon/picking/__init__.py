"""Picking of vertices in the 3D View, and proposal of dynamic nodes.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""
