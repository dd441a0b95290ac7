"""Jointed rigid bodies against the equations of rigid pendulums, roots of the torque, pins, and their cost."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.environment import Collider
from ...core.jobs.job.groups import grouped_jobs
from ...core.jobs.job.job import Job
from ...core.jobs.job.joint import Joint
from ...core.jobs.job.tie import Tie
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import GroupStepper
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from .bones import box
from .ties import body, play

ACROSS = (0.0, 1.0, 0.0)
LINK = (0.06, 0.06, 0.3)
"""Size of a link of the pendulum, m; its density is 1000 kg/m³."""
STARTS = tuple(np.radians([90.0, 60.0]))
RATES = 480.0, 240.0, 120.0
STILL = (0.0, 0.0, 0.0)
BONES, STEPS = 20, 16
"""Number of bones whose cost is measured, and of steps."""
COSTS = "flesh alone", "one heavy bone", "hanging bones", "swinging bones"


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the cases."""
    yield Case("joint_pendulum", _pendulum)
    yield Case("joint_momentum", _momentum)
    yield Case("joint_arm", _arm)
    yield Case("joint_iterations", _iterations)
    for cells in (8, 12):
        yield Case(f"joint_cost_{cells}", partial(_cost, f"joint_cost_{cells}", cells))


def bone(name: str, surface: SurfaceMesh, joints: Sequence[Joint] = (), density: float = 1000.0, **fields: Any) -> Body:
    """Return a rigid body that does not collide."""
    solver = {"tolerance": 1e-9, "max_iterations": 60} | fields.pop("solver", {})
    return Body(
        name=name,
        surface=surface,
        materials=MaterialSettings(poissons_ratio=0.3, density=density),
        resolution=ResolutionSettings(method="rigid"),
        contact=ContactSettings(bodies=False),
        solver=SolverSettings(**solver),
        joints=tuple(joints),
        **fields,
    )


def turns(positions: Sequence[np.ndarray]) -> np.ndarray:
    """Return the angles about y, rad, by which a rigid body has turned since the first of its positions."""
    first = np.linalg.pinv(positions[0] - positions[0].mean(axis=0))
    F = np.array([(first @ (x - x.mean(axis=0))).T for x in positions])
    return np.unwrap(np.arctan2(F[:, 0, 2] - F[:, 2, 0], F[:, 0, 0] + F[:, 2, 2]))


def _turned(angle: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * np.array(ACROSS)).as_matrix()


def _links(solver: dict[str, Any]) -> list[Body]:
    """Return the two links of the double pendulum, at the starting angles from the vertical."""
    found, at = [], np.zeros(3)
    for k, angle in enumerate(STARTS):
        down = box(LINK, (1, 1, 1), (-0.5 * LINK[0], -0.5 * LINK[1], -LINK[2]))
        surface = SurfaceMesh(down.positions @ _turned(-angle).T + at, down.triangles)
        found.append(bone("AB"[k], surface, [Joint("A" if k else "", "hinge", at, ACROSS)], solver=solver))
        at = at + _turned(-angle) @ [0.0, 0.0, -LINK[2]]
    return found


def _exact(times: np.ndarray) -> np.ndarray:
    """Return the angles of the rigid double pendulum from the vertical at some times, (2,t) rad."""
    length = LINK[2]
    inertia, half, g = (length**2 + LINK[0] ** 2) / 12.0, 0.5 * length, 9.81

    def slope(_t: float, y: np.ndarray) -> np.ndarray:
        a, b, da, db = y
        c, s = length * half * np.cos(a - b), length * half * np.sin(a - b)
        M = [[inertia + half**2 + length**2, c], [c, inertia + half**2]]
        right = [-s * db**2 - (half + length) * g * np.sin(a), s * da**2 - half * g * np.sin(b)]
        return np.array([da, db, *np.linalg.solve(M, right)])

    return solve_ivp(slope, (0.0, times[-1]), [*STARTS, 0.0, 0.0], t_eval=times, rtol=1e-11, atol=1e-12).y[:2]


