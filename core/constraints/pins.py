"""Pins: surface vertices that are held, with the faces and edges between them.

Where a pinned surface vertex is a vertex of the tets, as on tets that TetGen makes, that vertex is given: a hard pin.
Everywhere else springs hold the surface inside the tets (:mod:`constraints.anchors`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..forces.embedded_points import EmbeddedPoints
from ..forces.springs import Springs
from ..mesh.embedding import Embedding
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.tet_mesh import TetMesh
from ..tracks import at_frames, on_the_way
from .anchors import SPACING, Anchors, anchors, conforms

AT_VERTEX = 1e-9
"""Barycentric coordinate, short of 1, with which a point is a vertex of its tet."""

FLAT = 1e-14
"""Eigenvalue of a tet's springs, beside the largest, that is round-off."""


@dataclass(frozen=True)
class PinSchedule:
    """What is given at each step, tet vertices or unknowns of a subspace: which, where, and until when.

    ``corners`` (q,) ascending; ``targets`` (samples,q,3) m, a track; ``held`` (frames,q) bool: a corner is held on the
    way to a frame where it is held, and free from then on.
    """

    corners: np.ndarray
    targets: np.ndarray
    held: np.ndarray

    def held_corners(self, frame: int) -> np.ndarray:
        """Corners that are held on the way to a frame, (k,), counted from the first frame."""
        return self.corners[self.held[frame]]

    def targets_at(self, frame: int, part: float) -> np.ndarray:
        """Where these are after a part (0 to 1) of the way to a frame, (k,3), m: straight from sample to sample."""
        mask = self.held[frame]
        before, after, part = on_the_way(self.targets, len(self.held), frame, part)
        return before[mask] + part * (after[mask] - before[mask])


class PinnedSurface:
    """The pinned vertices of a surface in its tets.

    Parameters
    ----------
    surface, mesh : SurfaceMesh, TetMesh
    embedding : of the surface's vertices
    pinned : (p,) surface vertices; positions : (samples,p,3) m, a track; held : (frames,p) bool
    spacing : of the samples, in cells
    """

    def __init__(
        self,
        surface: SurfaceMesh,
        mesh: TetMesh,
        embedding: Embedding,
        pinned: np.ndarray,
        positions: np.ndarray,
        held: np.ndarray,
        spacing: float = SPACING,
    ) -> None:
        self.mesh, self.pinned, self.held, self._positions = mesh, pinned, held, positions
        self._surface, self._embedding, self._spacing = surface, embedding, spacing
        self._last: tuple[np.ndarray, Anchors] | None = None

    def schedule(self) -> PinSchedule:
        """The hard pins: of several surface vertices at one vertex of the tets the first counts."""
        of_pins = self._embedding.take(self.pinned)
        corner = of_pins.barycentric.argmax(axis=1)
        at_vertex = of_pins.barycentric.max(axis=1) >= 1.0 - AT_VERTEX
        exact = np.flatnonzero(at_vertex & conforms(self.mesh))
        corners, first = np.unique(self.mesh.tets[of_pins.tet_indices, corner][exact], return_index=True)
        return PinSchedule(corners.astype(np.int64), self._positions[:, exact[first]], self.held[:, exact[first]])

    def anchors(self, frame: int) -> Anchors:
        """The springs on the way to a frame."""
        held = self.held[frame]
        if self._last is None or not np.array_equal(self._last[0], held):
            found = anchors(self._surface, self.mesh, self._embedding, self.pinned, held, self._spacing)
            self._last = held, self._without_hard(found, frame)
        return self._last[1]

    def _without_hard(self, found: Anchors, frame: int) -> Anchors:
        """Those whose samples hard pins do not hold by themselves."""
        hard = self.schedule().held_corners(frame)
        points = EmbeddedPoints(found.embedding, self.mesh.tets, len(self.mesh.rest_positions))
        free = np.flatnonzero(~points.held(hard))
        return Anchors(found.embedding.take(free), found.factors[free], found.shares[free])

    def holding(self, frame: int, moduli: np.ndarray) -> sp.csr_matrix:
        """Stiffness of the springs on the way to a frame between the tets' vertices, the same along x, y and z, (n,n),
        N/m; ``moduli`` (m,) Pa.
        """
        found = self.anchors(frame)
        P = found.embedding.matrix(self.mesh.tets, len(self.mesh.rest_positions))
        return (P.T @ sp.diags(found.factors * moduli[found.embedding.tet_indices]) @ P).tocsr()

    def targets_of(self, frame: int) -> np.ndarray:
        """Where the pinned vertices are at a frame, (p,3), m."""
        return at_frames(self._positions, len(self.held))[frame]

    def targets_at(self, frame: int, part: float) -> np.ndarray:
        """Where the pinned vertices are after a part (0 to 1) of the way to a frame, (p,3), m."""
        before, after, part = on_the_way(self._positions, len(self.held), frame, part)
        return before + part * (after - before)


