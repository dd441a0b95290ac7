"""Contact compared with laws: momentum in a collision, weight at rest, Hertzian contact of a ball on a plane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.contact.barrier.barrier_potential import Barrier
from ...core.contact.barrier.contact_load import ContactLoad
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.merged_model import merge_models
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.simulation.contact_setup.collision_surfaces import ColliderSet, make_contact_load
from ..bodies import block
from ..measures import angular_momentum
from ..meetings import Scene, Watched, box, plate, watch
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

H, EARTH = 0.01, 9.81
STILL = {"gravity": (0.0, 0.0, 0.0), "tolerance": 1e-11, "max_iterations": 200}
SPEED, SPIN = 3.0, 5.0
"""Linear and angular velocity of the box that hits another, m/s and 1/s."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each case, with Mixed FEM."""
    yield Case("law_momentum", _momentum)
    yield Case("law_weight", _weight)
    yield Case("law_hertz", _hertz)


def _momentum() -> Iterable[Row]:
    """Simulate an oblique collision of a rotating box with another in free flight.

    The change of momentum is relative to the initial one; that of angular momentum, about the origin, to the first
    box's mass times speed times the distance of both. Implicit Euler does not conserve it even for a single body: each
    step removes ``h v x M v_before``, which is added here; of the theta midpoint rule the raw change is reported.
    """
    case = "law_momentum"
    for friction, bar in ((0.0, 1e-9), (0.3, None)):
        for rule in ("backward_euler", "bdf2", "theta_midpoint"):
            seen = watch(_pair(friction), 25, H, "mixed_fem", integrator=rule, theta=0.5)
            words = f"{rule}, friction {friction:g}"
            kept, raw, beside = _kept(seen)
            yield row(case, f"steps that did not settle, {words}", _unsettled(seen), "", at_most=0)
            yield row(case, f"momentum off, {words}", kept, "", at_most=1e-9)
            yield row(case, f"angular momentum off, {words}", raw)
            if rule == "backward_euler":
                yield row(case, f"angular momentum off, less the rule's own, {words}", beside, "", at_most=bar)


def _unsettled(seen: Watched) -> int:
    return sum(not report.converged for report in seen.reports)


def _pair(friction: float) -> Scene:
    bodies = [box((0.0, 0.0, 0.0), (3, 3, 3)), box((0.16, 0.03, 0.02), (3, 3, 3))]

    def thrown(whole: Model) -> State:
        X, first = whole.mesh.rest_positions, np.arange(whole.unknowns) < whole.slices[0].vertices.stop
        turning = np.cross([0.0, 0.0, SPIN], X - 0.05) + [SPEED, 0.0, 0.0]
        return whole.state_at(X, first[:, None] * turning)

    return Scene(bodies, (), friction, state=thrown, settings=STILL)


def _kept(seen: Watched) -> tuple[float, float, float]:
    """Return the largest changes of momentum and angular momentum, and the latter without that of the rule."""
    mass, states = seen.whole.mass, seen.states
    P = np.array([(mass @ each.velocities).sum(axis=0) for each in states])
    L = np.array([angular_momentum(seen.whole, each) for each in states])
    pairs = zip(states, states[1:])
    own = np.array([H * np.cross(b.velocities, mass @ a.velocities).sum(axis=0) for a, b in pairs])
    L_beside = L[1:] - np.cumsum(own, axis=0)
    whole_P = np.linalg.norm(P[0])
    whole_L = whole_P * 0.16
    off = [np.linalg.norm(each - first, axis=1).max() for each, first in ((P, P[0]), (L, L[0]), (L_beside, L[0]))]
    return float(off[0] / whole_P), float(off[1] / whole_L), float(off[2] / whole_L)


def _weight() -> Iterable[Row]:
    """Measure the forces of plates and boxes on a box, and on three stacked ones, at rest."""
    case, tight = "law_weight", {"tolerance": 1e-9, "max_iterations": 200}
    for solver in ("mixed_fem", "newton"):
        for count in (1, 3):
            bodies = [box((0.0, 0.0, 0.0028 + 0.1028 * k), (3, 3, 3)) for k in range(count)]
            scene = Scene(bodies, [plate(0.0)], settings=tight)
            seen = watch(scene, 150, 0.02, solver)
            words = f"{count} boxes, {solver}"
            y = seen.meeting.surface_positions(seen.states[-1].positions)
            forces, body = seen.meeting.barrier.gradient(y), seen.meeting.barrier.surfaces.body_ids
            weight = EARTH * seen.whole.lumped_masses.sum()
            pressed = float(forces[body == count, 2].sum())
            yield row(case, f"steps that did not settle, {words}", _unsettled(seen), "", at_most=0)
            yield row(
                case, f"normal forces over the weight, less 1, {words}", abs(pressed / weight - 1.0), "", at_most=1e-6
            )
            speed = float(np.abs(seen.states[-1].velocities).max())
            yield row(case, f"fastest vertex, {words}", speed, "m/s")