def _pendulum() -> Iterable[Row]:
    """Swing a double pendulum for half a second."""
    warm_up(ignore)
    errors, curves = [], []
    for rate in RATES:
        frames = int(0.5 * rate) + 1
        times = np.arange(frames) / rate
        exact = _exact(times)
        for solver in ("mixed_fem", "newton"):
            played = play(_links({"integrator": "bdf2", "solver": solver, "tolerance": 1e-6}), frames, rate)
            found = np.array([start - turns(played.positions[name]) for start, name in zip(STARTS, "AB")])
            off = np.degrees(found - exact)
            words = f"{solver}, 1/{rate:g} s"
            bar = 0.2 if rate == 240.0 else None
            yield row("joint_pendulum", f"{words}: rms error", np.sqrt(np.mean(off**2)), "degrees", at_most=bar)
            yield row("joint_pendulum", f"{words}: largest error", np.abs(off).max(), "degrees")
            yield row("joint_pendulum", f"{words}: iterations a step", played.iterations / len(played.reports))
            if solver == "mixed_fem":
                errors.append(np.sqrt(np.mean(off**2)))
                curves.append(Curve(f"1/{rate:g} s", times, np.abs(off[1])))
    for k in range(2):
        order = float(np.log2(errors[k + 1] / errors[k]))
        yield row("joint_pendulum", f"order from 1/{RATES[k + 1]:g} s", order, at_least=1.8)
    draw("attached", "joint_pendulum", [Plot("second link", "time, s", "error, degrees", curves)])


def _momentum() -> Iterable[Row]:
    """Spin three links, jointed by a hinge and a ball, that nothing else acts on."""
    warm_up(ignore)
    for integrator in ("bdf2", "backward_euler"):
        solver = {"integrator": integrator, "gravity": STILL, "tolerance": 1e-10}
        bodies = [bone("A", box((0.3, 0.1, 0.06), (1, 1, 1)), solver=solver)]
        for k, kind in enumerate(("hinge", "ball")):
            x = 0.3 * (k + 1)
            joint = Joint("AB"[k], kind, (x, 0.05, 0.03), ACROSS)
            bodies.append(bone("BC"[k], box((0.3, 0.1, 0.06), (1, 1, 1), (x, 0.0, 0.0)), [joint], solver=solver))
        job = Job(bodies=tuple(bodies), frame_end=121, frame_rate=240.0)
        (jobs,) = grouped_jobs(job)
        prepared = [prepare(each, collides=True) for each in jobs]
        states, found = [], []
        for k, each in enumerate(prepared):
            X = each.model.mesh.rest_positions
            v = np.cross([3.0, 8.0, -2.0 + k], X - [0.45, 0.05, 0.03]) + [0.3, -0.2, 0.5]
            states.append(each.model.state_at(X, v))
        stepper = GroupStepper(jobs, prepared)
        for frame in range(1, job.frame_count):
            states, _reports = stepper.advance(states, frame)
            p = [each.model.mass @ state.velocities for each, state in zip(prepared, states)]
            L = sum(np.cross(state.positions, each).sum(axis=0) for each, state in zip(p, states))
            found.append([sum(each.sum(axis=0) for each in p), L])
        off = np.linalg.norm(np.array(found) - found[1], axis=2)[1:] / np.linalg.norm(found[1], axis=1)
        bar = 1e-9
        yield row("joint_momentum", f"{integrator}: change of momentum", off[:, 0].max(), at_most=bar)
        yield row("joint_momentum", f"{integrator}: change of angular momentum, 0.5 s", off[:, 1].max())


FOREARM, HINGE, ATTACHED = (0.3, 0.05, 0.05), (0.0, 0.025, 0.025), 0.06
"""Size of the forearm, its hinge, and the distance of the muscle from it, m."""


def _muscle(partners: Sequence[str], **fields: Any) -> Body:
    """Return a muscle that stands on the forearm and is held at its upper end."""
    mesh = block((3, 3, 10), (0.04, 0.04, 0.2))
    at = np.array([ATTACHED, 0.005, FOREARM[2]])
    top = np.flatnonzero(mesh.rest_positions[:, 2] > 0.2 - 1e-9)
    ties = tuple(Tie(other) for other in partners)
    solver = {"integrator": "statics", "tolerance": 1e-10}
    return body("Muscle", mesh, at, pinned_vertices=top, ties=ties, youngs_modulus=5e4, solver=solver, **fields)


