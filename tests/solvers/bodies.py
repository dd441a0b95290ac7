"""Bodies built in code: blocks of tets, soft and stiff."""

from __future__ import annotations

import numpy as np
from sinew.core.mesh.tet_mesh import TetMesh
from sinew.core.model.model import Model, build_model

# Kuhn's six tets of a cube, each along the diagonal 0-7, corners numbered by bits (x, y, z).
_KUHN = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])


def block(cells: tuple[int, int, int], size: tuple[float, float, float]) -> TetMesh:
    """A box from the origin, ``cells`` cubes of six tets along each side."""
    nx, ny, nz = (c + 1 for c in cells)
    grid = np.stack(
        np.meshgrid(*(np.linspace(0, s, c + 1) for s, c in zip(size, cells, strict=True)), indexing="ij"), -1
    )
    corner = np.array(
        [x * ny * nz + y * nz + z for x in range(cells[0]) for y in range(cells[1]) for z in range(cells[2])]
    )
    offsets = np.array([(k & 1) * ny * nz + (k >> 1 & 1) * nz + (k >> 2 & 1) for k in range(8)])
    tets = (corner[:, None] + offsets)[:, _KUHN].reshape(-1, 4)
    mesh = TetMesh(grid.reshape(-1, 3), tets)
    flipped = mesh.volumes < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return TetMesh(mesh.rest_positions, tets)


def bar(stiff: float = 1e9, soft: float = 1e5, energy: str = "stable_neo_hookean", pinned: bool = True) -> Model:
    """A bar of 0.4 x 0.1 x 0.1 m whose middle half is stiff; held at x = 0."""
    mesh = block((8, 2, 2), (0.4, 0.1, 0.1))
    centres = mesh.rest_positions[mesh.tets].mean(axis=1)
    E = np.where(np.abs(centres[:, 0] - 0.2) < 0.1, stiff, soft)
    held = np.flatnonzero(mesh.rest_positions[:, 0] < 1e-9) if pinned else ()
    return build_model(mesh, E, 0.4, 1000.0, energy, pinned=held)
