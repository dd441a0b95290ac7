"""Bodies carried by friction only: a house of cards, a box on a conveyor belt, a box in a gripper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.model import Model, build_model
from ..bodies import block
from ..meetings import Scene, Watched, box, plate, watch
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row

H, EARTH = 0.01, 9.81
TIGHT = {"tolerance": 1e-7, "max_iterations": 200}
CARD, THICK, LEAN, GAP = 0.1, 0.01, np.radians(20.0), 9e-4
"""Side and thickness of a card, m, its tilt, and the initial gap, m."""

SPEED, MU = 1.5, 0.3
"""Speed of the belt, m/s, and its friction coefficient."""

LIFT, CLOSE = 0.003, 0.004
"""Rise of a gripper per step, and closing of each of its walls, m."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each case, with Mixed FEM."""
    yield Case("carried_cards", _cards)
    yield Case("carried_belt", _belt)
    yield Case("carried_gripper", _gripper)


def _card(turned: float, at: tuple[float, float]) -> Model:
    """Return a card rotated about y, with its middle at x and z."""
    mesh = block((2, 6, 8), (THICK, 0.6 * CARD, CARD))
    X = mesh.rest_positions - np.array([0.5 * THICK, 0.3 * CARD, 0.5 * CARD])
    c, s = np.cos(turned), np.sin(turned)
    X = X @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    return build_model(TetMesh(X + [at[0], 0.0, at[1]], mesh.tets), 1e7, 0.4, 1e3)


def _house(friction: float) -> Scene:
    """Return two cards that lean on one another and a third on both, with a gap at which the barrier hardly pushes."""
    gap = GAP
    high = 0.5 * (CARD * np.cos(LEAN) + THICK * np.sin(LEAN))
    wide = 0.5 * (CARD * np.sin(LEAN) + THICK * np.cos(LEAN)) + 0.5 * gap
    leaning = [_card(LEAN, (-wide, high + gap)), _card(-LEAN, (wide, high + gap))]
    lid = _card(0.5 * np.pi, (0.0, 2.0 * high + 2.0 * gap + 0.5 * THICK))
    return Scene([*leaning, lid], [plate(0.0)], friction)


def _cards() -> Iterable[Row]:
    """Compare with statics: leaning cards hold with friction over tan(lean) / 1.5, 0.24."""
    case, shots = "carried_cards", []
    for friction, stands in ((0.5, True), (0.1, False)):
        seen, words = watch(_house(friction), 300, H, "mixed_fem"), f"friction {friction:g}"
        top = np.array([state.positions[:, 2].max() for state in seen.states])
        yield row(case, f"frames with a crossing, {words}", seen.crossed, "", at_most=0)
        yield row(case, f"steps that did not settle, {words}", _unsettled(seen), "", at_most=0)
        yield row(case, f"iterations a step, {words}", float(seen.iterations.mean()))
        height = float(top[-1] / top[0])
        if stands:
            yield row(case, f"height after 3 s, of the first, {words}", height, "", at_least=0.98)
            moved = float(np.abs(seen.states[-1].positions - seen.states[200].positions).max()) / CARD
            yield row(case, f"moved in the last second, of a card, {words}", moved, "", at_most=0.01)
        else:
            yield row(case, f"height after 3 s, of the first, {words}", height, "", at_most=0.7)
        shots += [
            Snapshot(f"{words}, {0.01 * k:g} s", seen.states[k].positions, seen.whole.mesh.tets, view=(-0.3, 0.9, -0.3))
            for k in (0, 300)
        ]
    draw("contact", case, shots, columns=2)


def _unsettled(seen: Watched) -> int:
    return sum(not report.converged for report in seen.reports)


def _speeds(seen: Watched) -> np.ndarray:
    """Return the velocities of the centre of mass, (states,3) m/s."""
    whole = seen.whole
    return np.array([(whole.mass @ s.velocities).sum(axis=0) / whole.lumped_masses.sum() for s in seen.states])


# -- A belt ---------------------------------------------------------------------------------------------------------

LONG, BEND, ROUND = 1.6, 0.1, 192
"""Straight part of the belt and the radius of its ends, m, and number of vertices around."""


