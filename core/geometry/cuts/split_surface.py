"""Splitting of a surface by cutters, along a painted seam, and into fragments."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...foundation.errors import CutError, MeshError
from ...foundation.schema.declared_types import checked
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.winding_number import WindingNumber
from .cutter import Cutter
from .divided_surface import SplitSurface, split_by
from .dividers import Divider, FieldDivider, FragmentDivider
from .inward_extension import InwardExtension
from .swept_surface import SweptSurface, sweep

REACH = 0.25
"""Distance from a swept surface, in edge lengths, up to which a seam vertex is cut."""
FRAGMENTS = 500
"""Largest number of fragments."""
FINEST = 256
"""Largest number of seam edges along the longest side of the surface."""
CANDIDATES = 8
"""Random points from which each seed is chosen: the one farthest from the other seeds [Mitchell 1991]."""


@checked(CutError)
def split_surface(
    surface: SurfaceMesh,
    cutters: tuple[Cutter, ...] = (),
    painted: np.ndarray | None = None,
    fragments: int = 0,
    tear_stress: float = 1e4,
    seed: int = 0,
    edge_length: float = 0.0,
) -> SplitSurface:
    """Split the rest shape of a body into closed pieces, for ``Body.seams``. The same input gives the same bits.

    A cutter splits along the surface that it sweeps, from the frame on in which it passes. Its tangential extension
    splits the rest of the body, which is glued for ever. Holes of the surface are filled.

    Parameters
    ----------
    surface : rest shape, in the coordinates and the unit of the cutters
    cutters : meshes that cut the body
    painted : (n,) weights of a seam that may tear: it runs where they pass 0.5, and through the body between
    fragments : number of fragments into which the body may tear; 0 for none
    tear_stress : force per area at which painted seams and fragments tear, Pa: bread 1e4, flesh 1e5
    seed : random number of the fragments
    edge_length : edge length of seam faces, m; 0: 1/32 of the surface's size

    Raises
    ------
    CutError
        A cutter sweeps a volume or nothing, a number is out of its range, or the body stays in one piece.
    MeshError
        The surface is not a manifold, encloses nothing, or Manifold is missing.
    """
    surface.validate()
    if edge_length != 0.0 and not surface.size / FINEST <= edge_length < np.inf:
        raise CutError(
            f"Seam faces with edges of {edge_length:g} m are too many for a body of {surface.size:.3g} m.",
            f"Choose an edge length of at least {surface.size / FINEST:.2g} m.",
        )
    if not (tear_stress > 0.0 and fragments in (0, *range(2, FRAGMENTS + 1)) and seed >= 0):
        raise CutError(
            f"The tear stress {tear_stress:g} Pa, {fragments:.6g} fragments or the seed {seed:.6g} is out of range.",
            f"Give a stress above 0, 2 to {FRAGMENTS} fragments or 0, and a seed of 0 or more.",
        )
    swept = [sweep(cutter) for cutter in cutters]
    dividers: list[Divider] = [FieldDivider(each.values, partial(_cut_frames, each)) for each in swept]
    if painted is not None:
        dividers.append(FieldDivider(_painted_field(surface, painted), tear_stress=tear_stress))
    if fragments:
        dividers.append(FragmentDivider(_seeds(surface, fragments, seed), tear_stress))
    if not dividers:
        raise CutError("Nothing splits the body.", "Give cutters, a painted seam, or a number of fragments.")
    return split_by(surface, dividers, edge_length)


def _cut_frames(swept: SweptSurface, points: np.ndarray, edge: float) -> np.ndarray:
    return swept.cut_frames(points, REACH * edge)


def _painted_field(surface: SurfaceMesh, weights: np.ndarray):
    """Return the field of a painted seam: the weights, carried inside, minus 0.5."""
    if weights.shape != (len(surface.positions),) or not np.isfinite(weights).all():
        raise CutError(
            f"The painted seam has weights of shape {weights.shape}, or weights that are not numbers.",
            "Paint the vertex group again.",
        )
    carried = InwardExtension(surface.positions, surface.triangles, weights[:, None])
    return lambda points: carried.at(points)[:, 0] - 0.5


def _seeds(surface: SurfaceMesh, count: int, seed: int) -> np.ndarray:
    """Return evenly scattered points inside a surface, (count,3)."""
    random, winding = np.random.default_rng(seed), WindingNumber(surface.positions, surface.triangles)
    used = surface.positions[surface.used]
    low, high, pool = used.min(axis=0), used.max(axis=0), np.empty((0, 3))
    for _ in range(100):
        points = low + (high - low) * random.random((4 * CANDIDATES * count, 3))
        pool = np.concatenate([pool, points[winding.contains(points)]])
        if len(pool) >= CANDIDATES * count:
            break
    else:
        raise MeshError("The mesh encloses too little for fragments.", "Recalculate its normals, or close it.")
    chosen = pool[:1]
    for k in range(1, count):
        candidates = pool[CANDIDATES * k : CANDIDATES * (k + 1)]
        away = np.linalg.norm(candidates[:, None] - chosen, axis=2).min(axis=1)
        chosen = np.concatenate([chosen, candidates[[away.argmax()]]])
    return chosen
