"""Warnings about parts of a body that are thinner than its lattice cells."""

from __future__ import annotations

import math

from ...foundation.schema.settings import ResolutionSettings
from ...foundation.unit_words import length_words
from ...geometry.tetrahedra.tet_count import measure_surface
from ...geometry.tetrahedra.wall_thickness import Thickness, ThinParts, measure_thickness
from ..job.job import Job
from .advice import CELLS_THROUGH

LEAST_SHARE = 0.005
"""Smallest fraction of the surface for which a warning about thin parts is given."""
MOST = 2_500
"""Largest number of measured surface triangles. On a finer surface, only a sample of the triangles is measured."""
LEAST_ROBUST = 2e-3
"""Smallest thickness, relative to the body's size, that the method Robust can mesh.

The mesher of Robust, fTetWild, loses parts whose relative thickness is 1.3e-3 or less.
"""


def cell_of(job: Job) -> float:
    """Return the side of the job's lattice cells, m, or 0 without a lattice."""
    measure = measure_surface(job.body.surface)
    if measure is None or not job.body.is_lattice:
        return 0.0
    return measure.size / (job.body.resolution.cells_across - 0.5)


def thickness_of(job: Job) -> Thickness | None:
    """Measure where the body is less than CELLS_THROUGH lattice cells thick. The result is None without a lattice."""
    cell = cell_of(job)
    return None if cell == 0.0 else measure_thickness(job.body.surface, cell, CELLS_THROUGH, MOST)


def find_thin(job: Job, thickness: Thickness | None) -> ThinParts | None:
    """Return the parts of the body thinner than a lattice cell, or None if they are too small to report."""
    if thickness is None:
        return None
    found = thickness.below(thickness.length).not_finer(job.body.refinement)
    return found if len(found.vertices) and found.share >= LEAST_SHARE else None


def thin_warnings(job: Job, thickness: Thickness | None) -> list[str]:
    """Return warnings, each with a remedy, about parts of the body thinner than a lattice cell.

    The list has at most one warning.
    """
    found = find_thin(job, thickness)
    if thickness is None or found is None:
        return []
    cell = thickness.length
    enough = math.ceil(CELLS_THROUGH * job.body.surface.size / found.thickness + 0.5)
    _least, most = ResolutionSettings.__dataclass_fields__["cells_across"].metadata["range"]
    robust = "choose Robust" if found.thickness > LEAST_ROBUST * job.body.surface.size else "make them thicker"
    remedy = "raise Cells Across, as the panel Resolution proposes" if enough <= most else robust
    return [
        f"{max(found.share, 0.01):.0%} of the surface is thinner than a cell ({length_words(cell)}), for example at "
        f"vertex {int(found.vertices[0])}: neighbours there may merge. Select Thin Parts shows them in Blender; "
        f"{remedy}."
    ]