def _belt_at(gone: float) -> np.ndarray:
    """Return the vertices of a belt around two rollers, its top at z 0, displaced by ``gone``, (2 ROUND,3) m."""
    whole = 2.0 * LONG + 2.0 * np.pi * BEND
    s = (np.arange(ROUND) * whole / ROUND + gone) % whole
    x, z = np.empty(ROUND), np.empty(ROUND)
    for begin, sign in ((0.0, 1.0), (0.5 * whole, -1.0)):
        straight = (s >= begin) & (s < begin + LONG)
        x[straight], z[straight] = sign * (s[straight] - begin - 0.5 * LONG), sign * BEND
        bend = (s >= begin + LONG) & (s < begin + 0.5 * whole)
        angle = (s[bend] - begin - LONG) / BEND
        x[bend] = sign * (0.5 * LONG + BEND * np.sin(angle))
        z[bend] = sign * BEND * np.cos(angle)
    sides = [np.column_stack([x, np.full(ROUND, y), z - BEND]) for y in (-0.2, 0.2)]
    return np.concatenate(sides)


def _belt() -> Iterable[Row]:
    """Move the belt under a box at rest on it: while the box is slower, friction is mu times its weight."""
    case, still, measured = "carried_belt", 40, 30
    here, beside = np.arange(ROUND), (np.arange(ROUND) + 1) % ROUND
    triangles = np.concatenate(
        [np.stack([here, here + ROUND, beside], axis=1), np.stack([beside, here + ROUND, beside + ROUND], axis=1)]
    )
    body = box((-0.4, -0.05, 0.0028), stiffness=1e6)
    scene = Scene(
        [body],
        [(_belt_at(0.0), triangles)],
        MU,
        places=lambda k: _belt_at(SPEED * H * max(0, k + 1 - still)),
        settings=TIGHT,
    )
    for rule in ("backward_euler", "bdf2", "theta_midpoint"):
        seen = watch(scene, still + 10 + measured, H, "mixed_fem", integrator=rule)
        speeds = _speeds(seen)[still + 10 :, 0]
        yield row(case, f"frames with a crossing, {rule}", seen.crossed, "", at_most=0)
        yield row(case, f"steps that did not settle, {rule}", _unsettled(seen), "", at_most=0)
        yield row(case, f"iterations a step, {rule}", float(seen.iterations[still:].mean()))
        part = float((speeds[-1] - speeds[0]) / (measured * H) / (MU * EARTH))
        yield row(case, f"acceleration over mu g, {rule}", part)
        yield row(case, f"off mu g, {rule}", abs(part - 1.0), "", at_most=0.005)


# -- A gripper ------------------------------------------------------------------------------------------------------


def _walls(closed: float, lifted: float) -> np.ndarray:
    """Return two squares at both sides of a box of 0.1 m at x 0, at first with a gap of 1 mm, (8,3) m."""
    square = np.array([[-0.3, 0.01], [0.3, 0.01], [0.3, 0.3], [-0.3, 0.3]])
    away = 0.001 - closed
    return np.concatenate(
        [np.column_stack([np.full(4, x), square[:, 0], square[:, 1] + lifted]) for x in (-away, 0.1 + away)]
    )


def _gripper() -> Iterable[Row]:
    """Close in ten steps on a box on the ground, lift it, and hold it."""
    case, closing, lifting, holding = "carried_gripper", 10, 40, 60
    triangles = np.array([[0, 1, 2], [0, 2, 3]])

    def walls(k: int) -> np.ndarray:
        done = k + 1
        return _walls(0.001 + CLOSE * min(done / closing, 1.0), LIFT * min(max(done - closing, 0), lifting))

    def places(k: int) -> np.ndarray:
        return np.concatenate([plate(0.0)[0], walls(k)])

    first = _walls(0.0, 0.0)
    colliders = [plate(0.0), (first[:4], triangles), (first[4:], triangles)]
    scene = Scene([box((0.0, -0.05, 0.0028))], colliders, 0.5, places=places, settings=TIGHT)
    seen = watch(scene, closing + lifting + holding, H, "mixed_fem")
    speeds, slip = _speeds(seen)[:, 2], seen.meeting.barrier.eps_v
    yield row(case, "frames with a crossing", seen.crossed, "", at_most=0)
    yield row(case, "steps that did not settle", _unsettled(seen), "", at_most=0)
    yield row(case, "iterations a step", float(seen.iterations.mean()))
    for words, begin, end, speed in (
        ("lifted", closing + 20, closing + lifting, LIFT / H),
        ("held", closing + lifting + 20, closing + lifting + holding, 0.0),
    ):
        carried = 1.0 + np.diff(speeds[begin : end + 1]) / H / EARTH
        yield row(case, f"friction over the weight, {words}, mean", float(carried.mean()))
        yield row(case, f"off the weight, {words}, most", float(np.abs(carried - 1.0).max()), "", at_most=0.01)
        faster = float(np.abs(speeds[begin : end + 1] - speed).max() / slip)
        yield row(case, f"slip over the slip at rest, {words}", faster, "", at_most=1.0)
