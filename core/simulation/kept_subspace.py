"""A subspace as the arrays that a frame store keeps, and back where they are beyond doubt.

It is kept for its cost, and since the states of a bake mean nothing in another basis: eigenvectors differ in their last
digits from machine to machine, and within a multiple eigenvalue altogether.

Modes and handles are found again for another number of modes, another mesh, mass, pins or ratio of stiffnesses; the
cubature for another number of points, too. A body that is stiffer throughout has the same modes and points, and
eigenvalues that grow with its stiffness.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from ..model.model import Model
from ..progress import StepTold, step_untold
from ..subspaces.reduced_model import (
    POINTS_A_MODE,
    Subspace,
    SubspaceParts,
    find_cubature,
    find_subspace,
    subspace_of,
)
from ..subspaces.softening import ENOUGH, felt_share, points_that_suffice
from .digest import digest
from .frame_store import FrameStore

SUBSPACE_FORMAT = 4
"""Part of the key: raise it when the same model and numbers give another subspace than before."""


class Kept(NamedTuple):
    """A subspace; the share of their energy that its low movements have left (:mod:`subspaces.softening`); and where
    that is not enough, the cubature points with which it would be, 0 where none are known.
    """

    subspace: Subspace
    felt_share: float
    points_that_suffice: int


def kept_subspace(
    model: Model, modes: int, points: int, store: FrameStore | None, told: StepTold = step_untold
) -> Kept:
    """A model's subspace: from the store where it is kept already, else found and kept there."""
    key, points_key = modes_key(model, modes), points or POINTS_A_MODE * modes
    scale = _scale(model)
    kept = store.read_kept("subspace") if store is not None else None
    parts = unpack(kept[0], model) if kept is not None and kept[1].get("key") == key else None
    if parts is not None:
        before = kept[1].get("scale")
        parts = parts._replace(eigenvalues=parts.eigenvalues * (scale / before)) if _is_scale(before) else None
    if parts is not None and kept[1].get("points") == points_key:
        share, suffices = kept[1].get("felt_share"), kept[1].get("points_that_suffice")
        if isinstance(share, float) and isinstance(suffices, int):
            return Kept(subspace_of(model, parts), share, suffices)
    if parts is None:
        parts = find_subspace(model, modes, points, told)
    else:
        told("cubature", 0.0)
        parts = parts.at(find_cubature(model, parts, points_key, partial(told, "cubature")))
    told("projection", 0.0)
    subspace = subspace_of(model, parts)
    share, suffices = felt_share(model, subspace.model, partial(told, "projection")), 0
    if share < ENOUGH:
        suffices = points_that_suffice(model, subspace, partial(told, "projection"))
    if store is not None:
        about = {"key": key, "modes": modes, "points": points_key, "scale": scale}
        store.keep("subspace", parts._asdict(), about | {"felt_share": share, "points_that_suffice": suffices})
    return Kept(subspace, share, suffices)


def modes_key(model: Model, modes: int) -> str:
    """SHA-256 of all that modes and handles are found from."""
    elastic = model.elastic
    # Twelve digits: what is scaled differs in the last ones.
    mantissa, exponent = np.frexp(elastic.parameters / _scale(model))
    numbers = repr((SUBSPACE_FORMAT, modes, elastic.energies))
    tets = elastic.weights, elastic.energy_of_tet, np.round(mantissa, 12), exponent, model.masses
    held = [model.pinned]
    if model.anchors is not None:
        springs = model.anchors.sorted_indices()
        mantissa, exponent = np.frexp(springs.data / _scale(model))
        held += [springs.indptr, springs.indices, np.round(mantissa, 12), exponent]
    return digest(numbers, model.mesh.rest_positions, model.mesh.tets, *tets, *held)


def _scale(model: Model) -> float:
    """The largest of the Lame parameters, Pa."""
    return float(np.abs(model.elastic.parameters).max())


def _is_scale(number: object) -> bool:
    return isinstance(number, float) and math.isfinite(number) and number > 0.0


def unpack(arrays: dict[str, np.ndarray], model: Model) -> SubspaceParts | None:
    """What a store kept, or None on any doubt: kernels do not check indices."""
    if set(arrays) != set(SubspaceParts._fields):
        return None
    parts = SubspaceParts(**arrays)
    if any(array.ndim == 0 or array.dtype.kind not in "fi" for array in parts):
        return None
    n, t, p = len(model.mesh.rest_positions), len(model.mesh.tets), len(model.pinned)
    m, h, r, c = (array.shape[-1] for array in (parts.weights, parts.pin_weights, parts.transform, parts.tets))
    g = int(parts.pin_group.max(initial=-1)) + 1
    shapes = ((n, m), (m,), (n,), (p,), (n, h), (4 * (m + h - g), r), (c,), (c,), (t,))
    if any(array.shape != shape for array, shape in zip(parts, shapes, strict=True)):
        return None
    numbers = (parts.weights, parts.eigenvalues, parts.pin_weights, parts.transform, parts.volumes)
    indices = ((parts.islands, n), (parts.pin_group, g), (parts.tets, t), (parts.clusters, c))
    sound = all(array.dtype == np.float64 and np.isfinite(array).all() for array in numbers) and all(
        array.dtype.kind == "i" and (array.size == 0 or (array.min() >= 0 and array.max() < end))
        for array, end in indices
    )
    return parts if sound and m > 0 and c > 0 and (parts.volumes > 0.0).all() else None
