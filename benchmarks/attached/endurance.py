"""Two thousand steps with ties and with gas: the energy stays below that of the start, and all steps converge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.jobs.job.body import Body
from ...core.jobs.job.chamber import Chamber
from ...core.jobs.job.groups import grouped_jobs
from ...core.jobs.job.job import Job
from ...core.jobs.job.tie import SLIDE, Tie
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block
from ..registry import Case, Row, row
from .pressure import shell
from .ties import HALF, body

STEPS = 2000
RATE = 240.0


def _glued() -> list[Body]:
    """A bar of two meshes, held at one end, that falls and swings."""
    first, second = block((4, 2, 2), HALF), block((5, 2, 3), HALF)
    held = np.flatnonzero(first.rest_positions[:, 0] == 0.0)
    return [
        body("first", first, pinned_vertices=held, solver={"integrator": "bdf2"}),
        body("second", second, (HALF[0], 0.0, 0.0), ties=(Tie("first"),), solver={"integrator": "bdf2"}),
    ]


def _sliding() -> list[Body]:
    """A block that slides down the upper side of a held bar that bends."""
    first, second = block((8, 2, 2), HALF), block((2, 2, 2), (0.15, 0.15, 0.15))
    held = np.flatnonzero(first.rest_positions[:, 0] == 0.0)
    place = (0.1, 0.07, HALF[2])
    return [
        body("bar", first, pinned_vertices=held, youngs_modulus=1e5, solver={"integrator": "bdf2"}),
        body("block", second, place, ties=(Tie("bar", SLIDE),), youngs_modulus=1e5, solver={"integrator": "bdf2"}),
    ]


def _gas() -> list[Body]:
    """A ball of gas that hangs from a few vertices and swings."""
    mesh = shell(8, 2, 0.08, 0.1)
    held = np.flatnonzero(mesh.rest_positions[:, 2] > 0.095)
    return [body("ball", mesh, pinned_vertices=held, chamber=Chamber(), solver={"integrator": "bdf2"})]


SCENES = {"glue": _glued, "slide": _sliding, "gas": _gas}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the scenes."""
    for name in SCENES:
        yield Case(f"endurance_{name}", partial(_endured, name))


def _endured(name: str) -> Iterable[Row]:
    """Elastic energy and that of ties and gas are 0 at the start, so kinetic energy and height may not exceed it."""
    warm_up(ignore)
    case, bodies = f"endurance_{name}", SCENES[name]()
    (jobs,) = grouped_jobs(Job(bodies=tuple(bodies), frame_end=STEPS + 1, frame_rate=RATE))
    prepared = [prepare(each, collides=len(jobs) > 1) for each in jobs]
    energies, unconverged, finite = [], 0, True
    for frame in simulate_group(jobs, prepared):
        energies.append(_energy(prepared, [now.state for now in frame]))
        unconverged += sum(not report.converged for report in frame[0].reports)
        finite &= all(np.isfinite(now.state.positions).all() for now in frame)
    scale = np.ptp(energies)
    yield row(case, "most above the start, of the range", (max(energies) - energies[0]) / scale, "", at_most=1e-3)
    yield row(case, "kinetic energy and height at the end, of the range", (energies[-1] - min(energies)) / scale)
    yield row(case, "unconverged steps", unconverged, "", at_most=0)
    yield row(case, "all finite", float(finite), "", at_least=1.0)


def _energy(prepared: Sequence, states: Sequence) -> float:
    """Return kinetic energy and that of the height of all bodies, J."""
    total = 0.0
    for each, state in zip(prepared, states):
        mass = each.model.mass
        total += 0.5 * float(np.sum(state.velocities * (mass @ state.velocities)))
        total += 9.81 * float(each.model.lumped_masses @ state.positions[:, 2])
    return total
