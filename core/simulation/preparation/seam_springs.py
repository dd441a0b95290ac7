"""Springs that hold the pieces of a split body together, until their seam is cut or tears.

A piece has copies of the vertices of the tets that it shares with others (:mod:`...geometry.tetrahedra.split_tets`).
Springs of rest length zero join the copies of a vertex in pieces that have a common seam near it. Their stiffness,
``FIRM`` times Young's modulus times the size of the tets there, is constant, so no iteration is added. A spring
is cut in the frame of the nearest point of the seam.

A spring tears if the traction ``t`` between the pieces exceeds the strength of the seam: the sum of the spring forces
nearby, divided by their area. The area of a spring is the force that it has under a stress of 1 Pa. Pressure does not
tear: ``t² = max(t_n, 0)² + t_t²`` with the traction t_n along the normal of the seam and t_t along the seam [Camacho,
Ortiz 1996].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from ...geometry.mesh.embedding import Embedding, embed_in_pieces
from ...geometry.mesh.surface_samples import sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.vertex_normals import face_normals
from ...jobs.job.job import Job
from ...jobs.job.seams import Seams
from ...mechanics.ties.glue import Glue
from ...methods.model.model import Model
from ...methods.subspaces.space import Space

FIRM = 3e3
"""Stiffness of a spring, in units of Young's modulus times the mean edge of the tets around its vertex.

A stretched bar then differs from the bar without a seam by 1e-5 of its size at most (``bench attached``).
"""

SPACING = 0.25
"""Largest distance of the samples of a seam, in mean edges of the tets."""

REACH = 2.0
"""Largest distance of a vertex from the seam of two pieces that its springs join, in mean edges of the tets."""

AROUND = 1.0
"""Distance, in mean edges of the tets, up to which spring forces and areas are added for the traction at a spring."""

LEAST = 0.1
"""Least such area that counts, relative to the largest area of a single spring. Springs without area tear last."""


class _Samples(NamedTuple):
    """Points of seams between two pieces.

    ``pair`` (s,): number of the two pieces. ``faces`` (s,): number of the face among those of the pieces of lower
    number. ``points`` (s,3), m. ``cut_frames`` (s,). ``tear_stress`` (s,), Pa.
    """

    pair: np.ndarray
    faces: np.ndarray
    points: np.ndarray
    cut_frames: np.ndarray
    tear_stress: np.ndarray


class SeamSprings:
    """Springs of a body with seams, as loads of its substeps.

    Attributes
    ----------
    count : number s of springs
    tears : True if a seam may tear
    broken : (s,) 1 for each torn spring, or None
    """

    def __init__(self, job: Job, model: Model, space: Space) -> None:
        seams, surface, mesh = job.body.seams, job.body.surface, model.mesh
        self._first_frame, self._glue = job.frame_start, None
        opposite = seams.opposite_faces(surface)
        faces = np.flatnonzero(seams.seam_faces)
        owner, other = (seams.pieces[surface.triangles[each, 0]] for each in (faces, opposite))
        faces, owner, other = (each[owner < other] for each in (faces, owner, other))
        corners = surface.triangles[faces].astype(np.int64)
        samples = _samples(surface.positions, corners, owner * seams.count + other, seams, SPACING * mesh.mean_edge)
        a, b, at, nearest = _joined(mesh, seams.count, samples)
        self._cut_frames, self._strength = samples.cut_frames[nearest], samples.tear_stress[nearest]
        self._stiffness = FIRM * _firmness(mesh, model.youngs_modulus)[a]
        self.count, self.broken = len(a), None
        self.tears = seams.tears
        self._points = space.points(Embedding.joined([_at_vertices(mesh, a), _at_vertices(mesh, b)]))
        if self.tears:
            chosen = corners[samples.faces[nearest]]
            self._weigh(model, a, b, at, face_normals(surface.positions[chosen]))
            used, index = np.unique(chosen, return_inverse=True)
            self._corners = index.reshape(-1, 3)
            self._faces = space.points(embed_in_pieces(surface.positions[used], seams.pieces[used], mesh))

    def _weigh(self, model: Model, a: np.ndarray, b: np.ndarray, pair: np.ndarray, normals: np.ndarray) -> None:
        """Set the area of each spring, and the springs around it. ``normals`` (s,3): of the seam at rest."""
        mesh, elastic = model.mesh, model.elastic
        # The nodal forces of the stress 1 Pa are the areas of the surface of the vertices' own piece.
        of_vertices = elastic.elements.nodal_forces(np.tile(np.eye(3), (len(elastic.weights), 1, 1)), elastic.weights)
        self._areas = 0.5 * np.sum((of_vertices[a] - of_vertices[b]) * normals, axis=1)
        one, two = cKDTree(mesh.rest_positions[a]).query_pairs(AROUND * mesh.mean_edge, output_type="ndarray").T
        alike = pair[one] == pair[two]
        one, two = one[alike], two[alike]
        near = sp.csr_matrix((np.ones(len(one)), (one, two)), shape=(self.count, self.count))
        self._near = (near + near.T + sp.identity(self.count)).tocsr()

    def _holds(self, time: float) -> np.ndarray:
        """Return the mask (s,) of the springs that act at a ``time`` in frames of the job."""
        holds = time < self._cut_frames - 1e-9
        return holds if self.broken is None else holds & (self.broken == 0.0)

    def at(self, frame: int, part: float) -> Glue:
        """Return the springs in a step that ends at the fraction ``part`` between ``frame`` - 1 and ``frame``.

        Frames are counted from 0.
        """
        holds = self._holds(self._first_frame + frame - 1.0 + part)
        if self._glue is None or not np.array_equal(holds, self._glue[0]):
            self._glue = holds, Glue(self._points, np.where(holds, self._stiffness, 0.0))
        return self._glue[1]

    def broken_after(self, positions: np.ndarray, frame: int, part: float) -> np.ndarray:
        """Return the torn springs after a step that ends at a time as in :meth:`at`, (s,).

        ``positions``: unknowns at the end of the step.
        """
        broken = np.zeros(self.count) if self.broken is None else self.broken.copy()
        if not self.tears:
            return broken
        holds = self._holds(self._first_frame + frame - 1.0 + part)
        forces = self._near @ ((holds * self._stiffness)[:, None] * self.at(frame, part).elongations(positions))
        area = np.maximum(np.abs(self._near @ (holds * self._areas)), LEAST * float(self._areas.max()))
        normals = self._near @ face_normals(self._faces.positions(positions)[self._corners])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
        # The springs pull the first piece against its normal where the seam is under tension.
        pressure = np.maximum(np.sum(forces * normals, axis=1), 0.0)
        pull = np.sqrt(np.maximum(np.sum(forces * forces, axis=1) - pressure**2, 0.0))
        broken[holds & (pull > self._strength * area)] = 1.0
        return broken


def _samples(positions: np.ndarray, corners: np.ndarray, pair: np.ndarray, seams: Seams, spacing: float) -> _Samples:
    found = sample_surface(positions, corners, spacing)
    at, weights = corners[found.triangle], found.barycentric
    values = (_interpolated(weights, each[at]) for each in (seams.cut_frames, seams.tear_stress))
    return _Samples(pair[found.triangle], found.triangle, found.interpolate(positions, corners), *values)


def _interpolated(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values (s,3) at corners interpolated with ``weights`` (s,3); the nearest corner's beside infinite ones."""
    is_finite = np.isfinite(values).all(axis=1)
    nearest = values[np.arange(len(values)), weights.argmax(axis=1)]
    return np.where(is_finite, np.sum(weights * np.where(is_finite[:, None], values, 0.0), axis=1), nearest)


