"""Tetrahedra of a body, read from disk, and the triangles to draw.

This module imports Numba, so it is imported only when the overlay is shown.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.foundation.schema.muscle_settings import MuscleSettings
from ...core.geometry.mesh.tet_faces import clip_plane_mask, tet_faces
from ...core.jobs.store.cached_materials import cached_files, received
from ...core.jobs.store.frame_store import FrameStore
from ...core.mechanics.assembly.deformation_gradient import shape_gradients
from ...core.mechanics.fibres.registry import fibre_law
from ..cache import frame_folders
from .preview_colours import cluster_colours, stiffness_colours

if TYPE_CHECKING:
    from ...core.jobs.store.cached_materials import CachedMaterials


FIBRE = 0.4
"""Half the length of the line that shows a fibre, in sizes of a tet's cell."""


class Slice(NamedTuple):
    """Cutting plane through a body's tetrahedra, perpendicular to an axis.

    ``axis``: 0, 1 or 2.
    ``offset``: position of the plane, from 0 (lowest tet) to 1 (highest tet).
    ``flipped``: False to show the tets below the plane, True to show the tets above.
    """

    axis: int
    offset: float
    flipped: bool


class Corners(NamedTuple):
    """Vertex attributes of the corners of t triangles, each (3t,4) float32.

    ``position``: x, y, z in object space, and the index of the corner in its triangle (0, 1 or 2).
    ``normal``: outward unit normal, and 0.
    ``colour``: linear red, green, blue, and 1.
    """

    position: np.ndarray
    normal: np.ndarray
    colour: np.ndarray


class Fibres(NamedTuple):
    """Fibres in f tets.

    ``ends`` (2f,3): ends of a line per fibre, in object space. ``stretch`` (f,). ``parts`` (f,): position between the
    muscle's origin, 0, and its insertion, 1.
    """

    ends: np.ndarray
    stretch: np.ndarray
    parts: np.ndarray

    def tension(self, settings: MuscleSettings, activation: float) -> np.ndarray:
        """Return the tension (f,), Pa, at an activation from 0 to 1."""
        law, is_tendon = fibre_law(settings.law), settings.is_tendon(self.parts)
        active = np.full(len(self.stretch), activation)
        muscle = law.terms(self.stretch, active, settings).slope
        return np.where(is_tendon, law.terms(self.stretch, 0.0 * active, settings.of_tendon).slope, muscle)


class ShownTets:
    """Tetrahedra of a body, ready to draw.

    Attributes
    ----------
    count : number of tetrahedra
    names : names of the k materials
    colours_of_materials : (k,3), linear
    stiffness : lowest and highest Young's modulus, Pa
    outside : (v,3) float32, object space, positions of badly embedded vertices, which are far outside all tetrahedra
    """

    def __init__(self, got: CachedMaterials) -> None:
        to_own = np.linalg.inv(got.object_to_world)
        mesh, surface = got.mesh, got.embedding
        self._positions = _transformed(to_own, mesh.rest_positions)
        # Tets are positively oriented in world space.
        self._outwards = 1.0 if np.linalg.det(to_own[:3, :3]) > 0.0 else -1.0
        self._centroids = self._positions[mesh.tets].mean(axis=1)
        self._faces = tet_faces(mesh.tets)
        self._log_stiffness = np.log10(got.youngs_modulus)
        self._weights = got.weights
        self._fibres = got.fibres @ to_own[:3, :3].T
        self._muscles, self._parts, self._tets, self._to_own = got.muscles, got.parts, mesh.tets, to_own
        self._cell = float(np.cbrt(6.0 * mesh.volumes.mean() * abs(np.linalg.det(to_own[:3, :3]))))
        self.count = len(mesh.tets)
        self.names = got.names
        self.colours_of_materials = cluster_colours(np.arange(len(got.names)))
        self.stiffness = float(got.youngs_modulus.min()), float(got.youngs_modulus.max())
        bad = surface.take(np.flatnonzero(surface.far_outside))
        self.outside = _transformed(to_own, bad.apply(mesh.rest_positions, mesh.tets))

    @property
    def muscles(self) -> tuple[int, ...]:
        """Indices of the materials with fibres, ascending."""
        return tuple(int(k) for k in np.unique(self._muscles[self._muscles >= 0]))

    def fibres(self, material: int, cut: Slice | None, vertices: np.ndarray | None = None) -> Fibres:
        """Return the fibres of a material, one per tet that the cutting plane ``cut`` leaves visible.

        ``vertices`` (n,3), m: deformed tet vertices in world space, or None at rest.
        """
        kept = self._muscles == material
        if cut is not None:
            kept = kept & clip_plane_mask(self._centroids, *cut)
        along, centres, parts = _unit(self._fibres[kept]), self._centroids[kept], self._parts[kept]
        if vertices is not None and len(vertices) == len(self._positions):
            tets = self._tets[kept]
            moved = _transformed(self._to_own, vertices)
            u = moved[tets] - self._positions[tets]
            slopes = np.einsum("tai,ti->ta", shape_gradients(self._positions.astype(np.float64), tets), along)
            along, centres = along + np.einsum("ta,tai->ti", slopes, u), centres + u.mean(axis=1)
        half = FIBRE * self._cell * along
        ends = np.stack([centres - half, centres + half], axis=1).reshape(-1, 3)
        return Fibres(ends, np.linalg.norm(along, axis=1), parts)

    def corners(self, colour: str, cut: Slice | None) -> Corners:
        """Return the corners of the triangles to draw.

        The triangles are the boundary of all tets or, with ``cut``, of the tets that this cutting plane leaves visible.

        ``colour``: STIFFNESS or MATERIALS.
        """
        kept = np.ones(self.count, dtype=bool) if cut is None else clip_plane_mask(self._centroids, *cut)
        triangles, owners = self._faces.around(kept)
        x = self._positions[triangles]
        across = self._outwards * np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        normals = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
        if colour == "MATERIALS":
            colours = self._weights[owners] @ self.colours_of_materials
        else:
            ends = self._log_stiffness.min(), self._log_stiffness.max()
            colours = stiffness_colours(self._log_stiffness[owners], *map(float, ends))
        t = len(triangles)
        number = np.tile(np.arange(3.0, dtype=np.float32), t)
        return Corners(
            np.column_stack([x.reshape(-1, 3), number]).astype(np.float32),
            np.repeat(np.column_stack([normals, np.zeros(t)]), 3, axis=0).astype(np.float32),
            np.repeat(np.column_stack([colours, np.ones(t)]), 3, axis=0).astype(np.float32),
        )


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def newest_store(obj: Any) -> tuple[FrameStore | None, tuple[int, ...]]:
    """Return the frame store with a body's newest tetrahedra.

    The stores of the body's bake and of live mode are compared. The second result has the modification times of the
    files with the tetrahedra, ns. The result is (None, ()) if neither store has tetrahedra.
    """
    folders = [frame_folders.recorded_folder(obj), frame_folders.live_path(obj) if frame_folders.has_home() else None]
    found = []
    for store in (FrameStore(folder) for folder in folders if folder is not None):
        files = cached_files(store)
        if all(os.path.isfile(path) for path in files):
            found.append((store, tuple(path.stat().st_mtime_ns for path in files)))
    return max(found, key=lambda pair: pair[1][-1], default=(None, ()))


def read_tets(store: FrameStore) -> ShownTets | None:
    """Return the tetrahedra that were last written to a store, or None for incomplete files."""
    got = received(store)
    return None if got is None else ShownTets(got)


def _transformed(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    return (points @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
