"""Cutter: a mesh, still or moving, that splits a body along the surface that it sweeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import CutError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec


@dataclass(frozen=True)
class Cutter:
    """Mesh that cuts a body along the surface that it sweeps.

    Faces are a blade, and edges in no face are a wire. A closed mesh that stands still cuts its inside out of the body.

    Attributes
    ----------
    name : str
        Name in messages.
    positions : (f, k, 3) float64
        Vertex positions at f frames, in the coordinates of the body's rest shape.
    triangles : (t, 3) int32
        Vertex indices of the faces.
    edges : (e, 2) int32
        Vertex indices of edges in no face.
    frames : (f,) float64
        Frame numbers of the positions, ascending; fractions are allowed. A cutter that stands still has one.
    """

    name: str
    positions: np.ndarray = field_spec("positions", dtype=np.float64)
    triangles: np.ndarray = field_spec("faces", default=(), dtype=np.int32)
    edges: np.ndarray = field_spec("edges", default=(), dtype=np.int32)
    frames: np.ndarray = field_spec("frames", default=(1.0,), dtype=np.float64)

    def __post_init__(self) -> None:
        coerce(self, CutError, "Cutter")
        for name, width in (("triangles", 3), ("edges", 2)):
            if getattr(self, name).size == 0:
                object.__setattr__(self, name, np.empty((0, width), dtype=np.int32))
            indices, k = getattr(self, name), self.positions.shape[1:2]
            if indices.ndim != 2 or indices.shape[1] != width:
                raise CutError(f"{self.words}: its {name} have shape {indices.shape}.", f"Give {width} vertices each.")
            if indices.size and not (k and 0 <= indices.min() <= indices.max() < k[0]):
                raise CutError(f"{self.words} names a vertex that does not exist.", "Number vertices from 0.")
        shape, frames = self.positions.shape, self.frames
        if len(shape) != 3 or shape[2] != 3 or not shape[0] or frames.shape != shape[:1]:
            raise CutError(
                f"{self.words}: positions of shape {shape} do not fit frames of shape {frames.shape}.",
                "Give the positions of all vertices at each frame: (frames, vertices, 3).",
            )
        if not np.isfinite(self.positions).all() or not np.isfinite(frames).all() or (np.diff(frames) <= 0.0).any():
            raise CutError(
                f"{self.words} has positions or frames that are not numbers, or frames that do not ascend.",
                "Check its animation.",
            )
        if not len(self.triangles) and not len(self.edges):
            raise CutError(f"{self.words} has neither faces nor edges.", "Give it a blade, or a wire.")

    @property
    def words(self) -> str:
        """Name of the cutter in messages."""
        return f"The cutter “{self.name}”"
