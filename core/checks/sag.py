"""How far a body gives way under its own weight, from its surface alone: before there are tetrahedra, for interfaces.

As a column does along gravity and a clamped bar across it, both from textbooks (Euler and Bernoulli). A column that is
L long sags by ``rho g L² / (2 E)``, a bar by ``q L⁴ / (8 E I)``, that is ``3/2 rho g L⁴ / (E a²)`` where its section is
a square of side a. L is how far a place is from the nearest pin, its part along gravity and that across it each in its
own formula; without pins the body stands, and L is its height. The side is four times the volume over the area, as that
of a long bar is. A column that stands buckles under its own weight where it is higher than ``(7.84 E I / (rho g A))^⅓``
(Greenhill).

Against tetrahedra: within a factor of two for columns, bars, cubes, balls, and a head on its neck, its back or its
crown (``test_sag.py``, ``test_size.py``). Far too little where something thin holds what is thick (a head by one ear),
far too much for plates on their edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..mesh.surface_mesh import SurfaceMesh
from ..tetrahedra.tet_count import SurfaceMeasure

MOST = 5000
"""Vertices that are looked at."""
GREENHILL = 12.0 / 7.837
"""``E / (rho g)`` at which a column buckles, over its height cubed and the square of its side."""


class Sag(NamedTuple):
    """How a body gives way under its own weight.

    Attributes
    ----------
    area : sag of the place that gives way farthest, m², to be multiplied by ``rho g / E`` (1/m)
    reach : distance of the farthest place from what holds the body, m: what bends that far hangs straight down, and
        sags no more
    buckling : ``E / (rho g)``, m, below which what stands buckles
    """

    area: float = 0.0
    reach: float = 0.0
    buckling: float = 0.0


def sag_of(surface: SurfaceMesh, measure: SurfaceMeasure, pinned: np.ndarray, down: np.ndarray) -> Sag:
    """Return the sag of a surface whose vertices ``pinned`` (p,) are held; ``down`` (3,) is a unit vector. The measure
    is that of the surface.
    """
    X = surface.positions[np.unique(surface.triangles)]
    X = X[:: -(-len(X) // MOST)]
    side = 2.0 * measure.thickness
    if len(pinned) == 0:
        height = float(np.ptp(X @ down))
        return Sag(0.5 * height**2, height, GREENHILL * height**3 / side**2)
    held = surface.positions[pinned]
    distance, nearest = cKDTree(held).query(X)
    along = (X - held[nearest]) @ down
    bent = 1.5 * (distance**2 - along**2) * distance**2 / side**2
    height = max(float(-along.min()), 0.0)
    area = float((0.5 * along**2 + bent).max())
    return Sag(area, float(distance.max()), GREENHILL * height**3 / side**2)
