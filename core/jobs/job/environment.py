"""External influences on a body: springs and colliders (including the ground), sampled over the frames.

All data are in world space and SI units. ``simulation/preparation/loads.py`` computes the forces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import ColliderError, SpringError
from ...foundation.schema.declared_types import array_of, coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.setting_fields import check_ranges, number
from ...foundation.schema.settings import ColliderSettings
from ...foundation.schema.tracks import fits


@dataclass(frozen=True)
class Spring:
    """Springs of rest length zero from surface vertices to moving targets.

    If the targets are animated positions of the vertices themselves, the springs act as soft pins. The springs of the
    field ``goal`` of a :class:`Body` differ in two points: ``weights`` are absolute, not relative, and ``stiffness`` is
    a factor without a unit.

    Attributes
    ----------
    name : str
        Name in messages.
    vertices : (p,) int32
        Surface vertices; at least one.
    weights : (p,) float64
        Relative stiffness of the spring at each vertex; none is negative, and at least one is positive.
    targets : (samples, p, 3) float64
        A track (``core/foundation/schema/tracks.py``) of each vertex's target, m.
    stiffness : (frames,) float64
        Total stiffness of the springs of all vertices, N/m, per frame; 0 releases the vertices.
    """

    name: str
    vertices: np.ndarray = field_spec(dtype=np.int32, counted=True)
    weights: np.ndarray = field_spec(dtype=np.float64, counted=True)
    targets: np.ndarray = field_spec("target", dtype=np.float64, over_frames=True)
    stiffness: np.ndarray = field_spec("strength", dtype=np.float64, over_frames=True)

    def __post_init__(self) -> None:
        coerce(self, SpringError, "Spring")
        p = self.vertices.size
        if self.vertices.ndim != 1 or p == 0:
            raise SpringError(f"The spring “{self.name}” pulls no vertex.", "Choose vertices for the spring.")
        track = self.stiffness.ndim == 1 and fits(self.targets, len(self.stiffness))
        if self.weights.shape != (p,) or not track or self.targets.shape[1:] != (p, 3):
            raise SpringError(
                f"The arrays of the spring “{self.name}” have wrong shapes.",
                "Give one weight per vertex, one stiffness per frame, and one target per sample and vertex.",
            )
        if not (self.weights >= 0.0).all() or not np.isfinite(self.weights).all() or not self.weights.any():
            raise SpringError(
                f"The weights of the spring “{self.name}” are negative, not finite, or all zero.",
                "Give finite weights of 0 or more, at least one above 0.",
            )
        if not (self.stiffness >= 0.0).all() or not np.isfinite(self.stiffness).all():
            raise SpringError(
                f"The strength of the spring “{self.name}” is negative or not a number.", "Set 0 N/m or more."
            )
        if not np.isfinite(self.targets).all():
            raise SpringError(
                f"A target of the spring “{self.name}” is not a number.", "Check the animation of its target."
            )


@dataclass(frozen=True, kw_only=True)
class Ground(ColliderSettings):
    """Level floor: the infinite plane z = ``height``."""

    name: str = "Ground"
    height: float = number(0.0, None, None, "m", "Height of the level floor in the world, m; 0 is the grid")


@dataclass(frozen=True)
class Collider(ColliderSettings):
    """A surface that the body collides with, still or animated.

    Attributes
    ----------
    name : str
        Name in messages.
    triangles : (t,3) int32
        Triangles of k vertices, with outward normals by the right-hand rule; the surface may be open.
    positions : (1 or samples, k, 3) float64
        Vertex positions, m. The samples are evenly spaced in time, from the job's first frame to its last
        (``core/foundation/schema/tracks.py``). A static collider needs only one sample, and its positions may also have
        the shape (k, 3). If all samples are equal, only one is kept.
    """

    name: str
    triangles: np.ndarray = field_spec("faces", dtype=np.int32)
    positions: np.ndarray = field_spec("shape or movement", dtype=np.float64, over_frames=True, once=True)

    def __post_init__(self) -> None:
        positions = array_of(self.positions, ColliderError, "Collider: positions")
        object.__setattr__(self, "positions", positions[None] if positions.ndim == 2 else positions)
        coerce(self, ColliderError, "Collider")
        check_ranges(self, ColliderError, f"The collider “{self.name}”")
        if self.triangles.ndim != 2 or self.triangles.shape[1] != 3 or len(self.triangles) == 0:
            raise ColliderError(f"The collider “{self.name}” has no faces.", "Add faces, or remove it.")
        if self.positions.ndim != 3 or self.positions.shape[2] != 3 or len(self.positions) == 0:
            raise ColliderError(
                f"The positions of the collider “{self.name}” have shape {self.positions.shape}.",
                "Give one position per sample and vertex, or a single sample.",
            )
        if self.triangles.min() < 0 or self.triangles.max() >= self.positions.shape[1]:
            raise ColliderError(
                f"A face of the collider “{self.name}” names a vertex that does not exist.", "Check its mesh."
            )
        bad = np.argwhere(~np.isfinite(self.positions))
        if len(bad):
            raise ColliderError(
                f"Vertex {bad[0][1]} of the collider “{self.name}” has a position that is not a number.",
                "Check the modifiers and the animation of the collider.",
            )
