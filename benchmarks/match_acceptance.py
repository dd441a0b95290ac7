"""Predicted and measured errors of a matched subspace that moves, compared with the paper's acceptance tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..core.methods.eigenfit.error_estimate import Estimate
from ..core.methods.eigenfit.matching import Matching
from ..core.methods.eigenfit.vibrations import reduced_vibrations, rigid_count, vibrations
from ..core.methods.model.model import Model
from ..core.methods.subspaces.reduced_model import ReducedModel
from .published_acceptance import HALF, alike
from .registry import Row, row

FIXED = 10
"""Modes that the paper matches."""
SHAPE = 0.1
"""Fraction of the size by which modes are displaced to compare their shapes; half of it separates different ones."""
PUSHED_OTHERWISE = 4.0
"""Factor within which the predicted error must hold for another push, for two swings."""
LOOKED_AT = 10
"""Interval, in steps, at which modes are compared with those at rest."""


class Matched(NamedTuple):
    """Motion of a body in its subspace: unknowns (k,r,3), ``errors`` of them and of the plain motion, %."""

    model: Model
    space: ReducedModel
    matching: Matching
    unknowns: np.ndarray
    errors: tuple[float, float]


def told(case: str, what: str, body: Matched, expected: Estimate, error_of: Callable[[int], float]) -> Iterable[Row]:
    """Compare the ``expected`` error, reported before a bake, with the measured ones; ``error_of`` returns the error
    with a number of the lowest modes matched.
    """
    spectra, chosen = body.matching.spectra, len(body.matching.pairs.shares)
    yield row(case, f"{what}: modes, chosen", chosen)
    yield row(case, f"{what}: error, {FIXED} matched", error_of(FIXED), "%")
    shapes = _like_shapes(body)
    yield row(case, f"{what}: modes, by the Hausdorff distance of shapes", shapes)
    if shapes:
        yield row(case, f"{what}: error, those matched", error_of(shapes), "%")
    for words, measured, part in zip(("matched", "plain"), body.errors, expected[::-1]):
        yield row(case, f"{what}: error expected, {words}", 100.0 * part, "%")
        times = max(measured / (100.0 * part), 100.0 * part / measured)
        yield row(case, f"{what}: off from that by a factor, {words}", times, "", at_most=PUSHED_OTHERWISE)
    load = body.matching.load(np.ones(len(body.space.elastic.weights)))
    taken = max(load.energy_fraction_removed(body.space.elastic, u) for u in body.unknowns)
    yield row(case, f"{what}: most that the match takes, of what is safe", taken, "", at_most=1.0)
    at_rest = alike(spectra.overlap[:chosen, :chosen])
    yield row(case, f"{what}: coarse and fine modes alike (Sec. 3.5)", at_rest, "", at_least=HALF)
    moving = min(alike(_products(body, u, chosen)) for u in body.unknowns[::LOOKED_AT])
    yield row(case, f"{what}: current and rest modes alike (Sec. 3.5)", moving, "", at_least=HALF)


def _like_shapes(body: Matched) -> int:
    """Return the number of lowest modes whose shape is close to that of the fine mode of the same number."""
    rest, size = body.model.mesh.rest_positions, body.model.size
    rigid, coarse = rigid_count(body.model), body.matching.spectra.modes
    fine = vibrations(body.model, rigid + len(coarse)).after(rigid, len(coarse)).modes
    for k, (u, v) in enumerate(zip(coarse, fine)):
        u, v = (each * SHAPE * size / np.linalg.norm(each, axis=1).max() for each in (body.space.basis @ u, v))
        if min(_hausdorff(rest + u, rest + sign * v) for sign in (1.0, -1.0)) > 0.5 * SHAPE * size:
            return k
    return len(coarse)


def _hausdorff(a: np.ndarray, b: np.ndarray) -> float:
    """Return the Hausdorff distance of two point sets, m."""
    return max(cKDTree(one).query(other)[0].max() for one, other in ((a, b), (b, a)))


def _products(body: Matched, unknowns: np.ndarray, count: int) -> np.ndarray:
    """Return the mass products of the modes at unknowns (r,3) and those at rest, without rigid ones, (s,s)."""
    elastic, rigid = body.space.elastic, rigid_count(body.model)
    tangent = elastic.tangent(elastic.deformation(unknowns))
    current = reduced_vibrations(body.space, None, rigid + count, tangent).after(rigid, count).modes
    weighed = np.array([body.space.mass @ u for u in body.matching.spectra.modes[:count]])
    return current.reshape(len(current), -1) @ weighed.reshape(len(weighed), -1).T
