"""Fit of skinning handles to the frames of a bake.

A handle is an affine map per frame. Constant weights at the surface vertices blend the handles. Subspace solvers
provide the weights. For other solvers, two kinds of weights are computed: skinning modes (smooth weights, the
eigenvectors of an elastic Laplacian), and weights of handles at the body's pins. The bake reports the error of the fit,
which is small for subspace solvers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...foundation.errors import SubspaceError
from ...foundation.events import Done, OnEvent, Phase, StoppedAfter, ignore
from ...jobs.job.job import Job
from ...jobs.store.cached_handles import CLOSE, Handles, cache_handles, cached_handles
from ...jobs.store.frame_store import FrameStore
from ...jobs.store.store_lock import alone
from ...methods.model.model import Model
from ...methods.subspaces.handle_fit import HandleFit
from ...methods.subspaces.pin_handles import handle_weights
from ...methods.subspaces.skinning import Coordinates
from ...methods.subspaces.skinning_modes import MOST_MODES, skinning_modes
from ..preparation.prepare import Prepared, Stopped, prepare
from .compile_kernels import warm_up


def mode_count(job: Job, model: Model, modes: int) -> int:
    """Return the number of skinning modes to compute for a body.

    A skinning mode is a smooth weight function that blends handles (affine maps). The number is at least the number of
    connected parts of the mesh without a pin, and at most the number of free vertices. The number is 0 for a subspace
    solver, since the solver has its own modes.

    ``modes``: requested number.

    Raises
    ------
    SubspaceError
        More than :data:`MOST_MODES` parts have no pin.
    """
    if job.body.solver.kind.takes_modes:
        return 0
    tets, n = model.mesh.tets, len(model.mesh.rest_positions)
    edges = np.repeat(tets[:, 0], 3), tets[:, 1:].ravel()
    graph = sp.coo_matrix((np.ones(len(edges[0])), edges), shape=(n, n))
    labels = connected_components(graph, directed=False)[1]
    loose = len(np.setdiff1d(labels, labels[model.held]))
    if loose > MOST_MODES:
        raise SubspaceError(
            f"The body has {loose} separate parts without a pin, and handles can represent {MOST_MODES} at most.",
            "Keep no handles (in Blender: set Result to Shape Keys), or join parts.",
        )
    return min(max(modes, loose), n - len(model.pinned))


@alone
def find_handles(
    job: Job,
    store: FrameStore,
    modes: int,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
) -> str:
    """Fit skinning handles to all frames in a store, and store the handles.

    A handle is an affine map per frame, and constant vertex weights blend the handles. Stored handles that are valid
    are not fitted again. Return "done" or "stopped".

    ``modes``: requested number of skinning modes, which are vertex weights.
    """
    try:
        if cached_handles(job, store, modes) is None:
            warm_up(on_event, [job])
            keep_handles(job, store, modes, prepare(job, store, on_event, should_stop), on_event, should_stop)
    except Stopped:
        on_event(StoppedAfter())
        return "stopped"
    on_event(Done(len(store.frames()), []))
    return "done"


def keep_handles(
    job: Job,
    store: FrameStore,
    modes: int,
    prepared: Prepared,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fit skinning handles of a prepared body to all frames in a store, and store the handles.

    A handle is an affine map per frame, and constant vertex weights blend the handles. The number of skinning modes is
    doubled, up to :data:`MOST_MODES`, until the largest error in any frame is below :data:`CLOSE` of the body's size.

    ``modes``: initial number of skinning modes, which are vertex weights. Subspace solvers have their own weights.

    Raises
    ------
    SubspaceError
        As in :func:`mode_count`.
    Stopped
        Between two frames, if ``should_stop`` returns True.
    """
    count = mode_count(job, prepared.model, modes)
    kept = _fitted(job, store, _weights(prepared, count), on_event, should_stop)
    most = mode_count(job, prepared.model, MOST_MODES)
    while kept.largest_error > CLOSE * job.body.surface.size and 0 < count < most:
        count = min(2 * count, most)
        kept = _fitted(job, store, _weights(prepared, count), on_event, should_stop)
    cache_handles(store, 0 if job.body.solver.kind.takes_modes else modes, kept)


def _fitted(
    job: Job, store: FrameStore, weights: np.ndarray, on_event: OnEvent, should_stop: Callable[[], bool]
) -> Handles:
    """Return handles with vertex weights (n,h), fitted to each frame in a store."""
    frames = store.frames()
    on_event(Phase("handles", 0, len(frames)))
    largest = np.abs(weights).max(axis=0, initial=0.0)
    weights = (weights[:, largest > 0.0] / largest[largest > 0.0]).astype(np.float32)
    to_world = job.frame_matrices
    rest = _local(to_world[0], job.body.surface.positions)
    coordinates = _coordinates(rest)
    whole = np.column_stack([np.ones(len(rest)), weights.astype(np.float64)])
    fit = HandleFit(rest, whole, coordinates)
    handles, errors = np.empty((len(frames), 1 + weights.shape[1], 4, 3), np.float32), np.empty((len(frames), 2))
    for k, frame in enumerate(frames):
        if should_stop():
            raise Stopped
        matrix = to_world[frame - job.frame_start]
        moved = _local(matrix, store.read(frame)) - rest
        handles[k] = fit.handles(moved)
        # The error is that of the rounded handles.
        off = np.linalg.norm((fit.displacements(handles[k].astype(np.float64)) - moved) @ matrix[:3, :3].T, axis=1)
        errors[k] = np.sqrt(np.mean(off**2)), off.max()
        on_event(Phase("handles", k + 1, len(frames)))
    centre, size = coordinates.centre.astype(np.float32), np.array([coordinates.size], dtype=np.float32)
    return Handles(np.array(frames, dtype=np.int32), weights, handles, centre, size, errors)


def _weights(prepared: Prepared, count: int) -> np.ndarray:
    """Return skinning weights (n,h) at the surface vertices, for the subspace if ``count`` is 0."""
    if not count:
        return prepared.space.skinning.weights_at(prepared.embedding)
    return prepared.embedding.apply(_modes_and_pins(prepared.model, count), prepared.model.mesh.tets)


def _modes_and_pins(model: Model, modes: int) -> np.ndarray:
    """Return skinning weights (n,h) at the tet vertices: one column per mode and per group of pins."""
    found = skinning_modes(model, modes)
    _group, free, given = handle_weights(model, found.laplacian)
    return np.hstack([found.weights, free, given])


def _coordinates(rest: np.ndarray) -> Coordinates:
    """Return normalised coordinates with a centre and a size that are exact in single precision."""
    around = Coordinates.around(rest)
    return Coordinates(around.centre.astype(np.float32).astype(np.float64), 2.0 ** np.ceil(np.log2(around.size)))


def _local(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Convert world positions (n,3) to the object's local coordinates."""
    return np.linalg.solve(matrix[:3, :3], (points - matrix[:3, 3]).T).T
