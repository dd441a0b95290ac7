"""Error of a matched coarse body under a load, measured in a trial simulation before a bake.

The error is relative to the finer body under the same load. The trial is needed because vibrations about the rest shape
predict small movements only. Example: in a subspace of 8 modes, a boat with correct vibrations moved by a fifth of its
size. The error was 21 % of the movement, where the vibrations had predicted 6 %.

One load excites the slowest vibrations of any body, also of a free one. The other loads accelerate a pinned body along
its axes, as gravity does (:func:`trial_loads`). A uniformly stiffer body moves through the same displacements in less
time, so its trial needs no new simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.linalg import LinAlgError

from ...foundation.errors import DivergenceError, FactorizationError
from ...foundation.progress import OnProgress, ignore_progress
from ...foundation.schema.settings import SolverSettings
from ...mechanics.forces.acceleration_field import AccelerationField
from ...mechanics.forces.step_potential import Load
from ..model.model import Model
from ..solvers import make_solver
from ..subspaces.space import Space
from .error_estimate import Estimate
from .matching import CLUSTER, Pairs, Spectra, pair
from .methods import MatchMethod
from .vibrations import Springs, Vibrations, rigid_count, vibrations

PUSHING, BESIDE = 4, 6
"""PUSHING: number of slowest vibrations that the load excites, each by an equal force. BESIDE: number of further
vibrations to compute, since the last cluster of equal eigenvalues may extend beyond the first PUSHING vibrations.
"""

BENT = 0.1
"""Largest displacement in linear statics under the load, divided by the body's size.

The load is scaled to this displacement. Displacements in the trial simulation are 1.5 times as large.
"""

STEPS = 16
"""Time steps per period of the slowest vibration."""

SLOWEST, TURNING, THIN, LONG = "slowest", "turning", "thin", "long"
"""Names of the loads (:func:`trial_loads`)."""

SLENDER = 2.0
"""Ratio of the longest side to the second longest above which a body is slender."""

MORE = 4
"""Number of vibrations that trials match beyond :func:`.error_estimate.sufficient_mode_count`."""

ITERATIONS = 100
"""Largest number of iterations of a step: trial simulations are comparable only if their steps converge."""

NEARER, WORSE = 0.8, 0.005
"""Conditions under which a match is accepted.

