"""Pressure in the chambers of a body: cavities of its surface, or its whole inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import ChamberError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.setting_fields import choice
from ...geometry.mesh.surface_mesh import SurfaceMesh, signed_volume

FLAT = 1e-6
"""Least volume of a chamber, relative to the cube of the size of its surface."""


@dataclass(frozen=True)
class Chamber:
    """Pressure in the chambers of a body.

    Attributes
    ----------
    is_gas : bool
        True for a gas in air of 101325 Pa: the pressure rises as the volume falls. False for the same pressure at any
        volume.
    vertices : (k,) int32
        Surface vertices around a single chamber: faces count if all their vertices do. By default, every cavity of the
        surface is a chamber, or without a cavity the whole inside.
    pressure : (frames,) float64
        Pressure above that of the air, Pa, at each frame, or a single value; that of a gas at the rest volume.
    shared : str
        Name of a chamber that several bodies enclose together: the faces of all bodies with this name are its surface,
        and vertices that touch on their borders close it. Empty: the chamber is that of the body alone.
    """

    is_gas: bool = choice(True, "Gas, whose pressure rises as the volume falls, instead of the same pressure always")
    vertices: np.ndarray = field_spec("vertices", default=(), dtype=np.int32, counted=True)
    pressure: np.ndarray = field_spec("pressure", default=(0.0,), dtype=np.float64, over_frames=True, once=True)
    shared: str = choice("", "Name of a chamber that several bodies enclose together, such as Tyre; empty: its own")

    def __post_init__(self) -> None:
        coerce(self, ChamberError, "Chamber")
        object.__setattr__(self, "pressure", np.atleast_1d(self.pressure))
        if self.pressure.ndim != 1 or not np.isfinite(self.pressure).all():
            raise ChamberError("The pressure in a chamber is not a number.", "Check the animation of the pressure.")

    def check(self, vertices: int, frames: int) -> None:
        """Raise ChamberError if the chamber does not fit a body of ``vertices`` surface vertices over all frames."""
        if len(self.pressure) not in (1, frames):
            raise ChamberError(
                f"The pressure in a chamber is given at {len(self.pressure)} frames, not {frames}.",
                "Give one value per frame, or a single value.",
            )
        chosen = self.vertices
        if chosen.ndim != 1 or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < vertices):
            raise ChamberError("The chamber names vertices that do not exist.", "Choose them again.")

    def surfaces(self, surface: SurfaceMesh) -> list[np.ndarray]:
        """Return the faces (t,3) of each chamber of the body alone, with normals out of the chamber.

        ``surface``: rest surface of the body. Raises ChamberError for a chamber that is open or flat.
        """
        if self.shared:
            return []
        from ...geometry.mesh.topology import vertex_components  # slow to import

        faces = surface.triangles.astype(np.int64)
        if len(self.vertices):
            found = [self.faces(surface)]
        else:
            label = vertex_components(faces)
            parts = [faces[label == k] for k in range(int(label.max(initial=-1)) + 1)]
            found = [part for part in parts if signed_volume(surface.positions, part) < 0.0] or [faces]
        return [self.oriented(surface.positions, part) for part in found]

    def faces(self, surface: SurfaceMesh) -> np.ndarray:
        """Return the faces (t,3) of the body's ``surface`` whose vertices all are around the chamber."""
        faces = surface.triangles.astype(np.int64)
        return faces[np.isin(faces, self.vertices).all(axis=1)] if len(self.vertices) else faces

    def oriented(self, positions: np.ndarray, faces: np.ndarray) -> np.ndarray:
        """Return the ``faces`` (t,3) of a chamber with normals out of it. Raises ChamberError if it is open or flat.

        ``positions`` (n,3), m: vertices at rest.
        """
        from ...geometry.mesh.topology import open_edges

        where = "its vertex group" if len(self.vertices) else "the surface"
        if self.shared:
            where = f"the surface of “{self.shared}”"
        if not len(faces):
            raise ChamberError("The chamber has no face.", "Add all vertices around the chamber to its vertex group.")
        if count := len(open_edges(faces)):
            raise ChamberError(
                f"The chamber leaks: {where} is open along {count} edges.",
                "Close the holes (Mesh > Clean Up > Fill Holes), or add all vertices around the chamber to the group.",
            )
        volume = signed_volume(positions, faces)
        if abs(volume) <= FLAT * float(np.ptp(positions[faces].reshape(-1, 3), axis=0).max()) ** 3:
            raise ChamberError(f"The chamber has no volume: {where} is flat.", "Give it a volume.")
        return faces if volume > 0.0 else faces[:, ::-1]
