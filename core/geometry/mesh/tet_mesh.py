"""Tetrahedral mesh, positively oriented, with the filled fraction of each tet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from ...foundation.errors import MeshError

LEAST_STIFFNESS = 0.01
"""Least stiffness of a partly filled tet, as a fraction of a full tet's. Mass has no such bound.

A bar 1.4 cells thick sags too little: with the bound 0.1, by 0.82 to 0.90 of the right sag. With the bound 0.03 or
less, it sags by 0.96 to 1.0 of the right sag. With the bound 0.001, plain tets of bodies with scrambled vertices stay
inverted.
"""


FULL = 1e-9
"""Difference of a tet's filled fraction from 1 that is round-off, where the fractions of pieces are added."""


class Split(NamedTuple):
    """Split of a mesh into pieces (:mod:`...geometry.tetrahedra.split_tets`). Pieces share no vertex.

    ``origins`` (m,): tet before the split that each tet is a copy of. ``parents`` (n,): vertex before the split.
    ``pieces`` (n,): piece of each vertex.
    """

    origins: np.ndarray
    parents: np.ndarray
    pieces: np.ndarray


@dataclass(frozen=True)
class TetMesh:
    """A tetrahedral mesh at rest.

    Attributes
    ----------
    rest_positions : (n, 3) float64, metres
    tets : (m, 4) int32
        Positively oriented: ``det [x1-x0, x2-x0, x3-x0] > 0``. Every vertex belongs to a tet.
    fill : (m,) float64
        Fraction of each tet's volume that the body occupies, in (0, 1]; 1 by default. A lattice extends beyond the
        surface. Without this factor its border tets would have the mass and stiffness of full tets.
    middle : (m, 4) float64
        Barycentric coordinates of the centre of mass of the occupied part, all above 0; 0.25 by default.
    split : Split or None
        Split of the mesh into pieces; None for a whole mesh.
    """

    rest_positions: np.ndarray
    tets: np.ndarray
    fill: np.ndarray | None = None
    middle: np.ndarray | None = None
    split: Split | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rest_positions", np.ascontiguousarray(self.rest_positions, dtype=np.float64))
        object.__setattr__(self, "tets", np.ascontiguousarray(self.tets, dtype=np.int32))
        fill = np.ones(len(self.tets)) if self.fill is None else np.ascontiguousarray(self.fill, dtype=np.float64)
        object.__setattr__(self, "fill", fill)
        middle = np.full((len(self.tets), 4), 0.25) if self.middle is None else np.asarray(self.middle, dtype=float)
        object.__setattr__(self, "middle", np.ascontiguousarray(middle))

    @cached_property
    def whole(self) -> TetMesh:
        """The mesh before its split into pieces; the mesh itself if it is not split."""
        if self.split is None:
            return self
        at, parents, _pieces = self.split
        rest, tets = np.empty((int(parents.max()) + 1, 3)), np.empty((int(at.max()) + 1, 4), dtype=np.int32)
        rest[parents], tets[at] = self.rest_positions, parents[self.tets]
        middle, fill = np.empty((len(tets), 4)), np.bincount(at, self.fill)
        middle[at] = self.middle
        return TetMesh(rest, tets, np.where(fill > 1.0 - FULL, 1.0, fill), middle)

    @property
    def origins(self) -> np.ndarray:
        """Index of each tet in :attr:`whole`, (m,)."""
        return np.arange(len(self.tets)) if self.split is None else self.split.origins

    @property
    def firsts(self) -> np.ndarray:
        """Index of the first copy of each tet of :attr:`whole`."""
        return np.unique(self.origins, return_index=True)[1]

    @cached_property
    def size(self) -> float:
        """Longest side of the bounding box at rest, metres."""
        return float(np.ptp(self.rest_positions, axis=0).max())

    @property
    def volumes(self) -> np.ndarray:
        """Signed volume of each whole tet at rest, (m,), m³.

        Parts of a tet outside the body are included.
        """
        p = self.rest_positions[self.tets]
        e = p[:, 1:] - p[:, :1]
        return np.einsum("ni,ni->n", e[:, 0], np.cross(e[:, 1], e[:, 2])) / 6.0

    @property
    def mean_edge(self) -> float:
        """Edge length, m, of a regular tet of mean volume."""
        return 2.04 * float(np.mean(self.volumes)) ** (1.0 / 3.0)

    @property
    def body_volumes(self) -> np.ndarray:
        """Volume of the body in each tet, ``volumes * fill``, (m,), m³.

        Masses are computed from these volumes.
        """
        return self.volumes * cast(np.ndarray, self.fill)

    @property
    def corner_volumes(self) -> np.ndarray:
        """Volume of the body at each corner of each tet, (m,4), m³.

        The volume in a tet (``body_volumes``) is distributed to the corners so that the body's centre of mass is
        preserved.
        """
        return self.body_volumes[:, None] * cast(np.ndarray, self.middle)

    @property
    def elastic_volumes(self) -> np.ndarray:
        """Volume by which the elastic energy density of each tet is multiplied, (m,), m³.

        It is the volume of the body in the tet (``body_volumes``), but at least ``LEAST_STIFFNESS`` times the volume of
        the whole tet.
        """
        return self.volumes * np.maximum(cast(np.ndarray, self.fill), LEAST_STIFFNESS)

    def validate(self) -> None:
        """Raise MeshError if the mesh is not valid.

        There must be tets. All vertex indices must exist. Each tet must have a positive volume. Each vertex must belong
        to a tet, since it would have no mass otherwise.
        """
        n = len(self.rest_positions)
        if len(self.tets) == 0:
            raise MeshError("There are no tetrahedra.", "Raise the resolution, or check that the mesh has faces.")
        if self.tets.min() < 0 or self.tets.max() >= n:
            raise MeshError("A tet names a vertex that does not exist.", "Number vertices from 0.")
        loose = np.flatnonzero(np.bincount(self.tets.ravel(), minlength=n) == 0)
        if len(loose):
            raise MeshError(f"Vertex {loose[0]} belongs to no tet.", "Remove such vertices and renumber the tets.")
        volumes = self.volumes
        if not (volumes > 0.0).all():
            raise MeshError(
                f"Tet {int(np.argmin(volumes))} has no positive volume ({volumes.min():.3g} m³).",
                "Swap two corners of inverted tets, remove flat ones, or tetrahedralize the mesh again.",
            )


