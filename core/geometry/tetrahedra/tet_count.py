"""Cheap estimate of the number of tetrahedra that will fill a surface, for interfaces and limits.

Lattice: 12 tets a cell for the enclosed volume, plus half of the tets that the surface cuts, since their inner half is
in the volume already. Sheets enclose nothing and keep both halves; ``openness`` blends between the two. Against 15
bodies at 6 to 40 cells (sphere, cube, torus, plate, sheet, Suzanne, bear ...) the estimate was within 12 % for three
quarters, and 34 % high at most. Parts that pass through each other count twice.

Other methods: the root of the sum of squares of the tets for the volume and the tets for the faces. Faces finer than
a cell make this a guess, within a factor of two. Long narrow triangles, as along a rod, are cut into even pieces
first, since tets are even too: a rod 40 times as long as thick with 124 triangles becomes 26,567 and 5,816 tets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import proper_faces
from .refinement_count import RefinementSamples, places_on, refined_fractions

THINNEST = 1e-6
"""Least part of the cube of its size that a closed surface encloses; a smaller part means an open one, or a sheet."""
MAX_TETS = 2_000_000
"""Largest number of tets; more are rejected."""
CELL_TETS = 12.0
SHEET_TETS = 10.0
"""Tets that a plane of one cell's area cuts on average: 12 tets a cell times their mean width of 0.82 cell sides."""
ROBUST_CELL_TETS = 8.5
"""fTetWild's tets in a cube of its edge length."""
CLEAN_FINER = 0.75
"""Extra tets of TetGen where the surface is painted finer, relative to the extra tets of the lattice."""
CLEAN_FACE_TETS, ROBUST_FACE_TETS = 3.7, 1.5
"""Tets for each triangle where the triangles are finer than the cells: counts ranged from 1.9 to 7.4, and 1 to 5.

The first is the middle of its range: counts for a sphere, whose corners are cospherical, differ by some per cent
between machines.
"""
CLEAN_PIECE_TETS, ROBUST_PIECE_TETS = 1.5, 0.7
"""Tets for each even piece of narrow triangles: counts ranged from 0.9 to 2.3, and 0.5 to 1.2."""
MOST_PIECES = 1000.0
"""Largest number of pieces of one triangle: a needle must not count as thousands of tets."""


@dataclass(frozen=True)
class SurfaceMeasure:
    """Figures of a surface that determine the number of its tets.

    These are the longest side ``size`` (m), the enclosed ``volume`` (m³), the ``area`` (m²), the number of triangles,
    and ``openness``: 0 for a closed surface, 1 for a flat sheet. ``pieces`` counts the even pieces of the triangles, at
    least one each. ``samples`` are sample points, if parts are painted finer.
    """

    size: float
    volume: float
    area: float
    triangles: int
    openness: float
    pieces: float = 0.0
    samples: RefinementSamples | None = None

    @property
    def is_solid(self) -> bool:
        """True if the surface encloses a volume."""
        return bool(THINNEST * self.size**3 < self.volume < np.inf)

    @property
    def thickness(self) -> float:
        """Mean thickness, m, of a plate with this volume and area."""
        return 2.0 * self.volume / self.area

    def cells_between(self, points: int, cells_across: int) -> float:
        """Return the number of cells between neighbours of ``points`` vertices, spread evenly over the area."""
        return float(np.sqrt(self.area / points)) * cells_across / self.size


def measure_surface(surface: SurfaceMesh, fineness: np.ndarray | None = None) -> SurfaceMeasure | None:
    """Return the figures of a surface, computed once, or None if no triangle has an area.

    ``fineness`` (n,), 0 to 1, is the painted refinement.
    """
    if "measure" not in surface.found:
        surface.found["measure"] = _measure(surface)
    measure = surface.found["measure"]
    if measure is None or fineness is None:
        return measure
    samples = places_on(surface)
    return replace(measure, samples=samples and samples.painted(surface, fineness))


def _measure(surface: SurfaceMesh) -> SurfaceMeasure | None:
    triangles = proper_faces(surface)
    if len(triangles) == 0:
        return None
    is_used = np.zeros(len(surface.positions), dtype=bool)
    is_used[triangles] = True
    used = surface.positions[is_used]
    corners = (surface.positions - used.mean(axis=0))[triangles]
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = abs(float(np.einsum("ni,ni->", corners[:, 0], doubled))) / 6.0
    box = np.ptp(used, axis=0)
    areas = np.linalg.norm(doubled, axis=1)
    edges = [corners[:, k - 1] - corners[:, k] for k in range(3)]
    longest2 = np.maximum.reduce([np.einsum("ni,ni->n", edge, edge) for edge in edges])
    pieces = np.clip(0.5 * np.sqrt(3.0) * longest2 / areas, 1.0, MOST_PIECES)
    openness = float(np.linalg.norm(doubled.sum(axis=0)) / areas.sum())
    return SurfaceMeasure(
        float(box.max()),
        min(volume, float(box.prod())),
        0.5 * float(areas.sum()),
        len(triangles),
        openness,
        float(pieces.sum()),
    )


def expected_tets(measure: SurfaceMeasure, method: str, cells_across: int, finest: float = 1.0) -> float:
    """Estimate the number of tets that a method (``ResolutionSettings.method``) makes, finer by ``finest`` where
    painted."""
    side = measure.size / (cells_across if method == "robust" else cells_across - 0.5)
    cells, squares = measure.volume / side**3, measure.area / side**2
    if measure.samples is not None and finest > 1.0:
        deeper, wider = refined_fractions(measure.samples, side, finest, measure.volume / measure.area)
        more = CLEAN_FINER if method == "clean" else 1.0
        cells, squares = cells + more * squares * deeper, squares * wider
    if method == "robust":
        faces = max(ROBUST_FACE_TETS * measure.triangles, ROBUST_PIECE_TETS * measure.pieces)
        return float(np.hypot(ROBUST_CELL_TETS * cells, faces))
    full = CELL_TETS * cells
    if method == "lattice":
        return full + 0.5 * SHEET_TETS * (1.0 + measure.openness) * squares
    # A thin body has tets as small as its thickness, at any position.
    thin = measure.area / max(measure.thickness, 1e-3 * measure.size) ** 2
    faces = max(CLEAN_FACE_TETS * measure.triangles, CLEAN_PIECE_TETS * measure.pieces)
    return float(np.sqrt(full**2 + thin**2 + faces**2))
