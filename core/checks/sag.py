"""How far a body gives way under its own weight, from its surface alone: before there are tetrahedra, for interfaces.

As a column does along gravity and a clamped bar across it, both from textbooks (Euler and Bernoulli). A column that is
L long sags by ``rho g L² / (2 E)``, a bar by ``q L⁴ / (8 E I)``, that is ``3/2 rho g L⁴ / (E a²)`` where its section is
a square of side a. L is how far a place is from the nearest pin, its part along gravity and that across it each in its
own formula; without pins the body stands, and L is its height. The side is four times the volume over the area, as that
of a long bar is.

Against tetrahedra: within a factor of two for columns, bars, cubes, balls, and a head on its neck, its back or its
crown (``test_sag.py``, ``test_size.py``). Far too little where something thin holds what is thick (a head by one ear),
far too much for plates on their edge.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..mesh.surface_mesh import SurfaceMesh
from ..tetrahedra.tet_count import SurfaceMeasure

MOST = 5000
"""Vertices that are looked at."""


def sag_and_reach(
    surface: SurfaceMesh, measure: SurfaceMeasure, pinned: np.ndarray, down: np.ndarray
) -> tuple[float, float]:
    """The sag in m², to be multiplied by ``rho g / E`` (1/m), of the place that gives way farthest; and how far the
    farthest place is from what holds the body, m: what bends that far hangs straight down, and sags no more.

    ``pinned`` (p,) are vertices that are held, ``down`` (3,) unit; the measure is that of the surface.
    """
    X = surface.positions[np.unique(surface.triangles)]
    X = X[:: -(-len(X) // MOST)]
    if len(pinned) == 0:
        height = float(np.ptp(X @ down))
        return 0.5 * height**2, height
    held = surface.positions[pinned]
    distance, nearest = cKDTree(held).query(X)
    along = ((X - held[nearest]) @ down) ** 2
    bent = 1.5 * (distance**2 - along) * distance**2 / (2.0 * measure.thickness) ** 2
    return float((0.5 * along + bent).max()), float(distance.max())
