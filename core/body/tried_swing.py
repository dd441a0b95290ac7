"""How far off a matched body swings, tried before anything is baked: the finer one makes the same swing.

Vibrations at rest tell what a small movement comes to. In a movement of a fifth of the size a boat in 8 modes whose
vibrations were right was off by 21 % of it, where 6 had been told. The push is made of the slowest vibrations, so that
any body has one, free ones too; what it does is the same for a body that is stiffer throughout, but for its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.linalg import LinAlgError

from ..eigenfit.estimate import Estimate
from ..eigenfit.matching import CLUSTER, Pairs, Spectra, pair
from ..eigenfit.methods import MatchMethod
from ..eigenfit.vibrations import Springs, Vibrations, rigid_count, vibrations
from ..errors import DivergenceError, FactorizationError
from ..forces.acceleration_field import AccelerationField
from ..forces.step_potential import Load
from ..model.model import Model
from ..progress import OnProgress, ignore_progress
from ..settings import SolverSettings
from ..solvers import make_solver
from ..subspaces.space import Space

PUSHING, BESIDE = 4, 6
"""Number of the slowest vibrations that make the push, each by as large a force, and of more that are found, since the
push takes clusters whole.
"""

BENT = 0.1
"""Of the size, by which the push would bend the body, were it linear: it overshoots to half as much again."""

STEPS = 16
"""A swing of the slowest vibration."""

MORE = 4
"""Vibrations beyond the fewest that suffice by what rest tells of them."""

ITERATIONS = 100
"""Of a step at most: what is compared is to have converged."""


NEARER = 0.8
"""Of what a plain body is off, from which a matched one is taken: another push may serve the plain one better."""


class Swing(NamedTuple):
    """``push`` (n,3) N, at ``eigenvalue``, 1/s², of the slowest vibration; ``displacements`` (steps+1,n,3) m, float32,
    as they are kept, in STEPS a swing of it.
    """

    push: np.ndarray
    eigenvalue: float
    displacements: np.ndarray

    @property
    def step(self) -> float:
        """s."""
        return 2.0 * np.pi / np.sqrt(self.eigenvalue) / STEPS

    def stiffer(self, by: float) -> Swing:
        """That of a body which is so many times as stiff."""
        return self._replace(push=by * self.push, eigenvalue=by * self.eigenvalue)


def whole_swing(
    model: Model, held: Sequence[Load], on_progress: OnProgress = ignore_progress, swings: int = 1
) -> Swing:
    """How all vertices of a model swing, so many times, which loads hold beside its pins; DivergenceError where they
    come to no numbers.
    """
    rigid = rigid_count(model)
    found = vibrations(model, rigid + PUSHING + BESIDE).after(rigid, PUSHING + BESIDE)
    parts, slowest = _parts(found), float(found.eigenvalues[0])
    modes, eigenvalues = found.modes[: len(parts)], found.eigenvalues[: len(parts)]
    bend = np.tensordot(slowest / eigenvalues * parts, modes, axes=1)
    push = slowest * (model.mass @ np.tensordot(parts, modes, axes=1))
    push *= BENT * model.size / np.linalg.norm(bend, axis=1).max()
    swing = Swing(push, slowest, np.zeros((swings * STEPS + 1, *push.shape)))
    moved = _moved(model, swing, push, held, "mixed_fem", on_progress)
    return swing._replace(displacements=(moved - moved[0]).astype(np.float32))


def _parts(found: Vibrations) -> np.ndarray:
    """Factors (k,) of the modes in the push. The modes of equal eigenvalues, and the sign of any mode, are a matter of
    round-off: each cluster is pushed along the projection of a fixed random field, which depends on neither.
    """
    new = found.eigenvalues[1:] >= CLUSTER * found.eigenvalues[:-1]
    ends = np.append(np.flatnonzero(new) + 1, len(found.modes))
    count = int(ends[ends >= min(PUSHING, ends[-1])][0])
    cluster = np.append(0, np.cumsum(new[: count - 1]))
    field = np.random.default_rng(0).standard_normal(found.modes.shape[1:])
    parts = np.tensordot(found.modes[:count], field)
    return parts * np.sqrt(np.bincount(cluster) / np.bincount(cluster, parts**2))[cluster]


class Trial:
    """What swings of a space are held against.

    Parameters
    ----------
    swing : of a finer body
    space : the space, plain; held : what holds it beside its pins, without a match and with one
    lift : (f,r), what the finer body's vertices move by where the space's unknowns do
    surface : (s,f), (s,r), what the points of the surface move by; None where they are the finer body's vertices
    """

    def __init__(
        self,
        swing: Swing,
        space: Space,
        held: tuple[Sequence[Load], Sequence[Load]],
        lift: np.ndarray | sp.csr_matrix,
        surface: tuple[sp.csr_matrix, np.ndarray | sp.csr_matrix] | None = None,
    ) -> None:
        self._swing, self._space, self._held = swing, space, held
        self._pushed = lift.T @ swing.push
        finer, self._surface = surface or (None, lift)
        self._right = [u if finer is None else finer @ u for u in swing.displacements]
        self._reach = max(np.linalg.norm(u, axis=1).max() for u in self._right)
        self._plain: float | None = None

    def off(self, matching: MatchMethod | None = None) -> float:
        """Of the farthest movement, by how much a vertex is off at most."""
        if matching is None and self._plain is not None:
            return self._plain
        space, loads = self._space, list(self._held[matching is not None])
        if matching is not None:
            load = matching.load(np.ones(len(space.elastic.weights)))
            loads += [] if load is None else [load]
            if matching.stiffness is not None:
                space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
        try:
            moved = _moved(space, self._swing, self._pushed, loads, _solver_of(space, matching))
        except (DivergenceError, FactorizationError, LinAlgError):
            return np.inf
        changes = zip(moved - moved[0], self._right, strict=True)
        off = float(max(np.linalg.norm(self._surface @ u - x, axis=1).max() for u, x in changes) / self._reach)
        if matching is None:
            self._plain = off
        return off

    def estimate(self, matching: MatchMethod) -> Estimate:
        """How far off it is, plain and by a match."""
        return Estimate(self.off(), self.off(matching))


def choices(spectra: Spectra, count: int, is_set: bool) -> list[Pairs]:
    """Of the lowest ``count`` modes, and where that number is not ``is_set``, of some more, which may be better."""
    few, more = pair(spectra, count), count + MORE
    is_more = not is_set and more < len(spectra.coarse) and len(pair(spectra, more).coarse) > len(few.coarse)
    return [few, pair(spectra, more)] if is_more else [few]


def best_match(
    methods: Sequence[type[MatchMethod]],
    space: Space,
    spectra: Spectra,
    pairs: Sequence[Pairs],
    springs: Springs | None = None,
    off: Callable[[MatchMethod], float] | None = None,
) -> MatchMethod:
    """What the first method makes of the first choice of pairs; where ``off`` tells how far off a match is, the best of
    what all methods make, in a subspace by each of their ways and with each of the pairs, where there are several ways.
    To a thousandth of the movement: by less none is better, and a bake that is resumed elsewhere is to choose the same.
    """
    if off is None:
        return methods[0](space, spectra, pairs[0], springs)
    made = (
        method(space, spectra, each, springs, *way)
        for method in methods
        for each in (pairs if space.is_reduced and len(method.ways) > 1 else pairs[:1])
        for way in (method.ways if space.is_reduced else method.ways[:1])
    )
    return min(made, key=lambda match: round(min(off(match), 1e3), 3))


def _solver_of(space: Space, matching: MatchMethod | None) -> str:
    if matching is not None and matching.of_positions:
        return "subspace_fem" if space.is_reduced else "newton"
    return "subspace_mixed_fem" if space.is_reduced else "mixed_fem"


def _moved(
    space: Space,
    swing: Swing,
    push: np.ndarray,
    loads: Sequence[Load],
    solver: str,
    on_progress: OnProgress = ignore_progress,
) -> np.ndarray:
    """Unknowns (steps+1,r,3) of a space at rest that is pushed, in a swing's steps."""
    # BDF2, since implicit Euler calms so long steps: of a body that a swing later is off by 13 % it told 8.
    settings = SolverSettings(gravity=(0.0, 0.0, 0.0), max_iterations=ITERATIONS, solver=solver, integrator="bdf2")
    stepper, state = make_solver(space, settings), space.rest_state()
    pins, acting, seen = state.positions[space.pinned], (AccelerationField(push), *loads), [state.positions]
    steps = len(swing.displacements) - 1
    for k in range(steps):
        on_progress(k / steps)
        state, _report = stepper.step(state, pins, swing.step, acting)
        seen.append(state.positions)
    return np.array(seen)
