"""Islands: groups of bodies that can touch within a step. Each island is solved as one system.

A step begins with the islands of the predicted motion: two bodies belong to one island if faces of both come within
reach of each other on straight displacements to the predicted positions. The *reach* is the largest distance at which
contact forces act. Each island is solved with its own iterations, line search and friction. Then the solved
displacements are checked. If bodies of different islands came within reach of each other, their islands are joined, and
the step of the joined island is solved again from its start. So bodies of different islands never cross in an accepted
step: their surfaces stay out of each other's reach on the straight displacements of the step.

A collider does not couple the bodies that it touches, unless it was blocked. Then all bodies within its reach have to
collide with it at the position where it stopped.

The islands depend only on the state at the start of a step, so a resumed bake has identical islands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...contact.barrier.barrier_set import BarrierSet
from ...contact.barrier.contact_load import ContactLoad
from ...mechanics.forces.step_potential import Load
from ...methods.model.state import State
from ...methods.solvers.protocol import Solver
from ...methods.subspaces.space import Space
from ...numerics.optimization.step_report import StepReport

Bodies = tuple[int, ...]
"""Indices of the bodies of an island, ascending."""


@dataclass
class Island:
    """Bodies that are solved as one system.

    Attributes
    ----------
    space : merged space with the unknowns of all these bodies
    solver : solver of these bodies
    meeting : contact load of these bodies
    """

    space: Space
    solver: Solver
    meeting: ContactLoad

    @property
    def loads(self) -> tuple[Load, ...]:
        """Tuple with the contact load of the island, or an empty tuple.

        Without contact pairs the contact load has no forces, but still limits steps so that no element inverts. The
        load is left out if, in addition, no elastic energy of the island requires this limit.
        """
        return (self.meeting,) if self.meeting.barrier.parts or self.space.elastic.prevents_inversion else ()


class IslandSolution(NamedTuple):
    """Result of a step of an island.

    Attributes
    ----------
    states : the state of each body
    report : the solver's report
    collider_positions : (c,3), m, vertices of all colliders at the end of the step
    """

    states: list[State]
    report: StepReport
    collider_positions: np.ndarray


class Sweep(NamedTuple):
    """Motion of all surface vertices in a step.

    The vertices of the bodies come first, then those of the colliders.

    Attributes
    ----------
    start : (s,3), m, positions at the start of the step
    body : (s,), index of the body or collider of each vertex
    targets : (c,3), m, prescribed positions of the colliders' vertices at the end of the step
    """

    start: np.ndarray
    body: np.ndarray
    targets: np.ndarray

    @property
    def moving(self) -> np.ndarray:
        """Indices of the colliders that move in the step, counted after the bodies."""
        colliders = slice(len(self.start) - len(self.targets), None)
        return np.unique(self.body[colliders][(self.start[colliders] != self.targets).any(axis=1)])


def solve_islands(
    barriers: BarrierSet,
    surfaces: Sweep,
    predicted: Sequence[np.ndarray],
    surface_at: Callable[[int, np.ndarray], np.ndarray],
    solve: Callable[[Bodies], IslandSolution],
    tied: set[tuple[int, int]] = frozenset(),
) -> tuple[dict[Bodies, IslandSolution], np.ndarray]:
    """Return the solution of each island in a step, and the final positions of the colliders.

    The positions are those of the colliders' vertices at the end of the step, (c,3), m.

    Parameters
    ----------
    barriers : IPC barriers of all bodies and colliders
    surfaces : motion of the surface vertices
    predicted : for each body, the predicted surface vertices at the end of the step, (s,3), m
    surface_at : function that returns a body's surface vertices (s,3), m, given its index and its unknowns (r,3)
    solve : function that returns the solution of the step for an island, given the indices of its bodies
    tied : pairs of indices of bodies that are always in one island
    """
    count = len(predicted)
    apart = np.full(int(surfaces.body.max()) + 1, -1)
    apart[:count] = np.arange(count)
    ahead = np.concatenate([*predicted, surfaces.targets])
    islands = merge_islands([(k,) for k in range(count)], barriers.near_pairs(surfaces.start, ahead, apart) | tied)
    solved: dict[Bodies, IslandSolution] = {}
    while True:
        solved = {bodies: solved.get(bodies) or solve(bodies) for bodies in islands}
        if len(islands) == 1:
            return solved, solved[islands[0]].collider_positions
        ends = {k: state for bodies, each in solved.items() for k, state in zip(bodies, each.states)}
        end = np.concatenate([*(surface_at(k, ends[k].positions) for k in range(count)), surfaces.targets])
        pairs, positions = _coupled(barriers, surfaces, end, solved)
        if not pairs:
            return solved, positions
        islands = merge_islands(islands, pairs)


def merge_islands(islands: Sequence[Bodies], pairs: set[tuple[int, int]]) -> list[Bodies]:
    """Return the islands after joining all islands that pairs of bodies connect.

    The islands are ordered by their first body. ``pairs``: pairs of indices of bodies.
    """
    links = np.array([*((each[0], k) for each in islands for k in each), *pairs])
    count = sum(map(len, islands))
    graph = sp.coo_matrix((np.ones(len(links)), tuple(links.T)), (count, count))
    number = connected_components(graph, directed=False)[1]
    return [tuple(np.flatnonzero(number == k).tolist()) for k in dict.fromkeys(number.tolist())]


def _coupled(
    barriers: BarrierSet, surfaces: Sweep, end: np.ndarray, solved: dict[Bodies, IslandSolution]
) -> tuple[set[tuple[int, int]], np.ndarray]:
    """Return the pairs of bodies from different islands that may collide in a step, and positions of the colliders.

    An island is a group of bodies that are solved together. The pairs are found on straight paths from the
    ``surfaces`` at the start of the step to the positions ``end`` (s,3), m. If a body has blocked a moving collider,
    all bodies that may collide with the collider are paired, too. The second result (c,3), m, holds the positions of
    all colliders' vertices at the end of the step.
    """
    of_body = {k: bodies for bodies in solved for k in bodies}
    number = np.full(int(surfaces.body.max()) + 1, -1)
    for island, bodies in enumerate(solved):
        number[list(bodies)] = island
    moving = surfaces.moving
    number[moving] = len(solved) + np.arange(len(moving))
    near = barriers.near_pairs(surfaces.start, end, number)
    pairs = {(a, b) for a, b in near if b < len(of_body)}
    positions, owner = surfaces.targets.copy(), surfaces.body[len(surfaces.body) - len(surfaces.targets) :]
    for collider in moving:
        reached = sorted(a for a, b in near if b == collider)
        if any(solved[of_body[k]].report.blocked for k in reached):
            pairs |= {(reached[0], k) for k in reached if of_body[k] != of_body[reached[0]]}
        if reached:
            own = owner == collider
            positions[own] = solved[of_body[reached[0]]].collider_positions[own]
    return pairs, positions
