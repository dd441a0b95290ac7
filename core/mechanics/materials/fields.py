"""Material fields: from painted weights on the surface, and layers laid over them, to parameters of every tet.

1. Weights become shares at each surface vertex (``weight_normalization.py``) and are carried to the tets
(``surface_to_tet_transfer.py``). 2. Layers (``layers.py``), regions and depths, are laid over that in their order; the
later one wins. 3. Stiffness maps are carried inward as weights are, and say how stiff a material with two moduli is.

Blending, with weights w: stiffness in the logarithm, ``E = prod E_i^w_i`` (the range covers decades; the geometric
mean lies between the bounds of Voigt and Reuss and half of 1e4 and 1e8 is 1e6), but in tets that the sharp border of a
layer cuts by the power mean ``E = (sum w_i E_i^p)^(1/p)``, p = 0.6 (``ModulusBlend``); Poisson's ratio linearly;
density linearly, because weights are parts of the volume and mass must add up. The energy cannot be blended: that of
the largest weight counts, the first of equals; what it has of its own is blended linearly between the materials that
have this energy. A material with two moduli, E at its map's 0 and E' at 1, is ``E^(1-t) E'^t``: its weight is shared
between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...foundation.errors import MaterialError
from ...foundation.schema.settings import MaterialSettings, moduli
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ..energies.registry import own_parameters
from .layer import Layer
from .layers import Laid, apply_layers
from .surface_to_tet_transfer import transfer_map, transfer_weights
from .weight_normalization import normalize_weights

CUT_EXPONENT = 0.6
"""Of the power mean in cut tets. Bone of two cells in flesh bends as quadratic hexahedra do within 15 % with it, at
contrasts from 1e2 to 1e6 and in any orientation; with the geometric mean (0) up to three times too softly, with Voigt's
(1) by 0.75 (``bench physics --case "inclusion*"``). It makes up for the locking of linear tets, too.
"""


@dataclass(frozen=True)
class ModulusBlend:
    """Young's moduli of m tets from those of their materials.

    Attributes
    ----------
    weights : (m, K) float64
        Part of each of the materials' moduli (``settings.moduli``); rows sum to 1.
    is_cut : (m,) bool
        Tets that the sharp border of a layer divides: parts of their volume, not a mixture.
    moduli : (K,) float64, Pa
    """

    weights: np.ndarray
    is_cut: np.ndarray
    moduli: np.ndarray

    def youngs_modulus(self, change: np.ndarray | None = None) -> np.ndarray:
        """(m,), Pa; exact where a tet is of one modulus alone. ``change`` (K,) is added to the moduli's logarithms."""
        values = self.moduli if change is None else self.moduli * np.exp(change)
        dominant = self.weights.argmax(axis=1)
        pure = self.weights[np.arange(len(self.weights)), dominant] == 1.0
        blended = np.exp(self.weights @ np.log(values))
        blended[self.is_cut] = (self.weights[self.is_cut] @ values**CUT_EXPONENT) ** (1.0 / CUT_EXPONENT)
        return np.where(pure, values[dominant], blended)


@dataclass(frozen=True)
class MaterialFields:
    """Parameters of m tets.

    Attributes
    ----------
    youngs_modulus : (m,) float64, Pa
    poissons_ratio : (m,) float64
    density : (m,) float64, kg/m³
    energies : tuple of str
        Names in the registry of energies, each once.
    energy : (m,) int32
        Index into ``energies``.
    own : (m, j) float64
        What the energy takes besides (``energies.registry.own_parameters``).
    weights : (m, k) float64
        Part of each of the k materials; rows sum to 1.
    modulus_blend : ModulusBlend
        The materials' moduli behind ``youngs_modulus``.
    empty_layers : tuple of int
        Layers that cover nothing: too thin for the resolution, too deep, or beside the body.
    """

    youngs_modulus: np.ndarray
    poissons_ratio: np.ndarray
    density: np.ndarray
    energies: tuple[str, ...]
    energy: np.ndarray
    own: np.ndarray
    weights: np.ndarray
    modulus_blend: ModulusBlend
    empty_layers: tuple[int, ...] = ()


