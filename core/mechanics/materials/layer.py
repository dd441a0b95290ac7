"""Layer: a region of a body whose material overrides the painted materials."""

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
    """Layer of a single material, in place of painted materials and earlier layers.

    ``surfaces``, ``depth`` and ``map`` limit the layer to a part of the body.

    Attributes
    ----------
    material : int
        Index into the materials.
    surfaces : tuple of SurfaceMesh
        Closed surfaces in the body's space; the layer covers their union, or the whole body if there are none.
    depth : DepthSettings or None
        Range of depths below the body's surface; None: all depths.
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
                raise MaterialError(
                    "The map of a layer is not a list of numbers.", "Give one finite number per surface vertex."
                )
            object.__setattr__(self, "map", np.clip(values, 0.0, 1.0))

    def check(self, materials: int, vertices: int) -> None:
        """Raise SettingsError if the layer does not fit the body.

        The layer's material must be one of ``materials`` (a count). The layer's map must have one value for each of the
        ``vertices`` (a count) of the body's surface.
        """
        if not 0 <= self.material < materials:
            raise SettingsError("A layer uses a material that does not exist.", "Choose the layer's material again.")
        if self.map is not None and len(self.map) != vertices:
            raise SettingsError(
                f"The map of a layer has {len(self.map)} values, not {vertices}.",
                "Give one value per vertex of the body's surface.",
            )
