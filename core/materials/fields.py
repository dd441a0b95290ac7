"""Material fields: from painted weights on the surface, and regions inside, to parameters of every tet.

1. Weights are normalised at each surface vertex and interpolated over the triangles.
2. A tet that the surface passes through takes the mean of the surface inside it: a border stays as sharp as one tet.
3. The others take the harmonic extension of these values, averaged over their corners.
4. Regions override: a tet whose centroid lies in a region is wholly of its material; the later region wins.

Blending, with weights w: stiffness in the logarithm, ``E = prod E_i^w_i`` (the range covers decades; the geometric
mean lies between the bounds of Voigt and Reuss and half of 1e4 and 1e8 is 1e6); Poisson's ratio linearly; density
linearly, because weights are parts of the volume and mass must add up. The energy cannot be blended: that of the
largest weight counts, the first of equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import MaterialError
from ..mesh.embedding import Embedding, embed
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import sample_surface
from ..mesh.tet_mesh import TetMesh
from ..mesh.winding_number import WindingNumber
from ..model.settings import MaterialSettings
from .harmonic import extend_harmonically


class MaterialRegion(Protocol):
    """A closed surface, in the mesh's space, and the index of the material inside it."""

    @property
    def surface(self) -> SurfaceMesh:
        """The closed surface."""

    @property
    def material(self) -> int:
        """Index into the materials."""


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
    empty_regions : tuple of int
        Regions that hold no tet's centroid: too thin for the resolution, or beside the body.
    """

    youngs_modulus: np.ndarray
    poissons_ratio: np.ndarray
    density: np.ndarray
    energies: tuple[str, ...]
    energy: np.ndarray
    weights: np.ndarray
    empty_regions: tuple[int, ...] = ()


def material_fields(
    mesh: TetMesh,
    embedding: Embedding,
    surface_weights: np.ndarray,
    materials: Sequence[MaterialSettings],
    regions: Sequence[MaterialRegion] = (),
    surface: SurfaceMesh | None = None,
) -> MaterialFields:
    """Parameters of every tet.

    Parameters
    ----------
    mesh : TetMesh, m tets
    embedding : Embedding
        Of the n surface vertices in the mesh.
    surface_weights : (n, k) float64
        Painted weights, not normalised; negative counts as none; a vertex without any gets the first material.
    materials : k settings
    regions : closed surfaces with the index of their material
    surface : SurfaceMesh, optional
        The triangles over the n vertices. With them paint is known between the vertices too, which coarse surfaces
        need.

    Raises
    ------
    MaterialError
        Shapes do not fit, a weight is not a number, or a region names no material.
    """
    k = len(materials)
    painted = normalize_weights(surface_weights)
    if painted.shape != (len(embedding.tet_indices), k):
        raise MaterialError(
            f"The weights have shape {painted.shape}, not {(len(embedding.tet_indices), k)}.",
            "Give one row a surface vertex and one column a material.",
        )
    weights = _tet_weights(mesh, embedding, painted, surface)
    empty = _apply_regions(mesh, weights, regions)
    return blend(weights, materials, empty)


def normalize_weights(weights: np.ndarray) -> np.ndarray:
    """Rows that sum to 1, negative weights cut, (n, k); a row without any weight becomes (1, 0, 0 ...)."""
    weights = np.asarray(weights, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(weights))
    if len(bad):
        raise MaterialError(f"A material weight at vertex {bad[0][0]} is not a number.", "Paint the map there again.")
    weights = np.maximum(weights, 0.0)
    # Dividing by the largest first keeps tiny and huge weights from under- and overflowing.
    largest = weights.max(axis=1, keepdims=True)
    weights = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0.0)
    weights[largest[:, 0] <= 0.0, 0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


def blend(
    weights: np.ndarray, materials: Sequence[MaterialSettings], empty_regions: tuple[int, ...] = ()
) -> MaterialFields:
    """Parameters from weights (m, k) whose rows sum to 1."""
    youngs, ratios, densities = (
        np.array([getattr(material, name) for material in materials])
        for name in ("youngs_modulus", "poissons_ratio", "density")
    )
    energies = tuple(dict.fromkeys(material.energy for material in materials))
    index = np.array([energies.index(material.energy) for material in materials], dtype=np.int32)
    dominant = weights.argmax(axis=1)
    pure = weights[np.arange(len(weights)), dominant] == 1.0
    return MaterialFields(
        youngs_modulus=np.where(pure, youngs[dominant], np.exp(weights @ np.log(youngs))),
        poissons_ratio=np.where(pure, ratios[dominant], weights @ ratios),
        density=np.where(pure, densities[dominant], weights @ densities),
        energies=energies,
        energy=index[dominant],
        weights=weights,
        empty_regions=empty_regions,
    )


def _tet_weights(mesh: TetMesh, embedding: Embedding, painted: np.ndarray, surface: SurfaceMesh | None) -> np.ndarray:
    """Paint carried to the tets, (m, k)."""
    m, k = len(mesh.tets), painted.shape[1]
    if len(painted) == 0:
        return np.tile(np.eye(1, k), (m, 1))
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
    values, reached = extend_harmonically(mesh, known, at_vertices)
    values[~reached, 0] = 1.0
    weights = values[mesh.tets].mean(axis=1)
    crossed, means = _tet_means(m, embedding, painted, area)
    weights[crossed] = means[crossed]
    return normalize_weights(np.clip(weights, 0.0, 1.0))


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


def _apply_regions(mesh: TetMesh, weights: np.ndarray, regions: Sequence[MaterialRegion]) -> tuple[int, ...]:
    """Overwrite the rows of the tets in each region; indices of the regions that hold none."""
    origin = mesh.rest_positions.mean(axis=0)
    centroids = mesh.rest_positions[mesh.tets].mean(axis=1) - origin
    empty = []
    for number, region in enumerate(regions):
        if not 0 <= region.material < weights.shape[1]:
            raise MaterialError(
                f"Region {number} names material {region.material} of {weights.shape[1]}.", "Choose its material again."
            )
        region.surface.validate()
        inside = WindingNumber(region.surface.positions - origin, region.surface.triangles).contains(centroids)
        if not inside.any():
            empty.append(number)
        weights[inside] = 0.0
        weights[inside, region.material] = 1.0
    return tuple(empty)