def _arm() -> Iterable[Row]:
    """Let a hinged forearm hang from a muscle, against the angle at which the torque on the forearm vanishes."""
    warm_up(ignore)
    surface = box(FOREARM, (6, 2, 2))
    solver = {"integrator": "statics", "tolerance": 1e-10}
    arm = bone("Forearm", surface, [Joint("", "hinge", HINGE, ACROSS)], solver=solver)
    weight = 9.81 * 1000.0 * np.prod(FOREARM)

    def torque(angle: float) -> float:
        """Return the torque on the forearm about its hinge at an angle, N m: its weight's and the muscle's."""
        moved = (surface.positions - HINGE) @ _turned(angle).T + HINGE
        collider = Collider("Forearm", surface.triangles, np.stack([surface.positions, moved, moved]))
        job = Job(bodies=_muscle(["Forearm"], colliders=(collider,)), frame_end=3, frame_rate=1.0)
        (own,) = grouped_jobs(job)
        prepared = [prepare(own[0])]
        stepper, states = GroupStepper(own, prepared), [prepared[0].first_state()]
        for frame in (1, 2):
            states, _reports = stepper.advance(states, frame)
        model, x = prepared[0].model, states[0].positions
        elastic = model.elastic
        force = elastic.gradient(elastic.deformation(x)) + elastic.stabilization.gradient(x)
        force -= model.mass @ np.tile([0.0, 0.0, -9.81], (len(x), 1))
        force[model.pinned] = 0.0  # only the force of the tie on the muscle is left
        centre = _turned(angle) @ (0.5 * np.array(FOREARM) - HINGE)
        return float(np.cross(x - HINGE, -force).sum(axis=0)[1] + np.cross(centre, [0.0, 0.0, -weight])[1])

    root = np.degrees(brentq(torque, 0.0, 0.5, xtol=1e-10))
    yield row("joint_arm", "angle of the root of the torque", root, "degrees")
    for rate in (1.0, 24.0):
        played = play([arm, _muscle(["Forearm"])], 4, rate)
        found = np.degrees(turns(played.positions["Forearm"])[-1])
        yield row("joint_arm", f"hinged arm, 1/{rate:g} s", found, "degrees")
        yield row("joint_arm", f"difference, 1/{rate:g} s", abs(found - root), "degrees", at_most=1e-4)
        yield row("joint_arm", f"iterations a step, 1/{rate:g} s", played.iterations / len(played.reports))


def _iterations() -> Iterable[Row]:
    """Move flesh that is glued to a hinged bone, and flesh that is pinned to the same motion."""
    warm_up(ignore)
    mesh, at, frames = block((8, 3, 3), (0.4, 0.1, 0.1)), np.array([0.2, 0.0, 0.0]), 25
    face = np.flatnonzero(mesh.rest_positions[:, 0] == 0.0)
    X = mesh.rest_positions[face] + at
    target = 0.6 * np.sin(2.0 * np.pi * np.arange(frames) / 24.0)
    for words, motor in (("swing", {}), ("motor", {"stiffness": 1e7, "target": target})):
        for tolerance in (1e-5, 1e-7):
            settings = {"solver": {"tolerance": tolerance}}
            hinge = Joint("", "hinge", (0.0, 0.05, 0.05), ACROSS, **motor)
            moved = bone("Bone", box((0.2, 0.1, 0.1), (4, 2, 2)), [hinge], 1900.0, **settings)
            flesh = {"youngs_modulus": 1e5, "ties": (Tie("Bone"),)}
            glued = play([moved, body("Flesh", mesh, at, **flesh, **settings)], frames, 24.0)
            bones = glued.positions["Bone"]
            shares = np.column_stack([X, np.ones(len(X))]) @ np.linalg.inv(np.column_stack([bones[0], np.ones(4)]))
            flesh = {"youngs_modulus": 1e5, "pinned_vertices": face, "pin_positions": shares @ np.stack(bones)}
            pinned = play([body("Flesh", mesh, at, **flesh, **settings)], frames, 24.0)
            case, said = "joint_iterations", f"{words}, tolerance {tolerance:g}"
            yield row(case, f"{said}: hinged bone, a step", glued.iterations / len(glued.reports))
            yield row(case, f"{said}: pins, a step", pinned.iterations / len(pinned.reports))
            bar = 1.1 if tolerance == 1e-5 else None
            yield row(case, f"{said}: hinged bone over pins", glued.iterations / pinned.iterations, at_most=bar)


