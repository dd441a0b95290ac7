"""Young's modulus of a body at its surface vertices from painted weights and layers, without tetrahedra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation.schema.settings import MaterialSettings
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.winding_number import WindingNumber
from .fields import blend
from .layer import Layer
from .weight_normalization import normalize_weights


def surface_stiffness(
    surface: SurfaceMesh,
    weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    layers: Sequence[Layer] = (),
    stiffness_maps: np.ndarray | None = None,
) -> np.ndarray:
    """Return Young's modulus per vertex of a surface, (n,) Pa.

    Arguments are as for ``fields.material_fields``. Layers by depth cover the whole surface if their kind is ``shell``,
    and none of it if it is ``core``. Layers by region cover the vertices inside the region.
    """
    shares = normalize_weights(weights)
    origin = surface.positions.mean(axis=0)
    for layer in layers:
        if layer.depth is not None and layer.depth.kind == "core":
            continue
        covered = np.ones(len(shares)) if layer.map is None else layer.map.copy()
        if layer.surfaces:
            regions = (WindingNumber(each.positions - origin, each.triangles) for each in layer.surfaces)
            covered *= np.any([region.contains(surface.positions - origin) for region in regions], axis=0)
        shares *= (1.0 - covered)[:, None]
        shares[:, layer.material] += covered
    ranged = [k for k, material in enumerate(materials) if material.painted_modulus is not None]
    stiffening = None if stiffness_maps is None else np.clip(stiffness_maps[:, ranged], 0.0, 1.0)
    return blend(shares, materials, stiffening).youngs_modulus
