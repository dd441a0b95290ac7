"""Error of coarse lattices against a finer one, with and without Match Resolution: pushed, shaken, sagging and dropped;
and the error that is reported before a bake, against the measured one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.foundation.events import Event, Mesh
from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.environment import Ground
from ...core.jobs.job.job import Job
from ...core.methods.eigenfit.vibrations import rigid_count, vibrations
from ...core.methods.model.model import Model
from ...core.simulation.preparation.prepare import prepare
from ..bodies import boundary_surface, has
from ..registry import Case, Row, row
from ..resolutions import FREQUENCY, STEP, STILL, push
from ..thin_bodies import hand
from .lattices import simulated

FRAMES, FALLING, FINE, COARSE = 101, 51, 22, 8
HELD = 0.15
"""Pinned fraction of the longest side, from one end."""
SHAKEN, RHYTHM = 0.04, 1.3
"""Amplitude of the pins over the size, and frequency over that of the slowest vibration."""
SHARED = ("gummy_bear", "boat", "coarse_bunny", "virus", "beam_5k", "armadillo_fine", "arm_fine")
FOLDING = ("coarse_bunny", "armadillo_fine")
"""Bodies with ears or limbs that fold when they are dropped."""
TURNS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
"""Angles about the vertical, rad, at which they are dropped."""
FITTED = ("fitted_materials",)
"""Methods by which dropped bodies are matched in addition to the automatic choice, which leaves them unmatched."""
TOLD = r"est error (?:(\d+) to )?(\d+) % \((?:(\d+) to )?(\d+) % unmatched\)"
WORSE, FACTOR = 1.0, 2.0
"""Error increase of a match over none, % of the swing, and factor within which the reported error must be."""


class _Error(NamedTuple):
    """Errors of a coarse lattice, % of the swing, largest of all frames: of the ``farthest`` vertex, root ``mean``
    square, and of 99 % of the vertices (``nearly``); and the words that report them before the bake.
    """

    farthest: float
    mean: float
    nearly: float
    told: str


def cases(data: Path | None) -> Iterator[Case]:
    """Yield three bodies on which nothing was tuned, and the shared bodies that are there."""
    own: dict[str, Callable[[], SurfaceMesh]] = {"twisted_bar": twisted_bar, "ring": ring, "hand": hand}
    for name, make in own.items():
        yield Case(f"coarser_{name}", lambda name=name, make=make: _compared(f"coarser_{name}", make()))
    for name in SHARED:
        if has(data, name):
            yield Case(f"coarser_{name}", lambda name=name: _compared(f"coarser_{name}", boundary_surface(data, name)))
    for name in FOLDING:
        if has(data, name):
            case = f"turned_{name}"
            yield Case(case, lambda name=name, case=case: _turned(case, boundary_surface(data, name)))


def twisted_bar() -> SurfaceMesh:
    """Return a bar of 1 m whose flat section makes half a turn along its length."""
    return _tube(np.array([(-0.11, -0.05), (0.11, -0.05), (0.11, 0.05), (-0.11, 0.05)]), 24, False)


def ring() -> SurfaceMesh:
    """Return a ring with a diameter of 1 m and a round section of 0.15 m."""
    angle = 2.0 * np.pi * np.arange(12) / 12
    return _tube(0.075 * np.column_stack([np.cos(angle), np.sin(angle)]), 48, True)


def _tube(section: np.ndarray, count: int, is_closed: bool) -> SurfaceMesh:
    """Sweep a section (k,2) along the x axis by half a turn or, closed, around the z axis."""
    k, t = len(section), np.arange(count) / (count if is_closed else count - 1)
    if is_closed:
        out, angle = np.tile(section[:, 0] + 0.425, (count, 1)), 2.0 * np.pi * t[:, None]
        points = np.stack([out * np.cos(angle), out * np.sin(angle), np.tile(section[:, 1], (count, 1))], axis=2)
    else:
        c, s = np.cos(np.pi * t)[:, None], np.sin(np.pi * t)[:, None]
        y, z = section.T
        points = np.stack([np.tile(t[:, None], (1, k)), c * y - s * z, s * y + c * z], axis=2)
    faces = []
    for a in range(count if is_closed else count - 1):
        b = (a + 1) % count
        faces += [(a * k + i, b * k + i, b * k + (i + 1) % k, a * k + (i + 1) % k) for i in range(k)]
    if not is_closed:
        faces += [tuple(range(k)), tuple(range(count * k - 1, (count - 1) * k - 1, -1))]
    mesh = SurfaceMesh.of_faces(points.reshape(-1, 3), faces)
    X = mesh.positions[mesh.triangles]
    outward = np.einsum("ti,ti->", X[:, 0], np.cross(X[:, 1], X[:, 2])) > 0.0
    return mesh if outward else SurfaceMesh(mesh.positions, mesh.triangles[:, ::-1])


def _job(surface: SurfaceMesh, cells: int, E: float, **settings: object) -> Job:
    X = surface.positions
    along = X[:, np.argmax(np.ptp(X, axis=0))]
    pins = np.flatnonzero(along < along.min() + HELD * np.ptp(along))
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Soft", E, 0.45, 1e3),),
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins], (FRAMES, 1, 1)),
        resolution=ResolutionSettings(cells_across=cells),
        solver=SolverSettings(gravity=STILL, max_iterations=30, **settings),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=FRAMES, frame_rate=1.0 / STEP)


def _shaken(job: Job, size: float) -> Job:
    """Shake the pins along two axes."""
    t = 2.0 * np.pi * RHYTHM * FREQUENCY * STEP * np.arange(FRAMES)[:, None, None]
    axes = np.eye(3)[np.argsort(np.ptp(job.body.surface.positions, axis=0))]
    return job.with_body(
        pin_positions=job.body.pin_positions + SHAKEN * size * (np.sin(t) * axes[0] + (1.0 - np.cos(t)) * axes[1])
    )


def _sagging(gravity: np.ndarray, job: Job, _size: float) -> Job:
    """Switch gravity on at rest."""
    return job.with_body(solver=replace(job.body.solver, gravity=tuple(map(float, gravity))))


def _dropped(job: Job, size: float) -> Job:
    """Drop the body without pins onto a floor that is 0.3 of its size below."""
    X = job.body.surface.positions
    fallen = 0.5 * FREQUENCY**2 * size
    solver = replace(job.body.solver, gravity=(0.0, 0.0, -4.0 * fallen))
    floor = Ground(height=float(X[:, 2].min()) - 0.3 * size)
    none = {
        "pinned_vertices": np.zeros(0, dtype=np.int64),
        "pin_positions": np.zeros((FALLING, 0, 3)),
        "pin_held": np.zeros((FALLING, 0), dtype=bool),
    }
    body = replace(job.body, **none, colliders=(floor,), solver=solver)
    return replace(job, bodies=(body,), frame_end=FALLING)


def _swing(job: Job, positions: np.ndarray) -> float:
    """Return the largest displacement, m, relative to the pins or, without pins, to the nearest rigid motion."""
    if len(pins := job.body.pinned_vertices):
        carried = (positions - positions[0])[:, pins].mean(axis=1, keepdims=True)
        return float(np.linalg.norm(positions - positions[0] - carried, axis=2).max())
    X = positions[0] - positions[0].mean(axis=0)
    centred = positions - positions.mean(axis=1, keepdims=True)
    return max(float(np.linalg.norm(y - Rotation.align_vectors(y, X)[0].apply(X), axis=1).max()) for y in centred)


def _modulus(soft: Model) -> float:
    """Return the Young's modulus, Pa, that gives FREQUENCY to a body whose model has 1e5 Pa."""
    rigid = rigid_count(soft)
    return 1e5 * (FREQUENCY / vibrations(soft, rigid + 1).frequencies[rigid]) ** 2