class PinSprings:
    """The springs of a pinned surface as loads of steps.

    Parameters
    ----------
    pinned : PinnedSurface
    moduli : (m,) Pa, Young's moduli of the tets
    condense : makes of Anchors and their stiffnesses (s,) N/m points, stiffnesses (c,) and a matrix (c,p) that gives
        their targets
    """

    def __init__(
        self,
        pinned: PinnedSurface,
        moduli: np.ndarray,
        condense: Callable[[Anchors, np.ndarray], tuple[Any, np.ndarray, Any]],
    ) -> None:
        self.pinned, self._moduli, self._condense = pinned, moduli, condense
        self._last: tuple[Anchors, tuple[Any, np.ndarray, Any]] | None = None

    def scaled(self, scale: np.ndarray) -> PinSprings:
        """The same when the stiffness of each tet is scaled by (m,)."""
        other = copy.copy(self)
        other._moduli, other._last = self._moduli * scale, None
        return other

    def at(self, frame: int, part: float) -> tuple[Springs, ...]:
        """What acts in a step that ends at a part (0 to 1) of the way to a frame."""
        if not self.pinned.held[frame].any():
            return ()
        found = self.pinned.anchors(frame)
        if len(found.factors) == 0:
            return ()
        if self._last is None or self._last[0] is not found:
            k = found.factors * self._moduli[found.embedding.tet_indices]
            self._last = found, self._condense(found, k)
        points, stiffness, targets = self._last[1]
        return (Springs(points, stiffness, targets @ self.pinned.targets_at(frame, part)),)


def condensed_in_tets(
    mesh: TetMesh, found: Anchors, stiffness: np.ndarray
) -> tuple[EmbeddedPoints, np.ndarray, sp.csr_matrix]:
    """As few springs as pull in the same way, four a tet.

    In a tet ``sum_s k_s |b_s x - t_s|²`` is, but for a constant, ``|W x - C t|²`` with ``W = L^1/2 V^T`` and ``C =
    L^-1/2 V^T (k_s b_s)`` for the eigenvectors V and eigenvalues L of ``sum_s k_s b_s b_s^T``. All is divided by the
    tet's stiffness, so that the combinations W are pure numbers.
    """
    b, s = found.embedding.barycentric, len(stiffness)
    tets, place = np.unique(found.embedding.tet_indices, return_inverse=True)
    place = place.reshape(-1)
    total = np.bincount(place, stiffness)
    part = stiffness / total[place]
    in_tet = sp.csr_matrix((np.ones(s), (place, np.arange(s))), shape=(len(tets), s))
    G = (in_tet @ (part[:, None, None] * b[:, :, None] * b[:, None, :]).reshape(s, 16)).reshape(-1, 4, 4)
    values, V = np.linalg.eigh(G)
    there = values > FLAT * values[:, -1:]
    root = np.sqrt(np.where(there, values, 0.0))
    W = root[:, :, None] * V.transpose(0, 2, 1)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=there)
    C = inverse[place] * np.einsum("sci,sc->si", V[place], b) * part[:, None]
    rows, columns = 4 * place[:, None] + np.arange(4), np.repeat(np.arange(s), 4)
    gather = sp.csr_matrix((C.ravel(), (rows.ravel(), columns)), shape=(4 * len(tets), s))
    combined = Embedding(np.repeat(tets, 4), W.reshape(-1, 4), np.zeros(4 * len(tets), dtype=bool))
    points = EmbeddedPoints(combined, mesh.tets, len(mesh.rest_positions))
    return points, np.repeat(total, 4), (gather @ found.shares).tocsr()
