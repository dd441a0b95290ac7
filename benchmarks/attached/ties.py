"""Ties against one mesh, an affine displacement, and a pendulum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings, MaterialSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.jobs.job.body import Body
from ...core.jobs.job.environment import Collider, Spring
from ...core.jobs.job.groups import grouped_jobs
from ...core.jobs.job.job import Job
from ...core.jobs.job.tie import SLIDE, Tie
from ...core.numerics.optimization.step_report import StepReport
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block
from ..registry import Case, Row, row

HALF = (0.6, 0.3, 0.3)
"""Size of a half bar, m."""
MESHES = {"nested": (12, 6, 6), "coarser": (5, 2, 2), "finer": (9, 5, 5)}
"""Cells of the second half bar, by its relation to the first one of (6, 3, 3) cells."""
TRACTION, FAR = 0.3, 1e9
"""Traction over Young's modulus, and the distance, m, from which springs pull."""
RADIUS, ANGLE = 0.5, np.radians(57.0)
"""Radius, m, of the arc from which a block hangs, and the angle at which it is let go."""


@dataclass
class Played:
    """Positions of each body, by name, at all frames, and the reports of all steps."""

    positions: dict[str, list[np.ndarray]]
    reports: list[StepReport]

    @property
    def iterations(self) -> int:
        """Number of iterations of all steps."""
        return sum(report.iterations for report in self.reports)


def body(name: str, mesh: TetMesh, at: Sequence[float] = (0.0, 0.0, 0.0), **fields: Any) -> Body:
    """Return a body of a mesh that is moved by ``at``, m, and does not collide."""
    solver = {"tolerance": 1e-9, "max_iterations": 60} | fields.pop("solver", {})
    modulus = fields.pop("youngs_modulus", 1e6)
    return Body.of_tets(
        mesh.rest_positions + np.asarray(at),
        mesh.tets,
        name=name,
        materials=MaterialSettings(youngs_modulus=modulus, poissons_ratio=0.3),
        contact=ContactSettings(bodies=False),
        solver=SolverSettings(**solver),
        **fields,
    )


