"""Material fields: from painted weights on the surface, and layers laid over them, to parameters of every tet.

1. Weights become shares at each surface vertex (``shares.py``) and are interpolated over the triangles.
2. A tet that the surface passes through takes the mean of the surface inside it: a border stays as sharp as one tet.
3. The others take the harmonic extension of these values, averaged over their corners.
4. Layers (``layers.py``), regions and depths, are laid over that in their order; the later one wins.
5. Stiffness maps are carried inward as weights are, and say how stiff a material with two moduli is.

Blending, with weights w: stiffness in the logarithm, ``E = prod E_i^w_i`` (the range covers decades; the geometric
mean lies between the bounds of Voigt and Reuss and half of 1e4 and 1e8 is 1e6); Poisson's ratio linearly; density
linearly, because weights are parts of the volume and mass must add up. The energy cannot be blended: that of the
largest weight counts, the first of equals. A material with two moduli, E at its map's 0 and E' at 1, is
``E^(1-t) E'^t``: its weight is shared between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import MaterialError
from ..mesh.embedding import Embedding, embed
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import sample_surface
from ..mesh.tet_mesh import TetMesh
from ..model.settings import MaterialSettings, moduli
from .harmonic import extend_harmonically
from .layer import Layer
from .layers import lay_over
from .shares import normalize_weights


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
    weights : (m, k) float64
        Part of each of the k materials; rows sum to 1.
    modulus_weights : (m, K) float64
        Part of each of the materials' moduli (``model.settings.moduli``): ``E = exp(modulus_weights @ log(moduli))``.
    empty_layers : tuple of int
        Layers that cover nothing: too thin for the resolution, too deep, or beside the body.
    """

    youngs_modulus: np.ndarray
    poissons_ratio: np.ndarray
    density: np.ndarray
    energies: tuple[str, ...]
    energy: np.ndarray
    weights: np.ndarray
    modulus_weights: np.ndarray
    empty_layers: tuple[int, ...] = ()


def material_fields(
    mesh: TetMesh,
    embedding: Embedding,
    surface_weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    layers: Sequence[Layer] = (),
    surface: SurfaceMesh | None = None,
    stiffness_maps: np.ndarray | None = None,
) -> MaterialFields:
    """Parameters of every tet.

    Parameters
    ----------
    mesh : TetMesh, m tets
    embedding : Embedding
        Of the n surface vertices in the mesh.
    surface_weights : (n, k) float64
        Painted weights; the first material is what is missing to a sum of one, more is scaled down (``shares.py``).
    materials : k settings
    layers : laid over what is painted, in their order
    surface : SurfaceMesh, optional
        The triangles over the n vertices. With them paint is known between the vertices too, which coarse surfaces
        need; depth is measured from them.
    stiffness_maps : (n, k) float64, optional
        0 to 1 of each material at each vertex; only columns of materials with a ``painted_modulus`` are read.

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
    carry = partial(_carried, mesh, embedding, surface)
    weights = _normalized(carry(painted))
    empty = lay_over(mesh, weights, layers, surface, carry)
    ranged = _ranged(materials)
    return blend(weights, materials, np.clip(carry(maps[:, ranged]), 0.0, 1.0) if ranged else None, empty)


def _normalized(weights: np.ndarray) -> np.ndarray:
    """Carried weights, with a sum of exactly 1 where that is not so; what paint never reached is the first material."""
    uneven = weights.sum(axis=1) != 1.0
    weights[uneven] = normalize_weights(weights[uneven])
    return weights


def blend(
    weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    stiffening: np.ndarray | None = None,
    empty_layers: tuple[int, ...] = (),
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
    modulus_weights = _shared_between_moduli(weights, materials, stiffening)
    return MaterialFields(
        youngs_modulus=_stiffness(modulus_weights, np.array(moduli(materials))),
        poissons_ratio=np.where(pure, ratios[dominant], weights @ ratios),
        density=np.where(pure, densities[dominant], weights @ densities),
        energies=energies,
        energy=index[dominant],
        weights=weights,
        modulus_weights=modulus_weights,
        empty_layers=empty_layers,
    )


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


def _stiffness(modulus_weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Blended Young's modulus (m,), Pa; exact where a tet is of one modulus alone."""
    dominant = modulus_weights.argmax(axis=1)
    pure = modulus_weights[np.arange(len(modulus_weights)), dominant] == 1.0
    return np.where(pure, values[dominant], np.exp(modulus_weights @ np.log(values)))


def _carried(mesh: TetMesh, embedding: Embedding, surface: SurfaceMesh | None, painted: np.ndarray) -> np.ndarray:
    """Values (n, c) at the surface's vertices carried to the tets, (m, c); 0 in parts that the surface does not
    touch.
    """
    m = len(mesh.tets)
    if len(painted) == 0:
        return np.zeros((m, painted.shape[1]))
    if (painted == painted[0]).all():
        return np.tile(painted[0], (m, 1))
    area = np.ones(len(painted))
    if surface is not None:
        spacing = 0.5 * float(mesh.volumes.mean()) ** (1.0 / 3.0)
        samples = sample_surface(surface.positions, surface.triangles, spacing)
        if len(samples.area):
            embedding = embed(samples.interpolate(surface.positions, surface.triangles), mesh)
            painted, area = samples.interpolate(painted, surface.triangles), samples.area / samples.area.max()
    known, at_vertices = _vertex_means(mesh, embedding, painted, area)
    values, _reached = extend_harmonically(mesh, known, at_vertices)
    carried = values[mesh.tets].mean(axis=1)
    crossed, means = _tet_means(m, embedding, painted, area)
    carried[crossed] = means[crossed]
    return carried


def _vertex_means(
    mesh: TetMesh, embedding: Embedding, painted: np.ndarray, area: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean paint around each tet vertex that surface points depend on: known (n,) bool, values (n, k).

    A mean, not a least-squares fit: a fit overshoots beside a sharp border, a mean stays between the painted values.
    """
    n = len(mesh.rest_positions)
    share = np.maximum(embedding.barycentric, 0.0)
    share *= (area / share.sum(axis=1))[:, None]
    corners = mesh.tets[embedding.tet_indices].ravel()
    total = np.bincount(corners, share.ravel(), n)
    known = total > 1e-9 * float(total.max())
    sums = [np.bincount(corners, (share * column[:, None]).ravel(), n) for column in painted.T]
    return known, np.divide(np.stack(sums, axis=1), total[:, None], out=np.zeros((n, len(sums))), where=known[:, None])


def _tet_means(m: int, embedding: Embedding, painted: np.ndarray, area: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean paint in each tet that holds surface points: crossed (m,) bool, values (m, k)."""
    total = np.bincount(embedding.tet_indices, area, m)
    crossed = total > 0.0
    sums = [np.bincount(embedding.tet_indices, area * column, m) for column in painted.T]
    return crossed, np.divide(
        np.stack(sums, axis=1), total[:, None], out=np.zeros((m, len(sums))), where=crossed[:, None]
    )
