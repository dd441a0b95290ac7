"""Correction of the shrinkage that linear interpolation between two frames causes in rotating bodies.

The *bulge* is the displacement that corrects the interpolated positions halfway between two frames. The correct
positions are those halfway along the body's best-fit rigid motion in the world. The bulge is these positions minus the
mean of the positions at the two frames, in object coordinates. At the time t between the frames, from 0 to 1, the bulge
times 4 t (1 - t) is added. The result is exact halfway; elsewhere the error is at most 0.2 % of the size for a rotation
of 60 degrees per frame.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...core.jobs.checks.rotations import nearest_rotation, rotation_angle
from ...core.jobs.job.job import Job
from ...core.jobs.store.cached_handles import Handles
from ..scene_import.mesh_in import transform

SMALLEST = 2.5e-4
"""Minimum correction of linear interpolation (bulge), as a fraction of the body's longest side.

Smaller bulges are omitted. A rotation by about three degrees per frame causes a bulge of this size.
"""
EXPLAINED = 0.5
"""Maximum residual of a frame interval's best-fit rigid motion, as a fraction of the motion.

If the residual is larger, the motion is not nearly rigid, and the interpolation in this interval is not corrected.
"""

CHORDS = 0.5
"""Maximum correction (bulge) at a pinned vertex, as a fraction of the vertex's path between two frames.

A vertex that makes half a turn per frame has this bulge. A larger bulge means that the pins do not follow the body's
rotation.
"""


class Bulge(NamedTuple):
    """Correction of linear interpolation halfway between two successive frames, as an affine map of the positions.

    Let x_0 and x_1 (n,3) be the positions at the two frames, in object coordinates. Linear interpolation gives ``(x_0 +
    x_1) / 2`` halfway between the frames, which shrinks a rotating body. The bulge (n,3) is the displacement to add to
    this mean: ``x_0 @ first.T + x_1 @ second.T + shift``.

    Attributes
    ----------
    first, second : (3,3); shift : (3,)
    """

    first: np.ndarray
    second: np.ndarray
    shift: np.ndarray

    def of(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the bulge (n,3): the displacement from the mean of two frames to the correct positions halfway.

        ``before`` and ``after`` (n,3): positions at the two frames.
        """
        return before @ self.first.T + after @ self.second.T + self.shift


def bulges(job: Job, frames: Sequence[int], positions: Iterable[np.ndarray]) -> dict[int, np.ndarray]:
    """Return the bulges (n,3) of a body by the index in ``frames`` of their interval's first frame.

    A bulge is the displacement that corrects linear interpolation halfway between the two frames of an interval.
    ``positions`` yields the vertices (n,3) of each frame, in object coordinates. An interval is omitted if its frames
    are not consecutive, if its largest bulge is below :data:`SMALLEST`, if the motion is not nearly rigid, or if a pin
    does not follow the rotation.
    """
    found = _bulges(job, frames, positions, job.body.pinned_vertices)
    return {k: bulge.of(before, after) for k, bulge, before, after in found}


def smaller_words(job: Job, frames: Sequence[int], positions: Iterable[np.ndarray]) -> str:
    """Return a warning about the frame interval in which Mesh Cache shrinks the body most.

    Mesh Cache interpolates linearly. The text is empty if the body shrinks by less than 1 %. ``positions`` yields the
    vertices (n,3) of each of the ``frames``, in object coordinates.
    """
    found = _bulges(job, frames, positions, job.body.pinned_vertices)
    angles = {frames[k]: rotation_angle(before, after) for k, _, before, after in found}
    frame = max(angles, key=angles.__getitem__, default=None)
    lost = 0.0 if frame is None else 100.0 * (1.0 - np.cos(0.5 * angles[frame]))
    if lost < 1.0:
        return ""
    return (
        f"The body rotates fast: between frames {frame} and {frame + 1}, Mesh Cache shows it {lost:.0f} % smaller. "
        "Set Result to Shape Keys or Geometry Nodes if you render motion blur."
    )


