"""Seams of a body: its surface is split into pieces beforehand, which hold together until they are cut or tear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import SeamError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...geometry.mesh.surface_mesh import SurfaceMesh

SAME = 1e-9
"""Largest distance of vertices that coincide, relative to the size of the surface."""


@dataclass(frozen=True)
class Seams:
    """Pieces of a body's surface, and the seams between them.

    The surface consists of closed pieces that share no vertex. Pieces touch along seams, where the faces of both
    coincide with opposite normals. The pieces hold together at a seam until its cut frame, or until it tears.

    Attributes
    ----------
    pieces : (n,) int32
        Piece of each surface vertex, from 0.
    seam_faces : (t,) bool
        True for triangles of the surface that lie on a seam.
    cut_frames : (n,) float64
        Frame in which the seam is cut at each vertex of its faces; inf: never. Default: never.
    tear_stress : (n,) float64
        Force per area at which the seam tears at each vertex of its faces, Pa: bread 1e4, flesh 1e5; inf: never.
        Default: never.
    original : SurfaceMesh or None
        The surface before the split. The tets are made for it, as for a body without seams. By default it is put
        together from the pieces; in flat faces its triangles are others then.
    """

    pieces: np.ndarray = field_spec("pieces", dtype=np.int32, counted=True)
    seam_faces: np.ndarray = field_spec("faces of seams", dtype=bool, counted=True)
    cut_frames: np.ndarray | None = field_spec("frames of cuts", word="ties", default=None, dtype=float, filled=True)
    tear_stress: np.ndarray | None = field_spec("tear stress", word="ties", default=None, dtype=float, filled=True)
    original: SurfaceMesh | None = field_spec("surface before the split", default=None)

    def __post_init__(self) -> None:
        coerce(self, SeamError, "Seams")
        for name in ("cut_frames", "tear_stress"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(self.pieces.shape, np.inf))
        if self.pieces.ndim != 1 or not self.pieces.size or self.pieces.min() < 0:
            raise SeamError("The pieces of seams are not a list of numbers from 0.", "Give one piece per vertex.")
        if self.count > len(self.pieces) or len(np.unique(self.pieces)) != self.count:
            raise SeamError("A piece has no vertex.", "Number the pieces from 0 without gaps.")
        bad = np.flatnonzero(~(self.tear_stress >= 0.0).ravel())
        if len(bad):
            raise SeamError(f"The tear stress at vertex {bad[0]} is negative or not a number.", "Set it to 0 or more.")
        if np.isnan(self.cut_frames).any():
            raise SeamError("The cut frame of a vertex is not a number.", "Give a frame, or inf for no cut.")

    @property
    def count(self) -> int:
        """Number of pieces."""
        return int(self.pieces.max()) + 1

    @property
    def tears(self) -> bool:
        """True if a seam may tear."""
        return bool(np.isfinite(self.tear_stress).any())

    def check(self, surface: SurfaceMesh, is_rigid: bool) -> None:
        """Raise SeamError for a rigid body, if the arrays do not fit the surface, or if a face is in two pieces."""
        if is_rigid:
            raise SeamError("A rigid body cannot have seams.", "Choose another method of the tetrahedra.")
        if self.original is not None:
            self.original.validate()
        n, t = len(surface.positions), len(surface.triangles)
        for name, count in (("pieces", n), ("seam_faces", t), ("cut_frames", n), ("tear_stress", n)):
            if (shape := getattr(self, name).shape) != (count,):
                raise SeamError(
                    f"The {name.replace('_', ' ')} of seams have shape {shape}, not {(count,)}.",
                    f"Give one value per {'face' if name == 'seam_faces' else 'vertex'} of the surface.",
                )
        if not t or surface.triangles.min() < 0 or surface.triangles.max() >= n:
            return  # SurfaceMesh.validate reports such faces
        bad = np.flatnonzero(np.ptp(self.pieces[surface.triangles], axis=1) > 0)
        if len(bad):
            raise SeamError(f"Face {bad[0]} belongs to two pieces.", "Split the surface along its seams.")

    def welded(self, surface: SurfaceMesh) -> np.ndarray:
        """Return the vertex of the surface before the split that each vertex is a copy of, (n,), from 0 on.

        Vertices of seams that coincide are one.
        """
        from scipy.sparse import coo_matrix  # slow to import, as is SciPy's tree
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree

        n, on_seam = len(surface.positions), np.unique(surface.triangles[self.seam_faces])
        if not len(on_seam):
            return np.arange(n)
        same = on_seam[cKDTree(surface.positions[on_seam]).query_pairs(SAME * surface.size, output_type="ndarray")]
        return connected_components(coo_matrix((np.ones(len(same)), tuple(same.T)), shape=(n, n)))[1]

    def before(self, surface: SurfaceMesh) -> SurfaceMesh:
        """Return the surface before the split."""
        index = self.welded(surface)
        first = np.unique(index, return_index=True)[1]
        return SurfaceMesh(surface.positions[first], index[surface.triangles[~self.seam_faces]])

    def opposite_faces(self, surface: SurfaceMesh) -> np.ndarray:
        """Return the face on the other side of each face of a seam, (s,), as indices of all faces.

        Raises SeamError if a piece is open, or if the faces of two pieces do not coincide at a seam.
        """
        from ...geometry.mesh.topology import open_edges

        if count := len(open_edges(surface.triangles)):
            raise SeamError(
                f"The pieces of the split surface are open along {count} edges.",
                "Close the surface before it is split (Mesh > Clean Up > Fill Holes).",
            )
        faces = np.flatnonzero(self.seam_faces)
        keys = np.sort(self.welded(surface)[surface.triangles[faces]], axis=1)
        order = np.lexsort(keys.T)
        first, second = order[: len(order) // 2 * 2].reshape(-1, 2).T
        owner = self.pieces[surface.triangles[faces, 0]]
        coincides = (keys[first] == keys[second]).all(axis=1) & (owner[first] != owner[second])
        if len(faces) % 2 or not coincides.all():
            bad = faces[order[-1] if coincides.all() else first[np.argmin(coincides)]]
            raise SeamError(
                f"Face {bad} of a seam does not coincide with a face of another piece.",
                "Give both sides of a seam the same triangles, with opposite normals.",
            )
        opposite = np.empty(len(faces), dtype=np.int64)
        opposite[first], opposite[second] = faces[second], faces[first]
        return opposite