def play(bodies: Sequence[Body], frames: int, frame_rate: float) -> Played:
    """Simulate a group of bodies."""
    job = Job(bodies=tuple(bodies), frame_end=frames, frame_rate=frame_rate)
    job.check()
    (jobs,) = grouped_jobs(job)
    found = list(simulate_group(jobs, [prepare(each, collides=len(jobs) > 1) for each in jobs]))
    positions = {each.body.name: [frame[k].state.positions for frame in found] for k, each in enumerate(jobs)}
    return Played(positions, [report for frame in found for report in frame[0].reports])


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the patch test, the bar of two meshes and the sliding pendulum."""
    for name in MESHES:
        yield Case(f"tie_patch_{name}", partial(_patch, name))
        yield Case(f"tie_bar_{name}", partial(_bar, name))
    yield Case("tie_pendulum", _pendulum)


def _patch(name: str) -> Iterable[Row]:
    """Pull two glued blocks apart by equal tractions on their ends: the exact solution has one F everywhere."""
    warm_up(ignore)
    case, halves, bodies = f"tie_patch_{name}", [block((6, 3, 3), HALF), block(MESHES[name], HALF)], []
    modulus, frames = 1e6, 10
    for k, mesh in enumerate(halves):
        X = mesh.rest_positions + [k * HALF[0], 0.0, 0.0]
        faces = boundary_triangles(mesh.tets)
        faces = faces[np.isclose(X[faces, 0], 2.0 * HALF[0] * k).all(axis=1)]
        vertices, corners = np.unique(faces, return_inverse=True)
        area = SurfaceMesh(X, faces).vertex_areas[vertices]
        # A soft spring to a far target pulls with a constant force.
        targets = X[vertices] + [FAR * (2 * k - 1), 0.0, 0.0]
        force = np.full(frames, TRACTION * modulus * area.sum() / FAR)
        pull = Spring("pull", vertices, area, np.repeat(targets[None], frames, axis=0), force)
        still = {"solver": {"gravity": (0.0, 0.0, 0.0)}, "springs": (pull,), "ties": (Tie("first"),) * k}
        bodies.append(body(("first", "second")[k], mesh, (k * HALF[0], 0.0, 0.0), **still))
    played, found, volumes = play(bodies, frames, 1.0), [], []
    for each in bodies:
        corners, X = played.positions[each.name][-1][each.tets], each.surface.positions[each.tets]
        found.append(np.linalg.solve(X[:, 1:] - X[:, :1], corners[:, 1:] - corners[:, :1]))
        volumes.append(np.linalg.det(X[:, 1:] - X[:, :1]))
    F, volumes = np.concatenate(found), np.concatenate(volumes)
    mean = np.average(F, axis=0, weights=volumes)
    strain = np.abs(mean - np.eye(3)).max()
    yield row(case, "strain", strain)
    at_most = 1e-10 if name == "nested" else 1e-3
    yield row(case, "largest error of F over the strain", np.abs(F - mean).max() / strain, "", at_most=at_most)


def _bar(name: str) -> Iterable[Row]:
    """Compare the sag of a clamped bar of two glued meshes with that of one mesh."""
    warm_up(ignore)
    case, sags, counts = f"tie_bar_{name}", [], []
    halves = [block((6, 3, 3), HALF), block(MESHES[name], HALF)]
    wholes = [block((2 * cells[0], *cells[1:]), (2.0 * HALF[0], *HALF[1:])) for cells in ((6, 3, 3), MESHES[name])]
    for meshes in ([wholes[0]], [wholes[1]], halves):
        clamped = np.flatnonzero(meshes[0].rest_positions[:, 0] == 0.0)
        bodies = [body("first", meshes[0], pinned_vertices=clamped)]
        if len(meshes) == 2:
            bodies.append(body("second", meshes[1], (HALF[0], 0.0, 0.0), ties=(Tie("first"),)))
        played, last = play(bodies, 12, 1.0), bodies[-1]
        tip = np.isclose(last.surface.positions[:, 0], 2.0 * HALF[0])
        sags.append((last.surface.positions - played.positions[last.name][-1])[tip, 2].mean())
        counts.append(played.iterations)
    yield row(case, "sag, one mesh as the first half", sags[0], "m")
    yield row(case, "sag, one mesh as the second half", sags[1], "m")
    yield row(case, "sag, two meshes", sags[2], "m")
    outside = max(min(sags[:2]) - sags[2], sags[2] - max(sags[:2]), 0.0)
    yield row(case, "sag beyond those of one mesh", outside / sags[0], "", at_most=5e-3)
    yield row(case, "iterations over one mesh", counts[2] / counts[0], "", at_most=1.05)


def _pendulum() -> Iterable[Row]:
    """Hang a stiff block from an arc along which it slides, and compare it with a rigid pendulum."""
    warm_up(ignore)
    size, frames, rate = np.array([0.1, 0.06, 0.06]), 61, 120.0
    for facets in (80, 160):
        angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, facets + 1)
        arc = np.stack([np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=1) * RADIUS
        sides = [arc + [0.0, y, 0.0] for y in (-0.1, 0.1)]
        low, n = np.arange(facets), facets + 1
        triangles = np.concatenate(
            [np.stack([low, low + 1, low + n], axis=1), np.stack([low + 1, low + 1 + n, low + n], axis=1)]
        )
        mesh = block((5, 3, 3), tuple(size))
        X = mesh.rest_positions - [0.5 * size[0], 0.5 * size[1], size[2] + RADIUS]
        turn = np.array([[np.cos(ANGLE), 0.0, -np.sin(ANGLE)], [0.0, 1.0, 0.0], [np.sin(ANGLE), 0.0, np.cos(ANGLE)]])
        X = X @ turn.T
        rail = Collider("rail", triangles, np.concatenate(sides)[None])
        block_of = TetMesh(X, mesh.tets)
        ties = (Tie("rail", SLIDE),)
        solver = {"integrator": "bdf2"}
        played = play(
            [body("block", block_of, colliders=(rail,), ties=ties, youngs_modulus=1e8, solver=solver)], frames, rate
        )
        centre = np.array([each.mean(axis=0) for each in played.positions["block"]])
        found = np.arctan2(centre[:, 0], -centre[:, 2])
        arm = RADIUS + 0.5 * size[2]
        inertia = (size[0] ** 2 + size[2] ** 2) / 12.0 + arm**2
        times = np.arange(frames) / rate
        exact = _swing(found[0], 9.81 * arm / inertia, times)
        error = np.degrees(np.sqrt(np.mean((found - exact) ** 2)))
        case = f"tie_pendulum_{facets}"
        yield row(case, "rms error of the angle", error, "degrees", at_most=0.1)
        yield row(case, "swing", np.degrees(np.ptp(found)), "degrees")
        yield row(case, "iterations a step", played.iterations / len(played.reports))
        yield row(case, "unconverged steps", sum(not each.converged for each in played.reports), "", at_most=0)


def _swing(angle: float, rate: float, times: np.ndarray) -> np.ndarray:
    """Return the angles, at ``times``, s, of a pendulum that is let go at ``angle``; ``rate``, 1/s²: m g l / I."""
    span = (0.0, times[-1])
    return solve_ivp(
        lambda _t, y: [y[1], -rate * np.sin(y[0])], span, [angle, 0.0], t_eval=times, rtol=1e-10, atol=1e-12
    ).y[0]