NEARER: largest error of a body matched to another mesh, relative to its error without a match. WORSE: largest increase
of the error under any load, relative to the movement.
"""

COSTLIER_GAIN = 0.03
"""Least reduction of the error, relative to the movement, for which a method with costlier steps is chosen."""


class ReferenceTrajectory(NamedTuple):
    """Trial simulation of the finer body in its full space.

    ``push`` (n,3) N: constant load. ``eigenvalue``, 1/s²: slowest vibration. ``displacements`` (steps+1,n,3) m,
    float32. A period of the slowest vibration has STEPS time steps.
    """

    push: np.ndarray
    eigenvalue: float
    displacements: np.ndarray

    @property
    def step(self) -> float:
        """Time step of the trial simulation, s."""
        return 2.0 * np.pi / np.sqrt(self.eigenvalue) / STEPS

    def stiffer(self, by: float) -> ReferenceTrajectory:
        """Return the trial simulation of a body that is ``by`` times as stiff.

        The displacements are the same. The load and the eigenvalue are ``by`` times as large.
        """
        return self._replace(push=by * self.push, eigenvalue=by * self.eigenvalue)


def reference_trajectory(
    model: Model,
    holding_loads: Sequence[Load],
    on_progress: OnProgress = ignore_progress,
    swings: int = 1,
    load: str = SLOWEST,
) -> ReferenceTrajectory:
    """Simulate a model in its full space under a constant load.

    ``swings``: duration, in periods of the slowest vibration. ``load``: one of the names in :func:`trial_loads`.
    ``holding_loads``: additional loads that hold the body, such as springs of pins. Raises DivergenceError if positions
    are not finite.
    """
    rigid = rigid_count(model)
    found = vibrations(model, rigid + PUSHING + BESIDE).after(rigid, PUSHING + BESIDE)
    slowest = float(found.eigenvalues[0])
    pushing = _slowest(found) if load == SLOWEST else _accelerations(model, load, bool(rigid))
    if rigid:  # so that a free body bends without rigid motion
        pushing = np.tensordot(np.tensordot(found.modes, model.mass @ pushing), found.modes, axes=1)
    push = model.mass @ pushing
    bend = np.tensordot(np.tensordot(found.modes, push) / found.eigenvalues, found.modes, axes=1)
    push *= BENT * model.size / np.linalg.norm(bend, axis=1).max()
    swing = ReferenceTrajectory(push, slowest, np.zeros((swings * STEPS + 1, *push.shape)))
    moved = _moved(model, swing, push, holding_loads, "mixed_fem", on_progress)
    return swing._replace(displacements=(moved - moved[0]).astype(np.float32))


def trial_loads(is_free: bool, sides: np.ndarray) -> tuple[str, ...]:
    """Return the names of the loads of trial simulations between two meshes.

    ``is_free``: True if the body has no pins. ``sides`` (3,), m: sides of the bounding box.

    - SLOWEST excites the slowest vibrations alone.
    - TURNING accelerates the body across its longest side and turns the body about this side. A free body is bent and
      twisted instead.
    - THIN and LONG accelerate the body along its shortest and its longest side. LONG is left out for slender bodies,
      which yield little in that direction.
    """
    if is_free:
        return SLOWEST, TURNING
    _, middle, long = np.sort(sides)
    return (TURNING, THIN, LONG) if long < SLENDER * middle else (TURNING, THIN)


def _slowest(found: Vibrations) -> np.ndarray:
    """Return the accelerations (n,3) that excite each of the slowest vibrations by an equal force.

    Round-off determines the signs of modes, and the basis of a cluster of equal eigenvalues. A fixed random field is
    therefore projected onto the modes of each cluster.
    """
    new = found.eigenvalues[1:] >= CLUSTER * found.eigenvalues[:-1]
    ends = np.append(np.flatnonzero(new) + 1, len(found.modes))
    count = int(ends[ends >= min(PUSHING, ends[-1])][0])
    cluster = np.append(0, np.cumsum(new[: count - 1]))
    field = np.random.default_rng(0).standard_normal(found.modes.shape[1:])
    parts = np.tensordot(found.modes[:count], field)
    parts *= np.sqrt(np.bincount(cluster) / np.bincount(cluster, parts**2))[cluster]
    return np.tensordot(parts, found.modes[:count], axes=1)


def _accelerations(model: Model, load: str, is_free: bool) -> np.ndarray:
    """Return the accelerations (n,3), without unit, of the load TURNING, THIN or LONG."""
    X = model.mesh.rest_positions - model.mesh.rest_positions.mean(axis=0)
    thin, middle, long = np.eye(3)[np.argsort((np.ptp(X, axis=0) / model.size).round(6), kind="stable")]
    if load != TURNING:
        return np.tile(thin if load == THIN else long, (len(X), 1))
    along = (X @ long)[:, None] * 2.0 / model.size if is_free else 1.0
    return along**2 * (middle + 0.5 * thin) + along * np.cross(long, X) * 2.0 / model.size


class ErrorTest:
    """Comparison of a coarse body with a finer one in trial simulations.

    Parameters
    ----------
    swings : reference simulations of the finer body, one per load
    space : space of the coarse body, unmatched, with r unknowns
    holding_loads : two lists of additional loads that hold the coarse body, such as springs of pins: the first list for
        the unmatched body, the second for the matched body
    lift : (f,r) interpolation from the space's unknowns to the finer body's f vertices
    surface : two interpolations to the s surface points where errors are measured: (s,f) from the finer body's
        vertices, and (s,r) from the space's unknowns; None: errors are measured at the finer body's vertices
    """

    def __init__(
        self,
        swings: Sequence[ReferenceTrajectory],
        space: Space,
        holding_loads: tuple[Sequence[Load], Sequence[Load]],
        lift: np.ndarray | sp.csr_matrix,
        surface: tuple[sp.csr_matrix, np.ndarray | sp.csr_matrix] | None = None,
    ) -> None:
        self._swings, self._space, self._held = swings, space, holding_loads
        self._pushed = [lift.T @ swing.push for swing in swings]
        finer, self._surface = surface or (None, lift)
        self._right = [[u if finer is None else finer @ u for u in swing.displacements] for swing in swings]
        self._plain: list[float] = []

    def error_of(self, matching: MatchMethod | None = None) -> float:
        """Return the largest error of the body over all loads.

        The error is the largest distance of any point from its reference position at any time, divided by the largest
        reference displacement. ``matching``: the match to test; None: the unmatched body.
        """
        return max(self._errors(matching))

    def estimates(self, matching: MatchMethod) -> list[Estimate]:
        """Return the measured errors without a match and with the match ``matching``.

        Each load has an entry for the whole trial. If the trial lasts several periods of the slowest vibration, an
        entry for the first half period comes before.
        """
        return [Estimate(*each) for each in zip(self._errors(None), self._errors(matching), strict=True)]

    def _errors(self, matching: MatchMethod | None) -> list[float]:
        if matching is None and self._plain:
            return self._plain
        space, loads = self._space, list(self._held[matching is not None])
        if matching is not None:
            load = matching.load(np.ones(len(space.elastic.weights)))
            loads += [] if load is None else [load]
            if matching.stiffness is not None:
                space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
        solver = _solver_of(space, matching)
        off = [each for k in range(len(self._swings)) for each in self._errors_of_load(k, space, loads, solver)]
        if matching is None:
            self._plain = off
        return off

    def _errors_of_load(self, k: int, space: Space, loads: Sequence[Load], solver: str) -> list[float]:
        right = self._right[k]
        durations = (STEPS // 2 + 1, len(right)) if len(right) > STEPS + 1 else (len(right),)
        try:
            moved = _moved(space, self._swings[k], self._pushed[k], loads, solver)
        except (DivergenceError, FactorizationError, LinAlgError):
            return [np.inf] * len(durations)
        changes = moved - moved[0]
        apart = [np.linalg.norm(self._surface @ u - x, axis=1).max() for u, x in zip(changes, right, strict=True)]
        swing = max(np.linalg.norm(x, axis=1).max() for x in right)
        return [float(max(apart[:steps]) / swing) for steps in durations]


def is_improvement(off: Sequence[Estimate], is_one_mesh: bool) -> bool:
    """Return True if the measured errors justify a match.

    ``off``: result of :meth:`ErrorTest.estimates`. The match must not increase an error by more than WORSE. Between two
    different meshes, the largest matched error must also be less than NEARER times the largest unmatched error.
    """
    if any(matched > plain + WORSE for plain, matched in off):
        return False
    return is_one_mesh or max(each.matched for each in off) < NEARER * max(each.plain for each in off)


def choices(spectra: Spectra, count: int, is_set: bool) -> list[Pairs]:
    """Return one or two candidate sets of paired modes.

    The first set pairs the lowest ``count`` modes. The second set also pairs the next MORE modes. The second set is
    left out if it has no more pairs than the first, if the spectra have too few modes, or if the user has set ``count``
    (``is_set``).
    """
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
    """Return the best match among those of several ``methods``.

    The methods are ordered by their cost per step. ``off`` measures the error of a match; without ``off``, the first
    method is chosen. A costlier method is chosen only if it reduces the error by more than COSTLIER_GAIN.

    In a subspace, a method with several ``variants`` is tried with each variant and each set of ``pairs``. In all other
    cases a method is tried only with its first variant and the first set.
    """
    if off is None:
        return methods[0](space, spectra, pairs[0], springs)
    best, least = None, np.inf
    for method in methods:
        several = space.is_reduced and len(method.variants) > 1
        made = (
            method(space, spectra, each, springs, *variant)
            for each in (pairs if several else pairs[:1])
            for variant in (method.variants if several else method.variants[:1])
        )
        # Rounded, so that a bake that continues on another machine makes the same choice.
        tried = ((each, round(min(off(each), 1e3), 3)) for each in made)
        found, far = min(tried, key=lambda each: each[1])
        if best is None or far < least - COSTLIER_GAIN:
            best, least = found, far
        if least <= COSTLIER_GAIN:
            break
    return best


def _solver_of(space: Space, matching: MatchMethod | None) -> str:
    if matching is not None and matching.of_positions:
        return "subspace_fem" if space.is_reduced else "newton"
    return "subspace_mixed_fem" if space.is_reduced else "mixed_fem"


def _moved(
    space: Space,
    swing: ReferenceTrajectory,
    push: np.ndarray,
    loads: Sequence[Load],
    solver: str,
    on_progress: OnProgress = ignore_progress,
) -> np.ndarray:
    """Simulate a space from rest under a load ``push`` (r,3) N, and return the unknowns (steps+1,r,3)."""
    # BDF2, since implicit Euler damps steps this long: it gave an error of 8 % for a body with 13 %.
    settings = SolverSettings(gravity=(0.0, 0.0, 0.0), max_iterations=ITERATIONS, solver=solver, integrator="bdf2")
    stepper, state = make_solver(space, settings), space.rest_state()
    pins, acting, seen = state.positions[space.pinned], (AccelerationField(push), *loads), [state.positions]
    steps = len(swing.displacements) - 1
    for k in range(steps):
        on_progress(k / steps)
        state, _report = stepper.step(state, pins, swing.step, acting)
        seen.append(state.positions)
    return np.array(seen)
