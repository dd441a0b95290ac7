"""Chambers that several bodies of a group enclose together, as loads of their islands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ...foundation.errors import ChamberError
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.surface_mesh import signed_volume
from ...jobs.job.chamber import Chamber
from ...jobs.job.job import Job
from ...mechanics.forces.chamber_pressure import ChamberPressure
from ...methods.subspaces.space import Space
from ..preparation.loads import pressure_at
from ..preparation.prepare import Prepared

TOUCHING = 1e-3
"""Distance, relative to the chamber's size, up to which vertices of two bodies close the gap between these."""


class _SharedChamber(NamedTuple):
    """A chamber with its surface.

    ``bodies``: indices of the bodies around it. ``vertices``: for each of them, the surface vertices that are used.
    ``triangles`` (t,3): indices of these vertices, all bodies together. ``volume``, m³: at rest.
    """

    chamber: Chamber
    bodies: tuple[int, ...]
    vertices: tuple[np.ndarray, ...]
    triangles: np.ndarray
    volume: float


class GroupChambers:
    """Shared chambers of the prepared bodies of several jobs.

    Each job has one body. Raises ChamberError if a chamber leaks, or if its bodies give it different pressures.

    Attributes
    ----------
    pairs : pairs (a, b), a < b, of indices of bodies around the same chamber
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared]) -> None:
        self._prepared, self._frames = prepared, jobs[0].frame_count
        around: dict[str, list[int]] = {}
        for k, job in enumerate(jobs):
            if job.body.chamber is not None and job.body.chamber.shared:
                around.setdefault(job.body.chamber.shared, []).append(k)
        self._chambers = [_found([jobs[k] for k in bodies], bodies) for bodies in around.values()]
        self.pairs = {(a, b) for each in self._chambers for a in each.bodies for b in each.bodies if a < b}

    def loads(self, space: Space, bodies: Sequence[int], at: int, part: float) -> Iterator[ChamberPressure]:
        """Yield the pressures in the chambers of an island at a time.

        ``space``: merged space of the ``bodies`` (indices). ``at``, ``part``: the time, as in ``pressure_at``.
        """
        firsts = np.cumsum([0, *(len(self._prepared[k].model.mesh.tets) for k in bodies)])
        start = {k: int(first) for k, first in zip(bodies, firsts)}
        for each in self._chambers:
            if each.bodies[0] in start:
                parts = zip(each.bodies, each.vertices)
                points = [self._prepared[k].embedding.take(used).shifted(start[k]) for k, used in parts]
                pressure = pressure_at(each.chamber, self._frames, at, part)
                volume = each.volume if each.chamber.is_gas else None
                yield ChamberPressure(space.points(Embedding.joined(points)), each.triangles, pressure, volume)


def _found(jobs: Sequence[Job], bodies: Sequence[int]) -> _SharedChamber:
    chambers, surfaces = [job.body.chamber for job in jobs], [job.body.surface for job in jobs]
    first = chambers[0]
    for job, other in zip(jobs, chambers):
        if other.is_gas != first.is_gas or not np.array_equal(other.pressure, first.pressure):
            raise ChamberError(
                f"“{jobs[0].body.name}” and “{job.body.name}” give the chamber “{first.shared}” different pressures.",
                "Give both the same pressure and kind of gas.",
            )
    starts = np.cumsum([0, *(len(each.positions) for each in surfaces)])
    positions = np.concatenate([each.positions for each in surfaces])
    faces = np.concatenate([each.faces(own) + start for each, own, start in zip(chambers, surfaces, starts)])
    faces = _joined(positions, faces)
    faces = first.oriented(positions, faces)
    used, triangles = np.unique(faces, return_inverse=True)
    vertices = tuple(used[(used >= low) & (used < high)] - low for low, high in zip(starts, starts[1:]))
    return _SharedChamber(first, tuple(bodies), vertices, triangles.reshape(-1, 3), signed_volume(positions, faces))


def _joined(positions: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the faces (t,3) with touching vertices on open edges joined, without faces that collapse."""
    from ...geometry.mesh.topology import open_edges

    border = np.unique(open_edges(faces))
    if not len(border):
        return faces
    size = float(np.ptp(positions[faces].reshape(-1, 3), axis=0).max())
    pairs = cKDTree(positions[border]).query_pairs(TOUCHING * size, output_type="ndarray")
    graph = sp.coo_matrix((np.ones(len(pairs)), pairs.T), shape=2 * (len(border),))
    label = connected_components(graph, directed=False)[1]
    representative = np.arange(len(positions))
    representative[border] = border[np.unique(label, return_index=True)[1][label]]
    faces = representative[faces]
    return faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