def _chain(solver: dict[str, Any], hangs: bool) -> list[Body]:
    """Return a chain of bones, the first of which is glued to the free end of the bar of :func:`_cost`.

    The chain hangs down at rest, or is horizontal and swings.
    """
    links = []
    for k in range(BONES):
        size, at = (
            ((0.05, 0.05, 0.1), (0.6, 0.075, 0.05 - 0.1 * k))
            if hangs
            else ((0.1, 0.05, 0.05), (0.6 + 0.1 * k, 0.075, 0.075))
        )
        surface = box(size, (1, 1, 2) if hangs else (2, 1, 1), at)
        pivot = (0.625, 0.1, 0.15 - 0.1 * k) if hangs else (at[0], 0.1, 0.1)
        joints = [Joint(f"Bone {k - 1:02d}", "hinge", pivot, ACROSS)] if k else []
        ties = () if k else (Tie("Flesh"),)
        links.append(bone(f"Bone {k:02d}", surface, joints, 1900.0, ties=ties, solver=solver))
    return links


def _cost(case: str, cells: int) -> Iterable[Row]:
    """Step a bar of flesh alone, with one heavy bone, and with a hanging and a swinging chain of bones, in turns.

    ``cells``: number of cells across the bar.

    The heavy bone weighs as much as a chain, so that the flesh sags as far. The tolerance is relative to the smallest
    body, a bone. The flesh alone is solved to the same error in metres. The first step is left out: it partitions the
    body and orders its matrix.
    """
    warm_up(ignore)
    mesh = block((3 * cells, cells, cells), (0.6, 0.2, 0.2))
    clamped = np.flatnonzero(mesh.rest_positions[:, 0] == 0.0)
    yield row(case, "tets of the flesh", len(mesh.tets))
    for linear_solver in ("cholmod", "pcg"):
        solver = {"tolerance": 1e-5, "linear_solver": linear_solver}
        flesh = body("Flesh", mesh, pinned_vertices=clamped, youngs_modulus=1e6, solver=dict(solver))
        alone = replace(flesh, solver=SolverSettings(**solver | {"tolerance": 1e-5 * 0.1 / mesh.size}))
        chain = _chain(solver, True)
        (dense,) = chain[0].materials
        heavy = replace(chain[0], materials=(replace(dense, density=BONES * dense.density),))
        steppers, times, counts = [], [[] for _ in COSTS], [[] for _ in COSTS]
        for bodies in ([alone], [flesh, heavy], [flesh, *chain], [flesh, *_chain(solver, False)]):
            job = Job(bodies=tuple(bodies), frame_end=STEPS + 1, frame_rate=24.0)
            (jobs,) = grouped_jobs(job)
            stepper = GroupStepper(jobs, [prepare(each, collides=len(jobs) > 1) for each in jobs])
            steppers.append([stepper, stepper.first_states()])
        for frame in range(1, STEPS + 1):
            for k, own in enumerate(steppers):
                start = time.process_time()
                own[1], reports = own[0].advance(own[1], frame)
                if frame > 1:
                    times[k].append(time.process_time() - start)
                    counts[k].append(sum(report.iterations for report in reports[0]))
        for k, words in enumerate(COSTS):
            yield row(case, f"{linear_solver}, {words}: iterations", sum(counts[k]))
            yield row(case, f"{linear_solver}, {words}: processor time a step", np.median(times[k]), "s")
        for k, other in ((2, 1), (2, 0), (3, 1)):
            words = f"{linear_solver}: {COSTS[k]} over {COSTS[other]}"
            step, iteration = sum(times[k]) / sum(times[other]), sum(counts[other]) / sum(counts[k])
            yield row(case, f"{words}, a step", step, at_most=1.15 if (k, other) == (2, 1) else None)
            yield row(case, f"{words}, an iteration", step * iteration)