def _compared(case: str, surface: SurfaceMesh) -> Iterable[Row]:
    size = float(np.ptp(surface.positions, axis=0).max())
    soft = prepare(_job(surface, FINE, 1e5)).model
    E = _modulus(soft)
    of_drop = _modulus(prepare(_dropped(_job(surface, FINE, 1e5), size)).model)
    field = push(prepare(_job(surface, FINE, E)).model, 0.1)
    yield row(case, f"tets, {FINE} and {COARSE} cells", len(soft.mesh.tets))
    weight = push(prepare(_job(surface, FINE, E)).model, 0.06, lambda at: np.tile([0.0, 0.0, -1.0], (len(at), 1)))
    ways = {"pushed": None, "shaken": _shaken, "sagging": partial(_sagging, weight(np.zeros((1, 3)))[0])}
    for words, change in (ways | {"dropped": _dropped}).items():

        def job(cells: int, change=change, **settings: object) -> Job:
            made = _job(surface, cells, of_drop if change is _dropped else E, **settings)
            return change(made, size) if change else made

        pushing = field if words == "pushed" else None
        swing, found = _errors(job, pushing, ("automatic", *FITTED) if words == "dropped" else ("automatic",))
        yield row(case, f"{words}: swing, of the size", swing / size)
        yield from _rows(case, words, found)
        told = found["automatic"].told
        if words != "dropped":
            few, many, plain_few, plain_many = re.findall(TOLD, told)[0]
            ends = (few, many) if "match the" in told or "matches the" in told else (plain_few, plain_many)
            low, high = float(ends[0] or ends[1]), float(ends[1])
            factor = max(found["automatic"].farthest / high, low / found["automatic"].farthest, 1.0)
            yield row(case, f"{words}: told {low:.0f} to {high:.0f} %, off by a factor", factor, "", at_most=FACTOR)


