"""Contact along glue: iterations while it holds, and the overlap where it has let go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_depth import SurfaceDepth
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.groups import grouped_jobs
from ...core.jobs.job.job import Job
from ...core.jobs.job.tie import Tie
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.preparation.prepare import prepare
from ..registry import Case, Row, row
from .bones import box

SIDE, FRAMES, LAST = 0.2, 16, 8
"""Side of the boxes, m; frames, and the last frame in which the glue holds."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the pressed boxes."""
    yield Case("tie_lets_go", _pressed)


def _pressed() -> Iterable[Row]:
    """Press a box on another one by 2 g; from a frame on, without glue."""
    warm_up(ignore)
    held = np.where(np.arange(FRAMES) < LAST, 1.0, 0.0)
    iterations = {}
    for method in ("lattice", "clean"):
        for words, strength in (("never lets go", np.ones(1)), ("lets go", held)):
            bodies = []
            for k, name in enumerate(("Low", "High")):
                surface = box((SIDE,) * 3, (4, 4, 4), (0.0, 0.0, SIDE * k))
                low = np.flatnonzero(surface.positions[:, 2] == 0.0) if not k else np.zeros(0, dtype=np.int32)
                bodies.append(
                    Body(
                        name=name,
                        surface=surface,
                        materials=MaterialSettings(youngs_modulus=1e5),
                        resolution=ResolutionSettings(method=method, cells_across=6),
                        contact=ContactSettings(),
                        solver=SolverSettings(gravity=(0.0, 0.0, -20.0), max_iterations=60),
                        pinned_vertices=low,
                        ties=(Tie("Low", strength=strength),) * k,
                    )
                )
            (jobs,) = grouped_jobs(Job(bodies=tuple(bodies), frame_end=FRAMES))
            prepared = [prepare(each, collides=True) for each in jobs]
            found = list(simulate_group(jobs, prepared))
            iterations[words] = sum(each.iterations for frame in found[:LAST] for each in frame[0].reports)
            unconverged = sum(not each.converged for frame in found for each in frame[0].reports)
            yield row("tie_lets_go", f"{method}, {words}: unconverged steps", unconverged, "", at_most=0)
        ratio = iterations["lets go"] / iterations["never lets go"]
        yield row("tie_lets_go", f"{method}: iterations over those of glue that never lets go", ratio, "", at_most=1.05)
        shown = [each.surface(now.state.positions) for each, now in zip(prepared, found[-1])]
        low = next(k for k, job in enumerate(jobs) if job.body.name == "Low")
        depth = SurfaceDepth(SurfaceMesh(shown[low], jobs[low].body.surface.triangles)).at(shown[1 - low]).max()
        yield row("tie_lets_go", f"{method}: overlap at the end, of a cell", depth / (SIDE / 6), "", at_most=0.35)
