"""Soft tets that hang on much stiffer ones: how much softer they must be to give way as the material does.

A linear tet with a vertex on something rigid is held by it as by a clamp, and a tet that a border of materials cuts has
one modulus for both: without more, a bar of flesh that a bar of bone holds sags by 0.59 of what it should, 12 cells
along both, by 0.88 at 32. As pins are springs that give way by as much as clamped tets are too stiff
(``mesh/rigid_clamp.py``), tets at such a vertex are softer here:

    E' = E / (1 + GIVE / kappa s),    s the mean over corners of max(0, 1 - RATIO E / E_stiffest)

with the largest modulus of the tets around each corner, and the kappa of pins on an area as large as the border's. It
acts within a cell of the stiffer tets, so that it vanishes with the cells. Moduli that change smoothly, by less than
``RATIO`` within a cell, stay as they are; so does all that a stiff layer carries along the border: only what is much
softer beside it gives way.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.rigid_clamp import clamp_layer_kappa
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import vertex_components

RATIO = 10.0
GIVE = 8.0
"""Fitted to a bar that is half bone, held there, from 1.4 to 8 cells through (``benchmarks/physics/lattice.py``)."""


def soften_at_interface(mesh: TetMesh, moduli: np.ndarray) -> np.ndarray:
    """Young's moduli (m,), Pa, from the blended ones (m,)."""
    stiffest = np.zeros(len(mesh.rest_positions))
    np.maximum.at(stiffest, mesh.tets, moduli[:, None])
    held = np.maximum(0.0, 1.0 - RATIO * moduli[:, None] / stiffest[mesh.tets]).mean(axis=1)
    hanging = np.flatnonzero((held > 0.0) & (mesh.volumes > 0.0))  # flat ones have no slope; the model names them
    softened = moduli.copy()
    if len(hanging):
        softened[hanging] /= (
            1.0 + GIVE / clamp_layer_kappa(_cells_along(mesh, hanging, np.log(stiffest))) * held[hanging]
        )
    return softened


def _cells_along(mesh: TetMesh, hanging: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Root of the area of the border at which each of some tets (k,) hangs, in cells, (k,); ``stiffness`` (n,) goes
    from that of the one material to that of the other there, so its slope's integral is area times rise [coarea].
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