def material_fields(
    mesh: TetMesh,
    embedding: Embedding,
    surface_weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    layers: Sequence[Layer] = (),
    surface: SurfaceMesh | None = None,
    stiffness_maps: np.ndarray | None = None,
    tet_materials: np.ndarray | None = None,
) -> MaterialFields:
    """Parameters of every tet.

    Parameters
    ----------
    mesh : TetMesh, m tets
    embedding : Embedding
        Of the n surface vertices in the mesh.
    surface_weights : (n, k) float64
        Painted weights; the first material is what is missing to a sum of one, more is scaled down
        (``weight_normalization.py``).
    materials : k settings
    layers : laid over what is painted, in their order
    surface : SurfaceMesh, optional
        The triangles over the n vertices. With them paint is known between the vertices too, which coarse surfaces
        need; depth is measured from them.
    stiffness_maps : (n, k) float64, optional
        0 to 1 of each material at each vertex; only columns of materials with a ``painted_modulus`` are read.
    tet_materials : (m,) int, optional
        The material of each tet, in the place of what is painted.

    Raises
    ------
    MaterialError
        Shapes do not fit, a weight is not a number, or a layer names no material.
    """
    k, n = len(materials), len(embedding.tet_indices)
    painted = normalize_weights(surface_weights)
    maps = np.zeros((n, k)) if stiffness_maps is None else np.clip(stiffness_maps, 0.0, 1.0)
    for values in (painted, maps):
        if values.shape != (n, k):
            raise MaterialError(
                f"The weights have shape {values.shape}, not {(n, k)}.",
                "Give one row a surface vertex and one column a material.",
            )
    if tet_materials is None:
        weights = _normalized(transfer_weights(mesh, embedding, surface, painted))
    else:
        weights = np.eye(k)[tet_materials]
    carry_map = partial(transfer_map, mesh, embedding, surface)
    laid = apply_layers(mesh, weights, layers, surface, carry_map)
    ranged = _ranged(materials)
    stiffening = np.column_stack([carry_map(maps[:, k]) for k in ranged]) if ranged else None
    return blend(weights, materials, stiffening, laid)


def _normalized(weights: np.ndarray) -> np.ndarray:
    """Carried weights, with a sum of exactly 1 where that is not so; what paint never reached is the first material."""
    uneven = weights.sum(axis=1) != 1.0
    weights[uneven] = normalize_weights(weights[uneven])
    return weights


def blend(
    weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    stiffening: np.ndarray | None = None,
    laid: Laid | None = None,
) -> MaterialFields:
    """Parameters from weights (m, k) whose rows sum to 1; ``stiffening`` (m, K - k) are the stiffness maps, 0 to 1, of
    the materials that have two moduli.
    """
    ratios, densities = (
        np.array([getattr(material, name) for material in materials]) for name in ("poissons_ratio", "density")
    )
    energies = tuple(dict.fromkeys(material.energy for material in materials))
    index = np.array([energies.index(material.energy) for material in materials], dtype=np.int32)
    dominant = weights.argmax(axis=1)
    pure = weights[np.arange(len(weights)), dominant] == 1.0
    laid = laid or Laid((), np.zeros(len(weights), dtype=bool))
    shared = _shared_between_moduli(weights, materials, stiffening)
    modulus_blend = ModulusBlend(shared, laid.is_cut, np.array(moduli(materials)))
    return MaterialFields(
        youngs_modulus=modulus_blend.youngs_modulus(),
        poissons_ratio=np.where(pure, ratios[dominant], weights @ ratios),
        density=np.where(pure, densities[dominant], weights @ densities),
        energies=energies,
        energy=index[dominant],
        own=_blended_alike(weights * (index == index[dominant][:, None]), dominant, own_parameters(materials)),
        weights=weights,
        modulus_blend=modulus_blend,
        empty_layers=laid.empty,
    )


def _blended_alike(alike: np.ndarray, dominant: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Means of values (k,j) with weights (m,k); those of the dominant one exactly where all are."""
    own = values[dominant]
    return own + np.einsum("mk,mkj->mj", alike, values - own[:, None]) / alike.sum(axis=1)[:, None]


def _ranged(materials: Sequence[MaterialSettings]) -> list[int]:
    """The materials that have two moduli."""
    return [k for k, material in enumerate(materials) if material.painted_modulus is not None]


def _shared_between_moduli(
    weights: np.ndarray, materials: Sequence[MaterialSettings], stiffening: np.ndarray | None
) -> np.ndarray:
    """Weights (m, K) of the moduli."""
    ranged = _ranged(materials)
    if not ranged:
        return weights
    stiffening = np.zeros((len(weights), len(ranged))) if stiffening is None else stiffening
    soft = weights.copy()
    stiff = weights[:, ranged] * stiffening
    soft[:, ranged] -= stiff
    return np.hstack([soft, stiff])