def bulges_of_handles(rest: np.ndarray, job: Job, handles: Handles) -> dict[int, np.ndarray]:
    """Return the bulges of skinning handles by the index in ``handles.frames`` of their interval's first frame.

    A bulge (1+h,4,3) corrects linear interpolation halfway between the two frames of an interval: it is added to the
    matrices of the handles. ``rest`` (n,3): positions of the vertices before the handles displace them.
    """
    pins = job.body.pinned_vertices
    some = np.concatenate([pins, np.arange(0, len(rest), max(1, len(rest) // 1000))])  # enough to fit a rotation
    coordinates = np.column_stack([(rest[some] - handles.centre) / handles.size, np.ones(len(some))])
    weights = np.column_stack([np.ones(len(some)), handles.weights[some]])
    terms = "nk,nc,kcx->nx", weights, coordinates
    moved = [rest[some] + np.einsum(*terms, frame, optimize=True) for frame in handles.handles]
    here = np.vstack([handles.size * np.eye(3), handles.centre])  # coordinates @ here: the rest positions
    found = {}
    for k, bulge, _, _ in _bulges(job, handles.frames.tolist(), moved, np.arange(len(pins))):
        before, after = np.float64(handles.handles[k]), np.float64(handles.handles[k + 1])
        both = before @ bulge.first.T + after @ bulge.second.T
        both[0] += here @ (bulge.first + bulge.second).T
        both[0, 3] += bulge.shift
        found[k] = both
    return found


def _bulges(
    job: Job, frames: Sequence[int], positions: Iterable[np.ndarray], pins: np.ndarray
) -> Iterator[tuple[int, Bulge, np.ndarray, np.ndarray]]:
    """Yield each frame interval with a correction of linear interpolation (bulge).

    The values are the index of the interval's first frame in ``frames``, the bulge, and the positions (n,3) at both
    frames.
    """
    matrices = job.frame_matrices
    for k, (before, after) in enumerate(itertools.pairwise(map(np.float64, positions))):
        if frames[k + 1] > frames[k] + 1:
            continue
        first = frames[k] - job.frame_start
        bulge = _bulge(matrices[first : first + 2], before, after)
        if bulge is None:
            continue
        sizes, smallest = _lengths(bulge.of(before, after)), SMALLEST * np.ptp(before, axis=0).max()
        follow = sizes[pins] <= CHORDS * _lengths(after[pins] - before[pins]) + smallest
        if sizes.max() > smallest and follow.all():
            yield k, bulge, before, after


def _bulge(to_world: np.ndarray, before: np.ndarray, after: np.ndarray) -> Bulge | None:
    """Return the correction of linear interpolation in an interval, or None if the motion is not nearly rigid.

    ``to_world`` (2,4,4). ``before``, ``after`` (n,3): object coordinates.
    """
    linear, shifts = to_world[:, :3, :3], to_world[:, :3, 3]
    world = [transform(matrix, points) for matrix, points in zip(to_world, (before, after))]
    centres = [points.mean(axis=0) for points in world]
    fit = nearest_rotation(world[0] - centres[0], world[1] - centres[1])
    off = np.linalg.norm((world[0] - centres[0]) @ fit.T - (world[1] - centres[1]))
    if off > EXPLAINED * np.linalg.norm((after - before) @ linear[1].T):
        return None
    half, own = _half(fit), _half(nearest_rotation(linear[0].T, linear[1].T))
    to_object = np.linalg.inv(0.5 * (own @ linear[0] + own.T @ linear[1]))
    first, second = 0.5 * to_object @ half, 0.5 * to_object @ half.T
    middle = 0.5 * to_object @ (centres[0] + centres[1] - shifts[0] - shifts[1])
    return Bulge(
        first @ linear[0] - 0.5 * np.eye(3),
        second @ linear[1] - 0.5 * np.eye(3),
        middle + first @ (shifts[0] - centres[0]) + second @ (shifts[1] - centres[1]),
    )


def _half(rotation: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # deferred, since it would delay Blender's start

    return Rotation.from_rotvec(0.5 * Rotation.from_matrix(rotation).as_rotvec()).as_matrix()


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=1)
