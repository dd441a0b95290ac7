"""Contracted poses of subspaces against the full space, vibrations under cubature, and the cost of preparation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.linalg import eigh

from ...core.foundation.events import ignore
from ...core.jobs.job.job import Job
from ...core.methods.subspaces.cubature import every_tet
from ...core.methods.subspaces.reduced_model import ReducedModel, in_basis
from ...core.methods.subspaces.reduced_stiffness import symmetric
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..registry import Case, Row, row
from .arms import arm, bellies, posed

POSES = {"arm": (arm, ((0.3,), (0.7,), (1.0,))), "bellies": (bellies, ((0.7, 0.0), (0.0, 0.8), (0.75, 0.75)))}
"""Activations of the poses, which are not those of activation modes except for the last one of the arm."""
POINTS = {"all elements": 100_000, "chosen automatically": 0, "160 points": 160, "640 points": 640}
MOST = {"all elements": 3.0, "chosen automatically": 6.0, "640 points": 6.0}
"""Largest distance from the full space, % of the largest displacement."""
VIBRATIONS, OFF = 10, 10.0
"""Number of vibrations, and the largest error of their frequencies under cubature, %."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per body."""
    for name in POSES:
        yield Case(f"subspace_{name}", partial(_poses, name))


def _poses(name: str) -> Iterable[Row]:
    warm_up(ignore)
    case, (make, poses) = f"subspace_{name}", POSES[name]
    full, still = [], make(poses[0]).body.surface.positions
    for pose in poses:
        full.append(posed(make(pose), prepare(make(pose))))
    listed = " ".join(f"{np.linalg.norm(x - still, axis=1).max():.2f}" for x in full)
    yield row(case, "largest displacements at " + ", ".join(map(str, poses)), listed, "m")
    for words, points in POINTS.items():
        settings = {"solver": "subspace_mixed_fem", "cubature_points": points}
        start = time.perf_counter()
        prepared = prepare(make(poses[0], **settings))
        seconds = time.perf_counter() - start
        errors = _errors(make, poses, full, settings, prepared)
        count = len(prepared.subspace.parts.elements)
        for pose, error in zip(poses, errors, strict=True):
            yield row(case, f"{words} ({count}), {pose}: error", error, "%", at_most=MOST.get(words))
        yield row(case, f"{words}: preparation", seconds, "s")
        if words != "all elements":
            bar = OFF if words in MOST else None
            error = _frequency_error(prepared)
            yield row(case, f"{words}: error of {VIBRATIONS} frequencies", error, "%", at_most=bar)


def _errors(
    make: Callable[..., Job], poses: Sequence[Sequence[float]], full: list[np.ndarray], settings: dict, first: Prepared
) -> Iterator[float]:
    """Yield the largest distance from the full space in each pose, % of the largest displacement."""
    for k, (pose, x) in enumerate(zip(poses, full, strict=True)):
        job = make(pose, **settings)
        found = posed(job, first if k == 0 else prepare(job))
        moved = np.linalg.norm(x - job.body.surface.positions, axis=1).max()
        yield 100.0 * np.linalg.norm(found - x, axis=1).max() / moved


def _frequency_error(prepared: Prepared) -> float:
    """Return the largest error of the lowest frequencies in the subspace against those with all elements, %."""
    model, space = prepared.model, prepared.space
    whole = in_basis(model, space.basis, space.pinned, every_tet(model.elastic.weights), space.skinning)
    few, all_ = (_eigenvalues(each, model.anchors) for each in (space, whole))
    return 100.0 * float(np.abs(np.sqrt(few / all_) - 1.0).max())


def _eigenvalues(space: ReducedModel, anchors: object) -> np.ndarray:
    tangent = space.elastic.tangent(space.elastic.deformation(np.zeros((space.unknowns, 3))))
    K = symmetric(space.stiffness(tangent, 0.0)) + np.kron(np.eye(3), space.basis.T @ (anchors @ space.basis))
    return eigh(K, np.kron(np.eye(3), space.mass), eigvals_only=True, subset_by_index=[0, VIBRATIONS - 1])
