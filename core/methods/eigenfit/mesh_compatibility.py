"""Check that a coarse and a finer mesh represent the same body, before vibrations are matched."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MatchError
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import vertex_components
from ...mechanics.constraints.anchors import cell_sides
from ..model.model import Model

LIGHTEST, HEAVIEST = 0.8, 1.25
"""Bounds of the coarse body's mass, divided by the finer body's mass. Another mass would change all frequencies."""

APART = 2.0
"""Largest accepted difference between the bounding boxes of held vertices, in cells of the coarse body.

The boxes of the coarse and of the finer body differ because pins hold whole tets.
"""

NARROW = 0.5
"""Least extent of the pinned region, in cells. On the coarse body, smaller regions act as a point or a line.

The extent is two standard deviations along the second longest axis. Bars held at a whole end are correct at extents of
0.58 and more. Two bars with smaller extents had large errors, in per cent of the amplitude:

    extent    without a match    with a match
    0.45      96                 184
    0.47      51                 134
"""


def check_mesh_compatibility(coarse: Model, finer: Model, pins: np.ndarray) -> None:
    """Check that two meshes represent the same body, before the modal analysis.

    ``pins`` (k,3), m: surface points that are held. Raises MatchError if ``coarse`` and ``finer`` do not represent the
    same body, or if the pinned region is too narrow for the coarse mesh.
    """
    vertices, more = len(coarse.mesh.rest_positions), len(finer.mesh.rest_positions)
    if more <= vertices:
        raise MatchError(f"the finer lattice has {more:,} vertices, and the body {vertices:,}.", "Raise Match Cells.")
    here, there = _parts(coarse.mesh), _parts(finer.mesh)
    if here != there:
        setting = "Cells Across" if here < there else "Match Cells"
        raise MatchError(
            f"the body has {here} separate part{'s' * (here > 1)}, and the finer lattice {there}.",
            f"Raise {setting}, so that gaps stay open.",
        )
    ratio = float(coarse.masses.sum() / finer.masses.sum())
    if not LIGHTEST <= ratio <= HEAVIEST:
        raise MatchError(
            f"the body has {ratio:.2g} times the mass of its finer lattice.",
            "Give sheets a thickness (Solidify), or raise Cells Across (resolution).",
        )
    if len(coarse.held):
        held = np.isin(coarse.mesh.tets, coarse.held).any(axis=1)
        cell = float(np.median(cell_sides(coarse.mesh)[held]))
        if 2.0 * _second_deviation(pins) < NARROW * cell:
            raise MatchError(
                "the pinned region is much smaller than a cell.", "Pin more of the surface, or raise Cells Across."
            )
        ends = (_ends(each.mesh.rest_positions[each.held]) for each in (coarse, finer))
        if np.abs(np.subtract(*ends)).max() > APART * cell:
            raise MatchError(
                "pins hold different regions of the body and of its finer lattice.",
                "Raise Cells Across (resolution), or choose Draft tetrahedra.",
            )


def _parts(mesh: TetMesh) -> int:
    return int(vertex_components(mesh.tets).max()) + 1


def _second_deviation(positions: np.ndarray) -> float:
    """Return the standard deviation, m, of positions (k,3) m along their second longest principal axis."""
    away = positions - positions.mean(axis=0)
    return float(np.sqrt(max(np.linalg.eigvalsh(away.T @ away / len(positions))[1], 0.0)))


def _ends(positions: np.ndarray) -> np.ndarray:
    """Return the lowest and the highest corner, (2,3) m, of the bounding box of positions (k,3) m."""
    return np.array([positions.min(axis=0), positions.max(axis=0)])