def _joined(mesh: TetMesh, count: int, samples: _Samples) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the two vertices (s,) that each spring joins, the number (s,) of their two pieces, and a sample (s,) near.

    ``count``: number of pieces.
    """
    _origins, parents, pieces = mesh.split
    order = np.lexsort((pieces, parents))
    copies = int(np.bincount(parents).max())
    ahead = [(order[:-k], order[k:]) for k in range(1, copies)]
    a, b = (np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in zip(*ahead)) if ahead else ((), ())
    same = parents[a] == parents[b]
    a, b = a[same], b[same]
    pair, nearest = pieces[a] * count + pieces[b], np.full(len(a), -1)
    for number in np.unique(samples.pair):
        own, there = np.flatnonzero(pair == number), np.flatnonzero(samples.pair == number)
        away, at = cKDTree(samples.points[there]).query(mesh.rest_positions[a[own]])
        nearest[own] = np.where(away <= REACH * mesh.mean_edge, there[at], -1)
    chosen = np.flatnonzero(nearest >= 0)
    return a[chosen], b[chosen], pair[chosen], nearest[chosen]


def _firmness(mesh: TetMesh, youngs_modulus: np.ndarray) -> np.ndarray:
    """Return the largest product of Young's modulus and edge length, (n,) N/m, of the tets around each vertex."""
    found = np.zeros(len(mesh.rest_positions))
    edges = mesh.mean_edge * np.cbrt(mesh.volumes / mesh.volumes.mean())
    np.maximum.at(found, mesh.tets, (youngs_modulus * edges)[:, None])
    return found


def _at_vertices(mesh: TetMesh, vertices: np.ndarray) -> Embedding:
    """Return vertices of a mesh as points embedded in it."""
    tet, corner = np.empty(len(mesh.rest_positions), dtype=np.int64), np.empty(len(mesh.rest_positions), dtype=np.int64)
    for k in range(4):
        tet[mesh.tets[:, k]], corner[mesh.tets[:, k]] = np.arange(len(mesh.tets)), k
    return Embedding(tet[vertices], np.eye(4)[corner[vertices]], np.zeros(len(vertices), dtype=bool))
