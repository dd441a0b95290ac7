"""Estimate of the sag of a body under its own weight, from its surface alone.

User interfaces use the estimate before tetrahedra exist.

A point of the body sags by the sum of the sags of two textbook models (Euler and Bernoulli): a column along gravity,
and a clamped bar across gravity. A column of length L sags by ``rho g L² / (2 E)``, with the density rho, gravity g and
Young's modulus E. A bar of length L and the weight q per length sags by ``q L⁴ / (8 E I)``, with the second moment of
area I. For a square section of side a, this is ``3/2 rho g L⁴ / (E a²)``. The side a is four times the body's volume
divided by its area, as for a long bar.

Now let L be the vector to the point from the nearest pin. The column's length is the component of L along gravity. The
bar's L⁴ is |L|² times the squared component of L across gravity. The sag of the body is that of the point that sags
most.

A body without pins stands on its lower end: only the column's sag counts, and the column has the height of the body. A
standing column buckles under its own weight if it is higher than ``(7.84 E I / (rho g A))^⅓``, with the area A of its
section (Greenhill).

Compared with simulations of tetrahedra, the sag is within a factor of two for columns, bars, cubes, balls, and a head
on its neck, its back or its crown (``test_sag.py``, ``test_body_stats.py``). It is far too small if something thin
holds a thick part (a head by one ear), and far too large for plates on their edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.tetrahedra.tet_count import SurfaceMeasure

MOST = 5000
"""Largest number of surface vertices at which the sag is evaluated."""
GREENHILL = 12.0 / 7.837
"""Factor c of Greenhill's limit: a square column buckles if ``E / (rho g)`` is less than ``c height³ / side²``."""


class Sag(NamedTuple):
    """Sag of a body under its own weight, for any density rho, gravity g and Young's modulus E.

    Attributes
    ----------
    area : m²; ``area rho g / E`` is the sag, m, of the point that sags most
    reach : m; the largest possible sag: distance of the farthest point from its pin, or height of a body without pins
    buckling : m; a standing body buckles if ``E / (rho g)``, m, is smaller than ``buckling``
    """

    area: float = 0.0
    reach: float = 0.0
    buckling: float = 0.0


def sag_of(surface: SurfaceMesh, measure: SurfaceMeasure, pinned: np.ndarray, down: np.ndarray) -> Sag:
    """Estimate the sag of a body under its own weight from its surface.

    ``measure``: measure of the surface.
    ``pinned`` (p,): indices of the pinned vertices.
    ``down`` (3,): unit vector along gravity.
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
