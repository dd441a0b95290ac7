"""Kinematic region: a closed surface inside a body whose animation prescribes the motion of everything within it.

Tet vertices within the surface are hard pins. Their targets follow the surface's deformation. With the rest positions
X_i of the surface's vertices and their areas A_i, a point at rest position x has weights that decrease with distance,

    w_i = A_i / |x - X_i|⁴ / sum_j (A_j / |x - X_j|⁴),

and follows the affine map that fits the vertices best with these weights [moving least squares, Levin 1998]. The result
is linear in the positions of the surface's vertices. It is exact for affine motions of the surface, rigid ones
included, and smooth for bending. Near the surface it follows the surface.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...foundation.errors import PinError
from ...foundation.schema.declared_types import array_of, coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.tracks import fits
from ...geometry.mesh.surface_mesh import SurfaceMesh

ON_SURFACE = 1e-9
"""Largest distance outside a region, relative to the region's size, at which a point still counts as inside."""

AFFINE = 1e-12
"""Largest distance of all vertices from an affine motion, relative to the region's size, that is ignored."""

NEAREST = 1e-6
"""Distance, relative to the region's size, below which weights no longer increase."""

FLAT = 1e-12
"""Weight of the identity in the fit of an affine map. It matters only for vertices in a plane."""

CHUNK = 2_000_000
"""Largest number of pairs of a point and a vertex that are computed together."""


@dataclass(frozen=True)
class KinematicRegion:
    """Closed surface whose animation prescribes the motion of the part of the body within it.

    Attributes
    ----------
    name : str
        Name in messages.
    surface : SurfaceMesh
        The surface in the body's rest space (k vertices).
    positions : (samples, k, 3) float64
        A track (``core/foundation/schema/tracks.py``) of the positions of the surface's vertices, world space, m. The
        shape of a region that does not move may be (k, 3); by default the region stays at rest.
    held : (frames,) bool
        True if the region holds the body in the interval that ends at a frame. By default it always does.
    """

    name: str
    surface: SurfaceMesh
    positions: np.ndarray | None = field_spec(
        "movement", default=None, dtype=np.float64, over_frames=True, once=True, filled=True
    )
    held: np.ndarray | None = field_spec("Follow", default=None, dtype=bool, over_frames=True, filled=True)

    def __post_init__(self) -> None:
        positions = getattr(self.surface, "positions", None) if self.positions is None else self.positions
        positions = array_of(positions, PinError, "Kinematic region: positions")
        object.__setattr__(self, "positions", positions[None] if positions.ndim == 2 else positions)
        coerce(self, PinError, "Kinematic region")

    def over(self, frames: int) -> KinematicRegion:
        """Return a validated copy for a job of ``frames`` frames."""
        shape = self.positions.shape[1:]
        if shape != self.surface.positions.shape or not (len(self.positions) == 1 or fits(self.positions, frames)):
            raise PinError(
                f"The positions of the region “{self.name}” have shape {self.positions.shape}.",
                "Give one position per frame and vertex of its surface, or one per vertex if it does not move.",
            )
        if not np.isfinite(self.positions).all():
            raise PinError(f"A position of the region “{self.name}” is not a number.", "Check its animation.")
        held = np.ones(frames, dtype=bool) if self.held is None else self.held
        if held.shape != (frames,):
            raise PinError(
                f"The array held of the region “{self.name}” has shape {held.shape}, not {(frames,)}.",
                "Give one True or False per frame.",
            )
        return replace(self, held=held)

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Return the mask (n,) of the ``points`` (n,3), m, that are inside the region at rest, or on its surface."""
        from ...geometry.mesh.surface_depth import SurfaceDepth  # slow to import

        low, high = self.surface.positions.min(axis=0), self.surface.positions.max(axis=0)
        tolerance = ON_SURFACE * self.surface.size
        inside = ((points >= low - tolerance) & (points <= high + tolerance)).all(axis=1)
        near = np.flatnonzero(inside)
        inside[near] = SurfaceDepth(self.surface).at(points[near]) >= -tolerance
        return inside

    def follow(self, points: np.ndarray) -> np.ndarray:
        """Return the positions (samples,n,3), m, of points that move with the region; ``points`` (n,3), m: at rest."""
        surface = self.surface
        X, areas = surface.positions[surface.used], surface.vertex_areas[surface.used]
        track, size, centre = self.positions[:, surface.used], surface.size, X.mean(axis=0)
        affine = np.linalg.pinv(_homogeneous(X, centre, size)) @ track
        moved = _homogeneous(points, centre, size) @ affine
        bent = track - _homogeneous(X, centre, size) @ affine
        if np.abs(bent).max(initial=0.0) > AFFINE * max(size, float(np.abs(track).max(initial=0.0))):
            step = max(CHUNK // len(X), 1)
            for first in range(0, len(points), step):
                part = slice(first, first + step)
                moved[:, part] += _weights(points[part], X, areas, NEAREST * size) @ bent
        return moved


def _homogeneous(points: np.ndarray, centre: np.ndarray, size: float) -> np.ndarray:
    """Return the homogeneous coordinates (n,4) of points, relative to a centre and a size."""
    return np.column_stack([np.ones(len(points)), (points - centre) / size])


def _weights(points: np.ndarray, X: np.ndarray, areas: np.ndarray, nearest: float) -> np.ndarray:
    """Return the weights (n,k) that interpolate values at the vertices X (k,3) to ``points`` (n,3)."""
    squares = ((points[:, None] - X) ** 2).sum(axis=2) + nearest**2
    weights = areas * (squares.min(axis=1, keepdims=True) / squares) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ X
    arms = X - mean[:, None]
    spread = np.einsum("nk,nki,nkj->nij", weights, arms, arms)
    spread += FLAT * np.trace(spread, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    slopes = np.linalg.solve(spread, (points - mean)[:, :, None])
    return weights * (1.0 + (arms @ slopes)[:, :, 0])