# -- Hertz ----------------------------------------------------------------------------------------------------------

RADIUS, POISSON, MODULUS, BULGE = 1.0, 0.3, 1e6, 0.15
CONTACT = 0.03
"""Largest contact radius, relative to the ball's."""


def _graded(cells: int, equal: int) -> np.ndarray:
    """Return positions from 0 to 1 (cells+1,): some equal steps, then each 1.5 times the previous one."""
    steps = 1.5 ** np.maximum(np.arange(cells) - float(equal), 0.0)
    return np.concatenate([[0.0], np.cumsum(steps) / steps.sum()])


def _ball(half: int, deep: int) -> TetMesh:
    """Return the lower three quarters of a ball, with small cubes at its lowest point: a block with graded positions,
    mapped to the ball. It bulges at the block's edges, where tets would otherwise have no volume.
    """
    cubes = block((2 * half, 2 * half, deep), (2.0 * half, 2.0 * half, float(deep)))
    at = np.rint(cubes.rest_positions).astype(int)
    side, down = _graded(half, 10), _graded(deep, 7)
    across = np.concatenate([-side[::-1], side[1:]])
    x, y, z = across[at[:, 0]], across[at[:, 1]], 1.5 * down[at[:, 2]] - 1.0
    xx, yy, zz = x * x, y * y, z * z
    points = np.column_stack(
        [
            x * np.sqrt(1.0 - yy / 2.0 - zz / 2.0 + yy * zz / 3.0),
            y * np.sqrt(1.0 - xx / 2.0 - zz / 2.0 + xx * zz / 3.0),
            z * np.sqrt(1.0 - xx / 2.0 - yy / 2.0 + xx * yy / 3.0),
        ]
    )
    bulge = (x * y) ** 6 + (y * z) ** 6 + (z * x) ** 6
    return TetMesh(RADIUS * (1.0 + BULGE * bulge)[:, None] * points, cubes.tets)


def _hertz() -> Iterable[Row]:
    """Lower a ball, held above, on a plane, in quasistatic steps."""
    case, deepest = "law_hertz", CONTACT**2 * RADIUS
    mesh = _ball(20, 20)
    distance = 0.02 * deepest
    lift = RADIUS + distance
    X = mesh.rest_positions + [0.0, 0.0, lift]
    held = np.flatnonzero(mesh.rest_positions[:, 2] >= 0.3 * RADIUS)
    whole = merge_models([build_model(TetMesh(X, mesh.tets), MODULUS, POISSON, 1e-3, "linear", pinned=held)])
    corners, triangles = plate(0.0, 3.0)
    wide = make_contact_load(whole, ColliderSet(("plane",), (triangles,), (corners[None],)), 0.0)
    meet = ContactLoad(
        Barrier(wide.barrier.surfaces, distance, MODULUS, 0.0, 1.0), wide.points, wide.collider_positions
    )
    chosen = {"tolerance": 1e-11, "max_iterations": 200, "gravity": (0.0, 0.0, 0.0)}
    stepper, state = make_solver(whole, SolverSettings(solver="newton", **chosen)), whole.rest_state()
    yield row(case, "tets", len(mesh.tets))
    plane, forces, approaches = wide.barrier.surfaces.body_ids == 1, [], []
    for part in (0.5, 1.0):
        targets = X[held] - [0.0, 0.0, distance + part * deepest]
        state, report = stepper.step(state, targets, 1.0, (meet,))
        y = meet.surface_positions(state.positions)
        forces.append(float(meet.barrier.gradient(y)[plane, 2].sum()))
        gap = meet.barrier.smallest_distance(y)
        approaches.append(part * deepest + gap)
        law = 4.0 / 3.0 * MODULUS / (1.0 - POISSON**2) * np.sqrt(RADIUS) * approaches[-1] ** 1.5
        words = f"approach {approaches[-1]:.2e} radii"
        yield row(case, f"iterations, {words}: {report.reason}", report.iterations)
        yield row(case, f"force over Hertz's, less 1, {words}", forces[-1] / law - 1.0)
        yield row(case, f"off Hertz, {words}", abs(forces[-1] / law - 1.0), "", at_most=0.05)
    slope = float(np.polyfit(np.log(approaches), np.log(forces), 1)[0])
    yield row(case, "exponent of the force in the approach", slope)
    curves = [
        Curve("measured", approaches, forces, "o"),
        Curve("1.5", approaches, forces[-1] * (np.array(approaches) / approaches[-1]) ** 1.5),
    ]
    draw(
        "contact",
        case,
        [
            Snapshot("the ball", mesh.rest_positions, mesh.tets, view=(-0.3, 0.9, 0.6)),
            Plot("Hertz", "approach", "force", curves, True, True),
        ],
    )
