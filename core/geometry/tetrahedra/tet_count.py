"""Estimate of the number of tetrahedra that will fill a surface, for user interfaces and limits.

Meshing method Lattice: 12 tets per cell of the enclosed volume, plus half of the tets that the surface cuts. The other
half is already counted in the volume. A sheet encloses nothing, so all tets that it cuts are added. ``openness``
interpolates between closed surfaces and sheets. For 15 bodies at 6 to 40 cells (sphere, cube, torus, plate, sheet,
Suzanne, bear ...) the estimate was within 12 % in three quarters of the cases, and at most 34 % too high. Parts that
overlap count twice.

Meshing methods Clean and Robust: the estimate is ``sqrt(a² + b² + c²)``. a is the number of tets due to the volume, and
b the number of tets due to the faces. c is the number of tets, as small as the body's thickness, that fill a thin body.
c is 0 for Robust. If faces are smaller than a cell, the estimate is right within a factor of two only. A mesher makes
several well-shaped tets at a narrow triangle. So a narrow triangle counts as several pieces: equilateral triangles with
the same height and, in sum, the same area. For example, a rod 40 times as long as thick, with 124 triangles, becomes
26,567 tets (Clean) and 5,816 (Robust).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import proper_faces
from .refinement_count import RefinementSamples, refined_fractions, sample_points

THINNEST = 1e-6
"""Largest volume of an open surface or a sheet, relative to the cube of the longest side."""
MAX_TETS = 2_000_000
"""Largest number of tets of a body. Beyond it, an error is raised."""
CELL_TETS = 12.0
SHEET_TETS = 10.0
"""Mean number of lattice tets that a plane cuts per area of a cell face.

There are 12 tets per cell, and a tet's mean width across a plane is 0.82 cells. The product is about 10.
"""
ROBUST_CELL_TETS = 8.5
"""Number of tets that fTetWild makes in a cube whose side is the wanted edge length."""
CLEAN_FINER = 0.75
"""Number of tets that painted refinement adds in TetGen, relative to the lattice."""
CLEAN_FACE_TETS, ROBUST_FACE_TETS = 3.7, 1.5
"""Number of tets per triangle that TetGen and fTetWild make if triangles are smaller than cells.

TetGen made 1.9 to 7.4 in measurements, and fTetWild 1 to 5. The value 3.7 is about the geometric mean of TetGen's
range. A closer fit would be pointless: TetGen's count for a sphere, whose vertices are cospherical, differs by some per
cent between machines.
"""
CLEAN_PIECE_TETS, ROBUST_PIECE_TETS = 1.5, 0.7
"""Number of tets that TetGen and fTetWild make per piece of a narrow triangle.

A narrow triangle counts as several equilateral pieces of the same height. TetGen made 0.9 to 2.3 in measurements, and
fTetWild 0.5 to 1.2.
"""
MOST_PIECES = 1000.0
"""Largest number of pieces that one triangle counts as.

A narrow triangle counts as several equilateral pieces of the same height. Without this limit, an extremely narrow
triangle would count as thousands of tets.
"""


@dataclass(frozen=True)
class SurfaceMeasure:
    """Measurements of a surface for the estimate of the number of its tets.

    Attributes
    ----------
    size : longest side of the bounding box, m
    volume, area : enclosed volume, m³, and surface area, m²
    triangles : number of triangles
    openness : 0 for a closed surface, 1 for a flat sheet
    pieces : number of triangles; a narrow triangle counts as several equilateral triangles that have the same height
        and, in sum, the same area
    samples : sample points of the painted refinement, None without painted refinement
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
        """Thickness, m, of a plate with the same volume and area."""
        return 2.0 * self.volume / self.area

    def cells_between(self, points: int, cells_across: int) -> float:
        """Return the distance between neighbouring vertices, in cells, if they were spread evenly over the surface.

        ``points``: number of vertices.
        ``cells_across``: number of cells along the surface's longest side.
        """
        return float(np.sqrt(self.area / points)) * cells_across / self.size


def measure_surface(surface: SurfaceMesh, fineness: np.ndarray | None = None) -> SurfaceMeasure | None:
    """Return the measurements of a surface, or None if no triangle has an area.

    The measurements are cached in the surface.

    ``fineness`` (n,), 0 to 1, or None: painted refinement at the vertices.
    """
    if "measure" not in surface.found:
        surface.found["measure"] = _measure(surface)
    measure = surface.found["measure"]
    if measure is None or fineness is None:
        return measure
    samples = sample_points(surface)
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
    """Return the estimated number of tets of a surface.

    ``method``: meshing method (``ResolutionSettings.method``).
    ``cells_across``: number of cells along the longest side.
    ``finest``: factor by which cells are smaller where the surface is fully painted.
    """
    if method == "rigid":
        return 1.0
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
    # A thin body is filled with tets as small as its thickness.
    thin = measure.area / max(measure.thickness, 1e-3 * measure.size) ** 2
    faces = max(CLEAN_FACE_TETS * measure.triangles, CLEAN_PIECE_TETS * measure.pieces)
    return float(np.sqrt(full**2 + thin**2 + faces**2))
