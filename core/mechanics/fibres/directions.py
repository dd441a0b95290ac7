"""Rest directions of fibres in the tets of a muscle, and how far along the muscle each tet lies.

Between two ends, the direction is the gradient of a harmonic function that is 0 at the origin and 1 at the insertion,
with no flux through the rest of the muscle's border [Choi, Blemker 2013, "Skeletal muscle fascicle arrangements can be
reconstructed using a Laplacian vector field simulation"]. Along curves, it is the tangent of the nearest curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ...foundation.errors import MaterialError
from ...geometry.mesh.tet_mesh import TetMesh
from ..assembly.deformation_gradient import shape_gradients
from ..materials.harmonic import extend_harmonically
from .tubes import polyline_tangents

FLAT = 1e-3
"""Gradient of the harmonic function, times the muscle's size, below which a tet has no direction of its own."""

SAMPLES = 16
"""Points per segment of a curve among which the nearest is searched."""


BLENDED = 64
"""Most curves between which directions are blended. Of more curves, the nearest counts."""

POWER = 4
"""Power of the inverse distance by which a curve counts."""


class FibreDirections(NamedTuple):
    """Rest directions in f tets: unit vectors ``along`` (f,3), and the position ``part`` (f,) from 0 to 1 between the
    origin and the insertion.
    """

    along: np.ndarray
    part: np.ndarray


def directions_between(mesh: TetMesh, tets: np.ndarray, origin: np.ndarray, insertion: np.ndarray) -> FibreDirections:
    """Return the fibre directions in the tets with the indices ``tets`` (f,), between two sets of mesh vertices.

    ``origin``, ``insertion``: vertex indices. Vertices of other tets are ignored.

    Raises
    ------
    MaterialError
        An end has no vertex of the muscle, the ends touch, or no fibre leads from one to the other.
    """
    used, corners = np.unique(mesh.tets[tets], return_inverse=True)
    muscle = TetMesh(mesh.rest_positions[used], corners.reshape(-1, 4).astype(np.int32), mesh.fill[tets])
    values, known = np.zeros((len(used), 1)), np.zeros(len(used), dtype=bool)
    ends = [np.isin(used, each) for each in (origin, insertion)]
    for name, end in zip(("origin", "insertion"), ends, strict=True):
        if not end.any():
            raise MaterialError(f"The {name} of the muscle does not touch it.", "Paint it on the muscle's surface.")
    if (both := ends[0] & ends[1]).any():
        x, y, z = muscle.rest_positions[both][0]
        raise MaterialError(
            f"Origin and insertion touch near ({x:.3g}, {y:.3g}, {z:.3g}) m.",
            "Move the two ends apart, or raise the resolution.",
        )
    known |= ends[0] | ends[1]
    values[ends[1]] = 1.0
    potential, reached = extend_harmonically(muscle, known, values)
    if not reached.all():
        x, y, z = muscle.rest_positions[~reached][0]
        raise MaterialError(
            f"A part of the muscle near ({x:.3g}, {y:.3g}, {z:.3g}) m touches neither of its ends.",
            "Make it a muscle of its own, or raise the resolution.",
        )
    u = potential[muscle.tets, 0]
    gradients = np.einsum("ta,tai->ti", u, shape_gradients(muscle.rest_positions, muscle.tets))
    return FibreDirections(_unit(muscle, gradients), np.clip(u.mean(axis=1), 0.0, 1.0))


def _unit(muscle: TetMesh, gradients: np.ndarray) -> np.ndarray:
    """Return unit vectors (f,3) along ``gradients``. Tets where the gradient vanishes get the mean of their neighbours.

    Raise MaterialError if the gradient vanishes everywhere in the neighbourhood of a tet.
    """
    for _ in range(len(gradients)):
        length = np.linalg.norm(gradients, axis=1)
        flat = length * muscle.size < FLAT
        if not flat.any():
            break
        sums = np.zeros((len(muscle.rest_positions), 3))
        np.add.at(sums, muscle.tets, (gradients * (~flat / np.maximum(length, 1e-300))[:, None])[:, None])
        filled = sums[muscle.tets].sum(axis=1)
        if not (np.linalg.norm(filled[flat], axis=1) > 0.5).any():
            x, y, z = muscle.rest_positions[muscle.tets[flat][0]].mean(axis=0)
            raise MaterialError(
                f"The fibres have no direction near ({x:.3g}, {y:.3g}, {z:.3g}) m.",
                "Paint the two ends of the muscle on opposite sides, or choose a curve.",
            )
        fitting = flat & (np.linalg.norm(filled, axis=1) > 0.5)
        gradients = np.where(fitting[:, None], filled, gradients)
    return gradients / np.linalg.norm(gradients, axis=1, keepdims=True)


def directions_along(centres: np.ndarray, curves: Sequence[np.ndarray]) -> FibreDirections:
    """Return the fibre directions at ``centres`` (f,3), m: tangents of the nearest of the polylines ``curves``.

    Between up to :data:`BLENDED` curves, the directions change smoothly: each curve counts by a power of its inverse
    distance [Shepard 1968]. Each curve is (k,3), m, with segments longer than 0. Raises MaterialError if one turns back
    on itself.
    """
    sampled = [_samples(curve) for curve in curves]
    if len(sampled) > BLENDED:  # as dense as hair
        sampled = [_Samples(*(np.concatenate(values) for values in zip(*sampled, strict=True)))]
    found = [cKDTree(each.points).query(centres) for each in sampled]
    distances = np.array([distance for distance, _ in found])
    tangents = np.array([each.tangents[nearest] for each, (_, nearest) in zip(sampled, found, strict=True)])
    parts = np.array([each.parts[nearest] for each, (_, nearest) in zip(sampled, found, strict=True)])
    best = distances.argmin(axis=0), np.arange(len(centres))
    # A fibre has no sign, so a curve that runs the other way counts as well.
    signs = np.where(np.einsum("cfi,fi->cf", tangents, tangents[best]) < 0.0, -1.0, 1.0)
    floor = 1e-12 * max(float(np.ptp(centres, axis=0).max()), 1e-300)
    shares = signs * (np.maximum(distances[best], floor) / np.maximum(distances, floor)) ** POWER
    along = np.einsum("cf,cfi->fi", shares, tangents)
    return FibreDirections(along / np.linalg.norm(along, axis=1, keepdims=True), parts[best])


class _Samples(NamedTuple):
    """Points (s,3) of a curve, its tangents (s,3) there, and the positions (s,) from 0 at its start to 1 at its end."""

    points: np.ndarray
    tangents: np.ndarray
    parts: np.ndarray


def _samples(curve: np.ndarray) -> _Samples:
    steps = np.diff(curve, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    # Interpolated between the points, so that directions do not jump at a bend.
    at = polyline_tangents(curve)
    starts = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
    t = ((np.arange(SAMPLES) + 0.5) / SAMPLES)[:, None]
    points, tangents, parts = [], [], []
    for k, step in enumerate(steps):
        points.append(curve[k] + t * step)
        tangents.append((1.0 - t) * at[k] + t * at[k + 1])
        parts.append(starts[k] + t[:, 0] * (starts[k + 1] - starts[k]))
    along = np.concatenate(tangents)
    return _Samples(np.concatenate(points), along / np.linalg.norm(along, axis=1, keepdims=True), np.concatenate(parts))