def checked_tets(vertices: np.ndarray, tets: np.ndarray, drops_loose: bool = False) -> TetMesh:
    """Return a tet mesh after checking it.

    ``vertices`` (n,3), m: rest positions.
    ``tets`` (m,4): vertex indices.
    ``drops_loose``: True to leave out vertices without a tet.

    Raises MeshError if the mesh is not valid.
    """
    x, t = np.asarray(vertices), np.asarray(tets)
    if x.ndim != 2 or x.shape[1] != 3 or x.dtype.kind not in "iuf":
        raise MeshError(f"The vertices are {x.dtype} of shape {x.shape}.", "Give three numbers per row, in metres.")
    if t.ndim != 2 or t.shape[1] != 4 or t.dtype.kind not in "iu":
        raise MeshError(f"The tets are {t.dtype} of shape {t.shape}.", "Give four whole numbers per row, from 0.")
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise MeshError(f"Vertex {bad[0]} has a position that is not a number.", "Correct or remove it.")
    if drops_loose and t.size and 0 <= t.min() <= t.max() < len(x):
        used, t = np.unique(t, return_inverse=True)
        x, t = x[used], t.reshape(-1, 4)
    mesh = TetMesh(x, t)
    mesh.validate()
    return mesh


def oriented(vertices: np.ndarray, tets: np.ndarray) -> TetMesh:
    """Return a tet mesh of positively oriented tets.

    Inverted tets are reoriented, and flat tets are removed. Then vertices without a tet are removed.

    ``vertices`` (n,3), m: rest positions.
    ``tets`` (m,4): vertex indices.
    """
    p = vertices[tets]
    e = p[:, 1:] - p[:, :1]
    determinant = np.einsum("ni,ni->n", e[:, 0], np.cross(e[:, 1], e[:, 2]))
    tets = np.where((determinant < 0.0)[:, None], tets[:, [0, 1, 3, 2]], tets)[determinant != 0.0]
    used, renumbered = np.unique(tets.ravel(), return_inverse=True)
    return TetMesh(vertices[used], renumbered.reshape(-1, 4))
