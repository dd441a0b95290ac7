"""How far off a body in its subspace swings, tried before anything is baked: one swing, that all its vertices make too.

Vibrations at rest tell what a small movement comes to. In a movement of a fifth of the size a boat in 8 modes whose
vibrations were right was off by 21 % of it, where 6 had been told. The push is made of the slowest vibrations, so that
any body has one, free ones too; what it does is the same for a body that is stiffer throughout, but for its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from ..eigenfit.estimate import Estimate
from ..eigenfit.matching import Pairs, Spectra, pair
from ..eigenfit.methods import MatchMethod
from ..eigenfit.vibrations import Springs, rigid_count, vibrations
from ..errors import DivergenceError, FactorizationError
from ..forces.acceleration_field import AccelerationField
from ..forces.step_potential import Load
from ..model.model import Model
from ..progress import OnProgress, ignore_progress
from ..settings import SolverSettings
from ..solvers import make_solver
from ..subspaces.reduced_model import ReducedModel
from ..subspaces.space import Space

PUSHING = 4
"""Of the slowest vibrations, that make the push, each by as large a force."""

BENT = 0.1
"""Of the size, by which the push would bend the body, were it linear: it overshoots to half as much again."""

STEPS = 16
"""A swing of the slowest vibration."""

MORE = 4
"""Vibrations beyond the fewest that suffice by what rest tells of them."""

ITERATIONS = 100
"""Of a step at most: what is compared is to have converged."""


class Swing(NamedTuple):
    """``push`` (n,3) N, at ``eigenvalue``, 1/s², of the slowest vibration; ``displacements`` (steps+1,n,3) m, float32,
    as they are kept.
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


def whole_swing(model: Model, held: Sequence[Load], on_progress: OnProgress = ignore_progress) -> Swing:
    """How all vertices of a model swing, which loads hold beside its pins; DivergenceError where they come to no
    numbers.
    """
    rigid = rigid_count(model)
    found = vibrations(model, rigid + PUSHING).after(rigid, PUSHING)
    modes = [u * np.sign(u.flat[np.argmax(np.abs(u))]) for u in found.modes]
    slowest = float(found.eigenvalues[0])
    bend = np.tensordot(slowest / found.eigenvalues, modes, axes=1)
    push = slowest * (model.mass @ np.sum(modes, axis=0))
    push *= BENT * model.size / np.linalg.norm(bend, axis=1).max()
    swing = Swing(push, slowest, np.zeros((STEPS + 1, *push.shape)))
    moved = _moved(model, swing, push, held, "mixed_fem", on_progress)
    return swing._replace(displacements=(moved - moved[0]).astype(np.float32))


class Trial:
    """What swings of a subspace are held against.

    Parameters
    ----------
    swing : of all vertices
    space : the subspace, plain; held : what holds it beside its pins
    """

    def __init__(self, swing: Swing, space: ReducedModel, held: Sequence[Load]) -> None:
        self._swing, self._space, self._held = swing, space, held
        self._pushed = space.basis.T @ swing.push
        self._reach = np.linalg.norm(swing.displacements, axis=2).max()

    def off(self, matching: MatchMethod | None = None) -> float:
        """Of the farthest movement, by how much a vertex is off at most."""
        space, loads = self._space, list(self._held)
        if matching is not None:
            load = matching.load(np.ones(len(space.elastic.weights)))
            loads += [] if load is None else [load]
            if matching.stiffness is not None:
                space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
        try:
            moved = _moved(space, self._swing, self._pushed, loads, _solver_of(matching))
        except (DivergenceError, FactorizationError, LinAlgError):
            return np.inf
        apart = (np.linalg.norm(space.basis @ u - x, axis=1).max() for u, x in zip(moved, self._swing.displacements))
        return float(max(apart) / self._reach)

    def estimate(self, matching: MatchMethod) -> Estimate:
        """How far off it is, plain and by a match."""
        return Estimate(self.off(), self.off(matching))


def choices(spectra: Spectra, count: int, is_set: bool) -> list[Pairs]:
    """Of the lowest ``count`` modes, and where that number is not ``is_set``, of some more, which may be better."""
    few, more = pair(spectra, count), count + MORE
    is_more = not is_set and more < len(spectra.coarse) and len(pair(spectra, more).coarse) > len(few.coarse)
    return [few, pair(spectra, more)] if is_more else [few]


def best_match(
    method: type[MatchMethod],
    space: Space,
    spectra: Spectra,
    pairs: Sequence[Pairs],
    springs: Springs | None = None,
    off: Callable[[MatchMethod], float] | None = None,
) -> MatchMethod:
    """What a method makes of the first choice of pairs; where it can go several ways, and ``off`` tells how far off a
    match is, the best of these with all of the pairs, to a thousandth of the movement: by less none is better, and a
    bake that is resumed elsewhere is to choose the same.
    """
    if off is None or len(method.ways) == 1:
        return method(space, spectra, pairs[0], springs)
    made = (method(space, spectra, each, springs, *way) for each in pairs for way in method.ways)
    return min(made, key=lambda match: round(min(off(match), 1e3), 3))


def _solver_of(matching: MatchMethod | None) -> str:
    return "subspace_fem" if matching is not None and matching.of_positions else "subspace_mixed_fem"


def _moved(
    space: Space,
    swing: Swing,
    push: np.ndarray,
    loads: Sequence[Load],
    solver: str,
    on_progress: OnProgress = ignore_progress,
) -> np.ndarray:
    """Unknowns (steps+1,r,3) of a space at rest that is pushed."""
    # BDF2, since implicit Euler calms so long steps: of a body that a swing later is off by 13 % it told 8.
    settings = SolverSettings(gravity=(0.0, 0.0, 0.0), max_iterations=ITERATIONS, solver=solver, integrator="bdf2")
    stepper, state = make_solver(space, settings), space.rest_state()
    pins, acting, seen = state.positions[space.pinned], (AccelerationField(push), *loads), [state.positions]
    for k in range(STEPS):
        on_progress(k / STEPS)
        state, _report = stepper.step(state, pins, swing.step, acting)
        seen.append(state.positions)
    return np.array(seen)
