"""Material fields: from painted surface weights and layers to the parameters of every tet.

1. Weights are normalized at each surface vertex (``weight_normalization.py``) and transferred to the tets
(``surface_to_tet_transfer.py``). 2. Layers (``layers.py``), by region or depth, are applied in order; the last one
wins. 3. Stiffness maps are transferred like weights and set the stiffness of materials with two moduli.

Young's modulus is blended with weights w by the geometric mean ``E = prod E_i^w_i``: moduli span decades, the mean lies
between the Voigt and Reuss bounds, and equal weights of 1e4 and 1e8 give 1e6. A tet that is cut by a sharp border of
painted weights or of a layer uses the power mean ``E = (sum w_i E_i^p)^(1/p)`` instead, with p = 0.85
(``ModulusBlend``). Poisson's ratio and density are blended linearly: weights are volume fractions, and mass must be
conserved. A tet gets the energy and plasticity of the material with the largest weight, the first of several. Further
parameters of the energy are blended linearly between the materials that use the same energy. The modulus of a material
with two moduli, E at map value t = 0 and E' at t = 1, is ``E^(1-t) E'^t``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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

CUT_EXPONENT = 0.85
"""Exponent p of the power mean in cut tets, chosen so that a stiff bar in a soft body bends correctly.

With p = 0.85 the deflection of a bar two cells thick is within 8 % of the deflection on a mesh of quadratic hexahedra.
The bound holds for any orientation and bar moduli of 1e2 to 1e6 times the body's moduli. With p = 0.6 the deflection is
up to 1.28 times the correct value, with p = 1 (Voigt) 0.82 times (``bench physics --case "inclusion*"``).
"""


@dataclass(frozen=True)
class ModulusBlend:
    """Blend of the Young's moduli of several materials in m tets.

    Attributes
    ----------
    weights : (m, K) float64
        Weights of the K moduli per tet; rows sum to 1.
    is_cut : (m,) bool
        True for tets cut by a sharp border: their weights are volume fractions, not a mixture.
    moduli : (K,) float64, Pa
        Young's moduli of all materials, in the order of ``settings.moduli``; materials with a stiffness map have two.
    """

    weights: np.ndarray
    is_cut: np.ndarray
    moduli: np.ndarray

    def youngs_modulus(self, change: np.ndarray | None = None) -> np.ndarray:
        """Return the blended Young's modulus per tet, (m,) Pa.

        The result is exact in tets of a single modulus. ``change`` (K,) is added to the logarithms of the moduli before
        blending.
        """
        values = self.moduli if change is None else self.moduli * np.exp(change)
        dominant = self.weights.argmax(axis=1)
        pure = self.weights[np.arange(len(self.weights)), dominant] == 1.0
        blended = np.exp(self.weights @ np.log(values))
        blended[self.is_cut] = (self.weights[self.is_cut] @ values**CUT_EXPONENT) ** (1.0 / CUT_EXPONENT)
        return np.where(pure, values[dominant], blended)


@dataclass(frozen=True)
class MaterialFields:
    """Material parameters of m tets.

    Attributes
    ----------
    youngs_modulus : (m,) float64, Pa
    poissons_ratio : (m,) float64
    density : (m,) float64, kg/m³
    energies : tuple of str
        Names of the energies in use, without repetition.
    energy : (m,) int32
        Index into ``energies`` per tet.
    own : (m, j) float64
        Energy parameters besides the Lame parameters, per tet (``energies.registry.own_parameters``).
    plasticity : (m, 3) float64 or None
        Yield strain, creep rate, 1/s, and hardening per tet; None if no material is plastic.
    weights : (m, k) float64
        Weights of the k materials per tet; rows sum to 1.
    modulus_blend : ModulusBlend
        Blend from which ``youngs_modulus`` is computed.
    empty_layers : tuple of int
        Indices of layers that cover no tet: too thin for the resolution, too deep, or outside the body.
    """

    youngs_modulus: np.ndarray
    poissons_ratio: np.ndarray
    density: np.ndarray
    energies: tuple[str, ...]
    energy: np.ndarray
    own: np.ndarray
    plasticity: np.ndarray | None
    weights: np.ndarray
    modulus_blend: ModulusBlend
    empty_layers: tuple[int, ...] = ()

    def of_tets(self, tets: np.ndarray) -> MaterialFields:
        """Return the parameters of tets, by their indices."""
        names = "youngs_modulus", "poissons_ratio", "density", "energy", "own", "weights"
        blend = replace(self.modulus_blend, weights=self.modulus_blend.weights[tets])
        blend = replace(blend, is_cut=self.modulus_blend.is_cut[tets])
        plasticity = None if self.plasticity is None else self.plasticity[tets]
        parts = {name: getattr(self, name)[tets] for name in names}
        return replace(self, **parts, plasticity=plasticity, modulus_blend=blend)


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
    """Return the material parameters of every tet from painted weights and layers.

    Parameters
    ----------
    mesh : TetMesh, m tets
    embedding : Embedding
        Tets and barycentric coordinates of the n surface vertices.
    surface_weights : (n, k) float64
        Painted weights of the k materials. If a vertex has a sum below one, the first material gets the difference;
        larger sums are scaled down (``weight_normalization.py``).
    materials : settings of the k materials
    layers : layers on top of the painted materials, applied in order
    surface : SurfaceMesh, optional
        Surface with the n vertices. Layers by depth need it, and so does interpolation of weights between the vertices
        of coarse surfaces.
    stiffness_maps : (n, k) float64, optional
        Stiffness maps, 0 to 1, at each vertex; only columns of materials with a ``painted_modulus`` are read.
    tet_materials : (m,) int, optional
        Index of each tet's material, used instead of painted weights.

    Raises
    ------
    MaterialError
        Shapes do not match, a weight is not a number, or a layer's material does not exist.
    """
    k, n = len(materials), len(embedding.tet_indices)
    painted = normalize_weights(surface_weights)
    maps = np.zeros((n, k)) if stiffness_maps is None else np.clip(stiffness_maps, 0.0, 1.0)
    for values in (painted, maps):
        if values.shape != (n, k):
            raise MaterialError(
                f"The material weights or stiffness maps have shape {values.shape}, not {(n, k)}.",
                "Give one row per surface vertex and one column per material.",
            )
    if tet_materials is None:
        weights, is_cut = transfer_weights(mesh, embedding, surface, painted)
        weights = _normalized(weights)
    else:
        weights, is_cut = np.eye(k)[tet_materials], np.zeros(len(mesh.tets), dtype=bool)
    carry_map = partial(transfer_map, mesh, embedding, surface)
    laid = apply_layers(mesh, weights, layers, surface, carry_map)
    laid = laid._replace(is_cut=laid.is_cut | is_cut)
    ranged = _ranged(materials)
    stiffening = np.column_stack([carry_map(maps[:, k]) for k in ranged]) if ranged else None
    return blend(weights, materials, stiffening, laid)


def _normalized(weights: np.ndarray) -> np.ndarray:
    """Normalize the material ``weights`` (m,k) of the tets in place; tets without weights get the first material."""
    uneven = weights.sum(axis=1) != 1.0
    weights[uneven] = normalize_weights(weights[uneven])
    return weights


def blend(
    weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    stiffening: np.ndarray | None = None,
    laid: Laid | None = None,
) -> MaterialFields:
    """Return the material parameters of m tets, blended from k materials.

    ``weights`` (m, k): material weights; rows sum to 1. ``stiffening`` (m, j): values, 0 to 1, of the stiffness maps in
    the tets, one column for each of the j materials with two moduli; 0 by default. ``laid``: result of applying the
    layers, if any.
    """
    ratios, densities = (
        np.array([getattr(material, name) for material in materials]) for name in ("poissons_ratio", "density")
    )
    energies = tuple(dict.fromkeys(material.energy for material in materials))
    index = np.array([energies.index(material.energy) for material in materials], dtype=np.int32)
    dominant = weights.argmax(axis=1)
    flows = np.array([[each.yield_strain, each.creep, each.hardening] for each in materials])[dominant]
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
        plasticity=flows if flows[:, 0].any() else None,
        weights=weights,
        modulus_blend=modulus_blend,
        empty_layers=laid.empty,
    )


def _blended_alike(alike: np.ndarray, dominant: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the weighted mean of the materials' parameters ``values`` (k,j) per tet, (m,j).

    The mean is computed relative to the ``dominant`` material (m,), so it is exact if all values are equal. ``alike``
    (m,k): weights, which need not sum to 1.
    """
    own = values[dominant]
    return own + np.einsum("mk,mkj->mj", alike, values - own[:, None]) / alike.sum(axis=1)[:, None]


def _ranged(materials: Sequence[MaterialSettings]) -> list[int]:
    """Return the indices of the materials that have two moduli."""
    return [k for k, material in enumerate(materials) if material.painted_modulus is not None]


def _shared_between_moduli(
    weights: np.ndarray, materials: Sequence[MaterialSettings], stiffening: np.ndarray | None
) -> np.ndarray:
    """Return the weights (m,K) of all moduli from the ``weights`` (m,k) of the materials.

    A material with two moduli gives the second modulus the fraction ``stiffening`` (m, K - k) of its weight.
    """
    ranged = _ranged(materials)
    if not ranged:
        return weights
    stiffening = np.zeros((len(weights), len(ranged))) if stiffening is None else stiffening
    soft = weights.copy()
    stiff = weights[:, ranged] * stiffening
    soft[:, ranged] -= stiff
    return np.hstack([soft, stiff])
