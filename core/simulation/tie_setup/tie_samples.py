"""Points at which a tie acts: samples of one surface that lie near another surface or inside another body at rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.errors import TieError
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.surface_depth import SurfaceDepth
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.vertex_normals import face_normals
from ...jobs.job.tie import GLUE, SLIDE, Tie

FIRM = {GLUE: 1e3, SLIDE: 10.0}
"""Stiffness of a tie of strength 1 per area, in units of Young's modulus over the mean edge of the softer side's tets.

A bar of two meshes then sags as one mesh within 0.2 %, at the same number of iterations; a patch test of two unrelated
meshes has an error of 6e-4 (``bench attached``). Sliding points must be softer: a stiff spring would feel the facets of
the surface.
"""

SPACING = 0.25
"""Largest distance of the samples, in mean edges of the finer tets. Larger faces are divided for the samples."""

MOST_PARTS = 8
"""Largest number of parts into which the edge of a face is divided for the samples."""

FACING = 0.5
"""Least cosine of the angle between the normal of a tied point and the direction to the other surface."""

ROUNDING = 1e-6
"""Distance from the other surface, relative to the largest, at which a point touches it and has no direction to it."""


class Side(NamedTuple):
    """One of the two bodies of a tie.

    ``surface``: rest surface. ``mesh``: tets. ``youngs_modulus`` (m,), Pa: of the tets. ``weights`` (n,): relative
    strength of the tie at each surface vertex, or None for 1.
    """

    surface: SurfaceMesh
    mesh: TetMesh
    youngs_modulus: np.ndarray
    weights: np.ndarray | None = None

    def stiffness(self, at: Embedding) -> np.ndarray:
        """Return Young's modulus over the mean edge of the tets, (s,) Pa/m, at embedded points."""
        return self.youngs_modulus[at.tet_indices] / self.mesh.mean_edge


class TieSamples(NamedTuple):
    """Samples of a tie between two bodies, or between a body and a collider.

    Attributes
    ----------
    sampled : index of the side that has the samples: 0 the body of the tie, 1 the other body
    points : (s,3) m, samples at rest
    first : embedding of the samples in the tets of the sampled side
    second : embedding of the samples in the tets of the other side; None for a collider
    areas : (s,) m², area that each sample represents
    stiffness : (s,) N/m at strength 1
    """

    sampled: int
    points: np.ndarray
    first: Embedding
    second: Embedding | None
    areas: np.ndarray
    stiffness: np.ndarray


def samples_of_bodies(tie: Tie, own: Side, other: Side) -> TieSamples:
    """Return the samples of a tie between two bodies.

    The surface of the body with the finer tets is sampled, where it lies near the other body or inside it; the other
    one if that yields no sample, as for a fine body around a coarse one. Raises TieError if neither does.
    """
    sides = own, other
    finest = min(each.mesh.mean_edge for each in sides)
    finer = int(np.argmin([each.mesh.mean_edge for each in sides]))
    for sampled in (finer, 1 - finer):
        this, that = sides[sampled], sides[1 - sampled]
        points, corners, shares, areas = _divided(this.surface, SPACING * finest)
        near = NearestPointSearch(that.surface.positions, that.surface.triangles).nearest(points)
        second = embed(points, that.mesh)
        reach = tie.reach(finest)
        weights = np.ones(len(points))
        if this.weights is not None:
            weights = np.einsum("sc,sc->s", shares, this.weights[corners])
        elif that.weights is not None:
            weights = np.einsum("sc,sc->s", near.weights, that.weights[that.surface.triangles[near.triangles]])
        is_near = _faces(near.points - points, this.surface.positions[corners], reach) | (
            SurfaceDepth(that.surface).at(points) > 0.0
        )
        chosen = np.flatnonzero(is_near & (weights > 0.0))
        if len(chosen):
            first, second = embed(points[chosen], this.mesh), second.take(chosen)
            a, b = this.stiffness(first), that.stiffness(second)
            softer = np.where(this.youngs_modulus[first.tet_indices] <= that.youngs_modulus[second.tet_indices], a, b)
            stiffness = FIRM[tie.kind] * softer * areas[chosen] * weights[chosen]
            return TieSamples(sampled, points[chosen], first, second, areas[chosen], stiffness)
    raise _apart(tie)


