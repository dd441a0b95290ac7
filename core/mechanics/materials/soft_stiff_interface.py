"""Softening of soft tets beside much stiffer tets.

Tets beside a rigid part are too stiff, since the rigid part holds their vertices like a clamp. Without correction, a
soft bar of plain tets held by a stiff bar sags 0.59 times the correct amount with 12 cells along both bars, and 0.88
times with 32 cells. Tets that share a vertex with a much stiffer tet are therefore softened:

    E' = E / (1 + s GIVE / kappa)

The share s is the mean of ``max(0, 1 - RATIO E / E_stiffest)`` over the corners of the tet. E_stiffest is the largest
modulus of the tets at a corner. The number kappa is that of the correction at clamps
(``geometry/mesh/rigid_clamp.py``), which attaches a lattice to a clamp as if through a layer of thickness h / kappa,
with the cell side h. kappa depends on the width of the clamp in cells; here this width is that of the interface. The
correction vanishes with refinement. Moduli that vary smoothly, by less than ``RATIO`` per cell, are unchanged.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.rigid_clamp import clamp_layer_kappa
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import vertex_components

RATIO = 10.0
GIVE = 12.0
"""Coefficient of the softening of soft tets beside much stiffer ones. Young's modulus of a soft tet is divided by
``1 + s GIVE / kappa``. The share s, 0 to 1, grows with the contrast of the moduli. kappa is
``clamp_layer_kappa(cells)``, with the width of the interface in cells. The coefficient is fitted to bars with a stiff
and a soft half, 1.4 to 8 cells thick (``benchmarks/physics/lattice.py``).
"""


def soften_at_interface(mesh: TetMesh, moduli: np.ndarray) -> np.ndarray:
    """Return the Young's ``moduli`` (m,), Pa, of the tets, reduced in tets beside much stiffer ones."""
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
    """Return the width of the interface at each soft tet, (k,), in cell sides.

    The width is the square root of the interface's area. The logarithm of the modulus, ``stiffness`` (n,), rises across
    the interface from one material to the other. So the integral of the logarithm's gradient is the interface's area
    times the rise [coarea formula].

    ``hanging`` (k,): indices of the soft tets.
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