def _turned(case: str, surface: SurfaceMesh) -> Iterable[Row]:
    """Yield the errors of drops of a body that is turned about the vertical, so that cells cut it elsewhere."""
    size = float(np.ptp(surface.positions, axis=0).max())
    E = _modulus(prepare(_dropped(_job(surface, FINE, 1e5), size)).model)
    for angle in TURNS:
        turned = SurfaceMesh(Rotation.from_rotvec([0.0, 0.0, angle]).apply(surface.positions), surface.triangles)
        _swing, found = _errors(
            lambda cells, turned=turned, **k: _dropped(_job(turned, cells, E, **k), size), None, FITTED
        )
        yield from _rows(case, f"turned by {angle}", found)


def _errors(
    job: Callable[..., Job], pushing: Callable | None, methods: Sequence[str]
) -> tuple[float, dict[str, _Error]]:
    """Return the swing of the fine lattice, m, and the errors of the coarse one, unmatched (``plain``) and matched by
    each of the match ``methods``.
    """
    fine, _prepared = simulated(job(FINE), pushing)
    swing, found = _swing(job(FINE), fine), {}
    ways = {name: {"match_resolution": True, "match_cells": FINE, "match_method": name} for name in methods}
    for name, settings in ({"plain": {}} | ways).items():
        events: list[Event] = []
        moved, _prepared = simulated(job(COARSE, **settings), pushing, events.append)
        off = 100.0 * np.linalg.norm(moved - fine, axis=2) / swing
        told = next(event.match for event in events if isinstance(event, Mesh))
        mean = np.sqrt((off**2).mean(axis=1)).max()
        found[name] = _Error(off.max(), mean, np.percentile(off, 99, axis=1).max(), told)
    return swing, found


def _rows(case: str, words: str, found: dict[str, _Error]) -> Iterable[Row]:
    """Yield rows of the errors. Only the automatic match has bars: a method of the user's choice matches dropped bodies
    too.
    """
    plain = found["plain"]
    for name, error in found.items():
        bars = [each + WORSE if name == "automatic" else None for each in (plain.farthest, plain.mean, plain.nearly)]
        report = f" ({error.told})" if error.told else ""
        yield row(case, f"{words}: error, {name}{report}", error.farthest, "%", at_most=bars[0])
        yield row(case, f"{words}: root mean square error, {name}", error.mean, "%", at_most=bars[1])
        yield row(case, f"{words}: error of 99 % of the vertices, {name}", error.nearly, "%", at_most=bars[2])