def samples_at_collider(tie: Tie, own: Side, positions: np.ndarray, triangles: np.ndarray) -> TieSamples:
    """Return the samples of a tie to a collider, on the surface of the body.

    ``positions`` (k,3), m: vertices of the collider at the first frame. ``triangles`` (t,3). Raises TieError if no
    sample is near the collider.
    """
    edge = own.mesh.mean_edge
    points, corners, shares, areas = _divided(own.surface, SPACING * edge)
    near = NearestPointSearch(positions, triangles).nearest(points)
    weights = np.ones(len(points)) if own.weights is None else np.einsum("sc,sc->s", shares, own.weights[corners])
    is_near = _faces(near.points - points, own.surface.positions[corners], tie.reach(edge))
    chosen = np.flatnonzero(is_near & (weights > 0.0))
    if not len(chosen):
        raise _apart(tie)
    first = embed(points[chosen], own.mesh)
    stiffness = FIRM[tie.kind] * own.stiffness(first) * areas[chosen] * weights[chosen]
    return TieSamples(0, points[chosen], first, None, areas[chosen], stiffness)


def _faces(away: np.ndarray, corners: np.ndarray, reach: float) -> np.ndarray:
    """Return the mask (s,) of the samples that face another surface within ``reach``, m.

    ``away`` (s,3), m: vector from each sample to the nearest point of the other surface. ``corners`` (s,3,3), m: of the
    sample's face. Without the limit on the angle, the sides of two blocks would be tied beside the faces that meet.
    """
    distance = np.linalg.norm(away, axis=1)
    return (distance <= reach) & (np.sum(away * face_normals(corners), axis=1) >= FACING * distance - ROUNDING * reach)


def _apart(tie: Tie) -> TieError:
    where = "painted " if tie.weights is not None else ""
    return TieError(
        f"{tie.words} joins nothing: no {where}part of the surface is near “{tie.other}” at rest.",
        "Move the two together, raise the tie's distance, or paint its vertex group where they meet.",
    )


def _divided(surface: SurfaceMesh, spacing: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return samples of a surface: points (s,3), corners (s,3) of their faces, barycentric weights (s,3), areas (s,).

    A face is divided into q² congruent triangles with edges of at most ``spacing``, m, and has a sample at the centroid
    of each.
    """
    corners = surface.positions[surface.triangles]
    longest = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1, initial=0.0)
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    parts = np.clip(np.ceil(longest / spacing - 1e-6), 1, MOST_PARTS).astype(np.int64)
    face, shares, areas = [], [], []
    for q in np.unique(parts[area > 0.0]):
        of = np.flatnonzero((parts == q) & (area > 0.0))
        each = _centroids(int(q))
        face.append(np.repeat(of, len(each)))
        shares.append(np.tile(each, (len(of), 1)))
        areas.append(np.repeat(area[of] / len(each), len(each)))
    at, shares_of_all = np.concatenate(face), np.concatenate(shares)
    triangles = surface.triangles[at].astype(np.int64)
    return (
        np.einsum("sc,sci->si", shares_of_all, surface.positions[triangles]),
        triangles,
        shares_of_all,
        np.concatenate(areas),
    )


def _centroids(parts: int) -> np.ndarray:
    """Return the barycentric coordinates (q²,3) of the centroids of the q² congruent parts of a triangle."""
    i, j = (each.ravel() for each in np.mgrid[:parts, :parts])
    upright, turned = i + j < parts, i + j < parts - 1
    a = np.concatenate([i[upright] + 1.0 / 3.0, i[turned] + 2.0 / 3.0]) / parts
    b = np.concatenate([j[upright] + 1.0 / 3.0, j[turned] + 2.0 / 3.0]) / parts
    return np.column_stack([a, b, 1.0 - a - b])
