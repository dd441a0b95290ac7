"""Layer of a material on top of the painted ones; ``layers.py`` applies it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import MaterialError, SettingsError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.settings import DepthSettings
from ...geometry.mesh.surface_mesh import SurfaceMesh


@dataclass(frozen=True)
class Layer:
    """Region or depth in which a material covers the painted ones and earlier layers.

    Attributes
    ----------
    material : int
        Index into the materials.
    surfaces : tuple of SurfaceMesh
        Closed surfaces in the body's space; the layer covers their union. None: everywhere.
    depth : DepthSettings or None
    map : (n,) float64 or None
        Weight of the layer at each vertex of the body's surface, 0 to 1; None: 1.
    """

    material: int
    surfaces: tuple[SurfaceMesh, ...] = ()
    depth: DepthSettings | None = None
    map: np.ndarray | None = field_spec(default=None, dtype=np.float64)

    def __post_init__(self) -> None:
        coerce(self, MaterialError, "Layer")
        if self.map is not None:
            values = self.map
            if values.ndim != 1 or not np.isfinite(values).all():
                raise MaterialError("The map of a layer is not a list of numbers.", "Paint the map again.")
            object.__setattr__(self, "map", np.clip(values, 0.0, 1.0))

    def check(self, materials: int, vertices: int) -> None:
        """Raise SettingsError if the layer does not fit these numbers of materials and surface vertices."""
        if not 0 <= self.material < materials:
            raise SettingsError("A layer names a material that does not exist.", "Choose the layer's material again.")
        if self.map is not None and len(self.map) != vertices:
            raise SettingsError(
                f"The map of a layer has {len(self.map)} values, not {vertices}.", "Give one value per vertex."
            )
