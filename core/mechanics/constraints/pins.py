"""Pins: surface vertices that are held, and the faces and edges between held vertices.

A pinned surface vertex that coincides with a tet vertex, as on meshes of TetGen, has a prescribed position: a hard pin.
Elsewhere springs hold the surface inside the tets (:mod:`constraints.anchors`). Kinematic regions are pins as well: tet
vertices within a region are hard pins, and springs hold its surface where it cuts through tets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.schema.tracks import at_frames, samples_at
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.farthest_points import Chosen, farthest_points
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ..forces.embedded_points import EmbeddedPoints
from ..forces.stiffening_springs import StiffeningSprings
from ..forces.unilateral_springs import Points
from .anchors import Anchors, anchors, cell_sides, conforms

AT_VERTEX = 1e-9
"""A point is treated as a vertex of its tet if a barycentric coordinate is at least 1 minus this tolerance."""

REACH = 0.03
"""Elongation, in cell sides, at which pin springs stiffen. Stiffened springs are so strong that few loads stretch a
spring to twice this elongation.
"""


@dataclass(frozen=True)
class PinSchedule:
    """Hard pins: tet vertices, or unknowns of a subspace, with prescribed positions in each frame.

    ``corners`` (q,): ascending indices of the tet vertices or unknowns. ``targets`` (samples,q,3), m: track of the
    prescribed positions, with evenly spaced samples from frame to frame. ``held`` (frames,q) bool: True if a corner is
    prescribed in the interval that ends at a frame, False if the corner is free.
    """

    corners: np.ndarray
    targets: np.ndarray
    held: np.ndarray

    def held_corners(self, frame: int) -> np.ndarray:
        """Return the ``corners`` (k,) that are prescribed in the interval that ends at ``frame`` (counted from 0)."""
        return self.corners[self.held[frame]]

    def joined(self, other: PinSchedule) -> PinSchedule:
        """Return the pins of both schedules. The first schedule decides about corners in both."""
        new = ~np.isin(other.corners, self.corners)
        corners = np.concatenate([self.corners, other.corners[new]])
        order = np.argsort(corners)
        targets = np.concatenate([self.targets, other.targets[:, new]], axis=1)
        held = np.concatenate([self.held, other.held[:, new]], axis=1)
        return PinSchedule(corners[order], targets[:, order], held[:, order])

    def targets_at(self, frame: int, part: float) -> np.ndarray:
        """Return the prescribed positions of the held ``corners`` at a time between frames, (k,3) m.

        Positions are interpolated linearly between samples. ``part``: passed fraction of the interval that ends at
        ``frame``, from 0 at the beginning to 1 at ``frame``.
        """
        mask = self.held[frame]
        if not len(mask):
            return np.zeros((0, 3))
        before, after, part = samples_at(self.targets, len(self.held), frame, part)
        return before[mask] + part * (after[mask] - before[mask])


class RegionPins(NamedTuple):
    """Pins of a body's kinematic regions.

    ``schedule``: the tet vertices within regions. ``inside`` (r,n) bool: True if a region contains a tet vertex.
    ``of_pin`` (p,): index of the region of each pinned vertex, or -1. ``own``: number of vertices of the body's own
    surface; later vertices belong to regions.
    """

    schedule: PinSchedule
    inside: np.ndarray
    of_pin: np.ndarray
    own: int

    @property
    def owners(self) -> np.ndarray:
        """Index of the region that holds each of the n tet vertices, (n,): the last that contains it, or -1."""
        last = len(self.inside) - 1 - self.inside[::-1].argmax(axis=0)
        return np.where(self.inside.any(axis=0), last, -1)


class PinnedSurface:
    """Pinned vertices of a surface that is embedded in tets, with their hard pins and springs.

    Parameters
    ----------
    surface, mesh : surface and tet mesh of the body; the surfaces of kinematic regions follow the body's own surface
    embedding : tets and barycentric coordinates of all surface vertices
    pinned : (p,) indices of the pinned surface vertices
    positions : (samples,p,3) m, track of their prescribed positions
    held : (frames,p) bool, True for vertices held in the interval that ends at a frame
    most : maximum number of springs
        If the pinned surface has more sample points, only ``most`` samples get a spring. The stiffness of each other
        sample is added to the spring nearest to that sample.
    regions : pins of kinematic regions, or None
    """

    def __init__(
        self,
        surface: SurfaceMesh,
        mesh: TetMesh,
        embedding: Embedding,
        pinned: np.ndarray,
        positions: np.ndarray,
        held: np.ndarray,
        most: float = math.inf,
        regions: RegionPins | None = None,
    ) -> None:
        self.mesh, self.pinned, self.held, self._positions, self.regions = mesh, pinned, held, positions, regions
        self._surface, self._embedding, self._most = surface, embedding, most
        self._last: tuple[np.ndarray, Anchors, Chosen, np.ndarray] | None = None

    def schedule(self) -> PinSchedule:
        """Return the hard pins: the pinned vertices that coincide with a tet vertex, and tet vertices within regions.

        On a mesh that does not conform to the surface, no vertex of the surface is a hard pin. If several pinned
        vertices coincide with the same tet vertex, the first prescribes its position.
        """
        of_pins = self._embedding.take(self.pinned)
        corner = of_pins.barycentric.argmax(axis=1)
        at_vertex = of_pins.barycentric.max(axis=1) >= 1.0 - AT_VERTEX
        exact = np.flatnonzero(at_vertex & conforms(self.mesh))
        corners, first = np.unique(self.mesh.tets[of_pins.tet_indices, corner][exact], return_index=True)
        found = PinSchedule(corners.astype(np.int64), self._positions[:, exact[first]], self.held[:, exact[first]])
        return found if self.regions is None else found.joined(self.regions.schedule)

    @property
    def rest(self) -> np.ndarray:
        """Rest positions of the pinned vertices, (p,3) m."""
        return self._surface.positions[self.pinned]

    def always(self) -> PinnedSurface:
        """Return a copy with a single frame, for vibrations about a rest state.

        The copy holds the vertices that are held in all frames after the first. If there is only one frame, the copy
        holds the vertices held in that frame. Held vertices stay at the prescribed positions of the first sample.
        """
        return self._in_one_frame(np.all)

    def ever(self) -> PinnedSurface:
        """Return a copy with a single frame, which holds the vertices that are held in any frame after the first."""
        return self._in_one_frame(np.any)

    def _in_one_frame(self, reduced: Callable[..., np.ndarray]) -> PinnedSurface:
        def of(held: np.ndarray) -> np.ndarray:
            return reduced(held[min(1, len(held) - 1) :], axis=0)[None]

        regions = self.regions
        if regions is not None:
            inner = regions.schedule
            regions = regions._replace(schedule=PinSchedule(inner.corners, inner.targets[:1], of(inner.held)))
        return self._copy(self._positions[:1], of(self.held), regions)

    def along(self, change: Callable[[np.ndarray], np.ndarray]) -> PinnedSurface:
        """Return a copy with changed prescribed positions.

        ``change`` returns a new track of positions (samples,p,3), m, for the old track.
        """
        return self._copy(change(self._positions), self.held, self.regions)

    def _copy(self, positions: np.ndarray, held: np.ndarray, regions: RegionPins | None) -> PinnedSurface:
        return PinnedSurface(
            self._surface, self.mesh, self._embedding, self.pinned, positions, held, self._most, regions
        )

    def anchors(self, frame: int) -> Anchors:
        """Return the s samples of the pinned surface at which springs may act.

        The springs act in the interval that ends at ``frame``. Samples held by hard pins are omitted.
        """
        return self._found(frame)[0]

    def pinned_tets(self, frame: int) -> np.ndarray:
        """Return the indices of the tets in which springs hold the body's own surface.

        The springs of kinematic regions do not count: the surface around a bone moves, and collides.
        """
        found = self.anchors(frame)
        tets = found.embedding.tet_indices
        if self.regions is None:
            return tets
        return tets[np.diff(found.target_weights[:, self.regions.of_pin < 0].indptr) > 0]

    def few(self, frame: int) -> Chosen:
        """Choose some of the s samples of :meth:`anchors`, to have fewer springs.

        At most ``most`` samples are chosen (see the class). The result holds the indices ``points`` (c,) of the chosen
        samples, and ``nearest`` (s,): the chosen sample that is nearest to sample i is ``points[nearest[i]]``.
        """
        return self._found(frame)[1]

    def reach(self, frame: int) -> np.ndarray:
        """Return the elongation at which each spring stiffens, (c,) m, at the samples chosen by :meth:`few`."""
        return self._found(frame)[2]

    def _found(self, frame: int) -> tuple[Anchors, Chosen, np.ndarray]:
        held = self.held[frame]
        if self._last is None or not np.array_equal(self._last[0], held):
            own = None if self.regions is None else self.regions.own
            found = anchors(self._surface, self.mesh, self._embedding, self.pinned, held, own)
            found = self._without_hard(found, frame)
            places = found.embedding.apply(self.mesh.rest_positions, self.mesh.tets)
            few = farthest_points(places, self._most)
            reach = REACH * cell_sides(self.mesh)[found.embedding.tet_indices[few.points]]
            self._last = held, found, few, reach
        return self._last[1:]

    def _without_hard(self, found: Anchors, frame: int) -> Anchors:
        """Return the samples of ``found`` that can still move if the hard pins of ``frame`` are fixed."""
        hard = self.schedule().held_corners(frame)
        points = EmbeddedPoints(found.embedding, self.mesh.tets, len(self.mesh.rest_positions))
        free = np.flatnonzero(~points.held(hard))
        return Anchors(found.embedding.take(free), found.factors[free], found.target_weights[free])

    def holding(self, frame: int, moduli: np.ndarray) -> sp.csr_matrix:
        """Return the stiffness matrix of all springs, (n,n) N/m, the same for x, y and z.

        The springs are those in the interval that ends at ``frame``. ``moduli`` (m,), Pa: Young's moduli of the tets.
        Rows and columns belong to the n tet vertices.
        """
        found = self.anchors(frame)
        P = found.embedding.matrix(self.mesh.tets, len(self.mesh.rest_positions))
        return (P.T @ sp.diags(found.factors * moduli[found.embedding.tet_indices]) @ P).tocsr()

    def give(self, frame: int, displacements: np.ndarray, moduli: np.ndarray) -> float:
        """Return the mean elongation of the springs, relative to the elongation at which springs stiffen.

        The mean is weighted by stiffness times squared relative elongation. The result is 0 without springs.
        ``displacements`` (n,3), m: displacements of the tet vertices. ``moduli`` (m,), Pa: Young's moduli of the tets.
        """
        found = self.anchors(frame)
        P = found.embedding.matrix(self.mesh.tets, len(self.mesh.rest_positions))
        tets = found.embedding.tet_indices
        away = np.linalg.norm(P @ displacements, axis=1) / (REACH * cell_sides(self.mesh)[tets])
        energies = found.factors * moduli[tets] * away**2
        return float(energies @ away / energies.sum()) if len(away) and energies.any() else 0.0

    def targets_of(self, frame: int) -> np.ndarray:
        """Return the prescribed positions (p,3) m of the pinned vertices at ``frame``."""
        return at_frames(self._positions, len(self.held))[frame]

    def targets_at(self, frame: int, part: float) -> np.ndarray:
        """Return the prescribed positions of the pinned vertices at a time between frames, (p,3) m.

        Positions are interpolated linearly between samples. ``part``: passed fraction of the interval that ends at
        ``frame``, from 0 at the beginning to 1 at ``frame``.
        """
        before, after, part = samples_at(self._positions, len(self.held), frame, part)
        return before + part * (after - before)


class PinLoad(NamedTuple):
    """Springs that hold c points of a surface at targets. The targets follow the p pinned vertices.

    ``points``: positions of the c points as functions of a solver's unknowns; ``stiffness`` (c,) N/m; ``reach`` (c,) m,
    the elongation at which each spring stiffens; ``target_weights`` (c,p), weights that interpolate the targets from
    the positions of the pinned vertices.
    """

    points: Points
    stiffness: np.ndarray
    reach: np.ndarray
    target_weights: sp.csr_matrix

    def load(self, before: np.ndarray, after: np.ndarray) -> StiffeningSprings:
        """Return the springs as a load of one step.

        ``before``, ``after`` (p,3), m: positions of the pinned vertices at the beginning and at the end of the step.
        """
        return StiffeningSprings(
            self.points, self.stiffness, self.reach, self.target_weights @ before, self.target_weights @ after
        )


class PinSprings(NamedTuple):
    """Builder of the springs of a pinned surface for each frame.

    Attributes
    ----------
    pinned : PinnedSurface
    moduli : (m,) Pa, Young's moduli of the tets
    carried : function that turns an Embedding into Points
        The Embedding holds the tets and barycentric coordinates of points on the surface. The positions of the Points
        depend on a solver's unknowns: vertex positions, or unknowns of a subspace.
    """

    pinned: PinnedSurface
    moduli: np.ndarray
    carried: Callable[[Embedding], Points]

    def holding(self, frame: int, scale: np.ndarray) -> PinLoad | None:
        """Return the springs in the interval that ends at ``frame``, or None without springs.

        ``scale`` (m,): factor of the Young's modulus of each tet.
        """
        found, few = self.pinned.anchors(frame), self.pinned.few(frame)
        if len(found.factors) == 0:
            return None
        tets = found.embedding.tet_indices
        stiffness = np.bincount(few.nearest, found.factors * (self.moduli[tets] * scale[tets]))
        points = self.carried(found.embedding.take(few.points))
        return PinLoad(points, stiffness, self.pinned.reach(frame), found.target_weights[few.points])
