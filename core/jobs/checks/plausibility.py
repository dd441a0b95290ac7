"""Warnings about a body size that is implausible for gravity or for the time step."""

from __future__ import annotations

import math

from ...foundation.schema.settings import EARTH
from ...foundation.unit_words import length_words
from ..job.job import Job

LARGEST = 50.0
"""Size, m, beyond which elastic bodies move so slowly that a wrong unit of length is likely."""

SLIGHT = 1e-3
"""Fall of a body in its first second, relative to the body's size, below which the fall is hardly visible."""

WEAKEST = 0.02
"""Gravity, relative to the Earth's, below which even a small body seems to float.

If a scene in centimetres is scaled to metres together with its gravity, the ratio is 0.01.
"""


def scale_warnings(job: Job) -> list[str]:
    """Return warnings, each with a remedy, about a body size that is implausible for gravity or for the time step."""
    size = job.body.surface.size
    across, gravity = length_words(size), math.hypot(*job.body.solver.gravity)
    said = []
    if size > LARGEST:
        said.append(
            f"The body is {across} across, and large bodies move slowly: if it is meant to be small, scale "
            "it down, or simulate the scene smaller (Simulation Scale)."
        )
    if 0.0 < gravity < WEAKEST * EARTH or 0.0 < 0.5 * gravity < SLIGHT * size:
        said.append(
            f"A body of {across} falls by only {length_words(0.5 * gravity)} in its first second and hardly sags: "
            f"gravity is {gravity:.3g} m/s². Set it to {EARTH} (a Unit Scale other than 1 scales the scene's gravity)."
        )
    fall = gravity * job.time_step**2
    if fall > size > 0.0:
        substeps = math.ceil(job.body.solver.substeps * math.sqrt(fall / size))
        said.append(
            f"The body is only {across} across and falls {length_words(fall)} in its first step: scale it up if it is "
            f"meant to be larger, else set Substeps to {substeps}."
        )
    return said
