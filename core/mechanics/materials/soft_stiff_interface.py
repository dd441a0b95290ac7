"""Softening of soft tets at an interface with much stiffer ones, against locking.

A linear tet with a vertex on something rigid is held by it like a clamp, and a tet cut by an interface has one modulus
for both sides. Without correction, a soft bar held by a stiff bar sags 0.59 times the correct amount with 12 cells
along both, 0.88 times with 32. As pin springs compensate the excess stiffness of clamped linear tets
(``geometry/mesh/rigid_clamp.py``), tets at such a vertex are softened:

    E' = E / (1 + GIVE / kappa s),    s the mean over corners of max(0, 1 - RATIO E / E_stiffest)

with the largest modulus around each corner, and the kappa of pins on an area as large as the interface. It affects tets
within one cell of the stiffer ones, so it vanishes with refinement. Moduli that vary smoothly, by less than ``RATIO``
per cell, are unchanged; so are the stiff tets themselves.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.rigid_clamp import clamp_layer_kappa
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import vertex_components

RATIO = 10.0
GIVE = 8.0
"""Fitted to a half stiff bar, held at that end, 1.4 to 8 cells thick (``benchmarks/physics/lattice.py``)."""


def soften_at_interface(mesh: TetMesh, moduli: np.ndarray) -> np.ndarray:
    """Return softened Young's moduli (m,), Pa, from the blended ones (m,)."""
    stiffest = np.zeros(len(mesh.rest_positions))
    np.maximum.at(stiffest, mesh.tets, moduli[:, None])
    held = np.maximum(0.0, 1.0 - RATIO * moduli[:, None] / stiffest[mesh.tets]).mean(axis=1)
    hanging = np.flatnonzero((held > 0.0) & (mesh.volumes > 0.0))  # flat tets have no gradient
    softened = moduli.copy()
    if len(hanging):
        softened[hanging] /= (
            1.0 + GIVE / clamp_layer_kappa(_cells_along(mesh, hanging, np.log(stiffest))) * held[hanging]
        )
    return softened


def _cells_along(mesh: TetMesh, hanging: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Return the square root, in cells, of the area of the interface that each of some tets (k,) touches, (k,).
    ``stiffness`` (n,) rises from one material to the other, so its gradient's integral is area times rise [coarea
    formula].
    """
    corners = mesh.tets[hanging]
    part = vertex_components(corners)
    p, rise = mesh.rest_positions[corners], stiffness[corners]
    slope = np.linalg.solve(p[:, 1:] - p[:, :1], (rise[:, 1:] - rise[:, :1])[:, :, None])
    volume = mesh.volumes[hanging]
    cells = mesh.fill[hanging] * np.cbrt(volume / 144.0) * np.linalg.norm(slope[:, :, 0], axis=1)
    count = int(part.max()) + 1
    highest, lowest = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(highest, part, rise.max(axis=1))
    np.minimum.at(lowest, part, rise.min(axis=1))
    return np.sqrt(np.bincount(part, cells) / np.maximum(highest - lowest, np.log(RATIO)))[part]
