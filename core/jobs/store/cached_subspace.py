"""Subspace of a model, cached in a frame store and validated on reading.

A resumed bake needs exactly the same basis, and eigenvectors differ between machines. If an edit multiplies the
stiffness of the whole body by a factor, the stored modes and cubature stay valid. Only the eigenvalues are multiplied
by the factor.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from ...foundation.files.digest import digest
from ...foundation.progress import OnStepProgress, ignore_step_progress
from ...methods.model.model import Model
from ...methods.subspaces.cubature_check import ENOUGH, cubature_energy_fraction, sufficient_point_count
from ...methods.subspaces.reduced_model import (
    MODES,
    POINTS_A_MODE,
    Subspace,
    SubspaceParts,
    find_cubature,
    find_subspace,
    subspace_of,
)
from .cached_arrays import sides_of
from .frame_store import FrameStore

SUBSPACE_FORMAT = 9
"""Version in the cache key. Raise it when the same model and numbers give another subspace than before."""

DOUBLINGS = 2
"""Largest number of doublings of the default number of cubature points.

For a swinging hand with 20, 40 and 80 points per mode, the errors were 22, 4 and 3 % of the amplitude. A step takes 3.5
times as long with 80 points per mode as with 20.
"""

_SCHEMA = {
    "weights": "f8 n m",
    "eigenvalues": "f8 m",
    "islands": "int n <n",
    "pin_group": "int p",
    "pin_weights": "f8 n h",
    "transform": "f8 q r",
    "elements": "int c <e",
    "volumes": "f8 c",
    "clusters": "int e <c",
}


class CachedSubspace(NamedTuple):
    """Subspace with the quality of its cubature (:mod:`subspaces.cubature_check`).

    ``felt_share``: smallest fraction of a low mode's elastic energy that the cubature points capture.
    ``points_that_suffice``: number of cubature points that would capture the fraction ENOUGH; 0 if ``felt_share``
        suffices, or if unknown.
    """

    subspace: Subspace
    felt_share: float
    points_that_suffice: int


def cached_subspace(
    model: Model,
    modes: int,
    points: int,
    store: FrameStore | None,
    on_progress: OnStepProgress = ignore_step_progress,
    basis: str = MODES,
) -> CachedSubspace:
    """Return the subspace of a model with ``modes`` modes and ``points`` cubature points, from the store or computed.

    ``basis``: MODES or HANDLES.

    A computed subspace is stored. If ``points`` is 0, the default number is doubled, at most DOUBLINGS times, until the
    cubature points capture the fraction ENOUGH of the elastic energy of each low mode.
    """
    key = modes_key(model, modes, basis)
    scale = largest_modulus(model)
    cached = store.read_cached("subspace") if store is not None else None
    parts = unpack(cached[0], model) if cached is not None and cached[1].get("key") == key else None
    if parts is not None:
        before = cached[1].get("scale")
        parts = parts._replace(eigenvalues=parts.eigenvalues * (scale / before)) if _is_scale(before) else None
    if parts is not None and cached[1].get("points") == points:
        share, suffices = cached[1].get("felt_share"), cached[1].get("points_that_suffice")
        if isinstance(share, float) and isinstance(suffices, int):
            return CachedSubspace(subspace_of(model, parts), share, suffices)
    if parts is None:
        parts = find_subspace(model, modes, points, on_progress, basis)
    else:
        on_progress("cubature", 0.0)
        first = points or POINTS_A_MODE * modes
        parts = parts.at(find_cubature(model, parts, first, partial(on_progress, "cubature")))
    on_progress("projection", 0.0)
    subspace, suffices, doublings = subspace_of(model, parts), 0, 0
    share = cubature_energy_fraction(model, subspace.model, partial(on_progress, "projection"))
    while not points and share < ENOUGH and doublings < DOUBLINGS and len(parts.elements) < len(model.elements):
        doublings += 1
        parts = parts.at(find_cubature(model, parts, 2 * len(parts.elements), partial(on_progress, "projection")))
        subspace = subspace_of(model, parts)
        share = cubature_energy_fraction(model, subspace.model, partial(on_progress, "projection"))
    if share < ENOUGH:
        suffices = sufficient_point_count(model, subspace, partial(on_progress, "projection"))
    if store is not None:
        about = {"key": key, "modes": modes, "points": points, "scale": scale}
        store.write_cached("subspace", parts._asdict(), about | {"felt_share": share, "points_that_suffice": suffices})
    return CachedSubspace(subspace, share, suffices)


def modes_key(model: Model, modes: int, basis: str = MODES) -> str:
    """Return the SHA-256 of the model data that determine the first ``modes`` modes and the skinning weights.

    ``basis``: MODES or HANDLES.
    """
    elastic = model.elastic
    # Rounded, since scaled values differ in the last digits.
    mantissa, exponent = np.frexp(
        elastic.scaled(np.full(len(elastic.weights), 1.0 / largest_modulus(model))).parameters
    )
    numbers = repr((SUBSPACE_FORMAT, basis, modes, elastic.energies))
    tets = elastic.weights, elastic.energy_index, np.round(mantissa, 8), exponent, model.masses
    held = [model.pinned] if model.pin_owners is None else [model.pinned, model.pin_owners]
    if model.anchors is not None:
        springs = model.anchors.sorted_indices()
        # Relative to the largest entry, since small ones are sums that cancel; 0.0 turns -0 into 0.
        largest = np.abs(springs.data).max(initial=0.0) / largest_modulus(model)
        mantissa, exponent = np.frexp(largest)
        relative = springs.data / max(largest * largest_modulus(model), 1e-300)
        held += [springs.indptr, springs.indices, np.round(relative, 8) + 0.0, np.round(mantissa, 8), exponent]
    if model.activation_modes is not None:
        held += [model.activation_modes.elements, np.round(model.activation_modes.columns, 6)]
        held.append(np.round(model.activation_modes.displacements / model.size, 6))
    return digest(
        numbers, model.mesh.rest_positions, model.elements.nodes.vertices, model.elements.nodes.starts, *tets, *held
    )


def largest_modulus(model: Model) -> float:
    """Return the largest shear modulus of a model, Pa."""
    return float(model.elastic.shear_modulus.max())


def _is_scale(number: object) -> bool:
    return isinstance(number, float) and math.isfinite(number) and number > 0.0


def unpack(arrays: dict[str, np.ndarray], model: Model) -> SubspaceParts | None:
    """Return the parts of a subspace from cached arrays, or None if the arrays are invalid for the model."""
    known = {"n": len(model.mesh.rest_positions), "e": len(model.elements), "p": len(model.pinned)}
    sides = sides_of(arrays, _SCHEMA, **known)
    if sides is None:
        return None
    parts = SubspaceParts(**arrays)
    group = parts.pin_group
    g = int(group.max(initial=-1)) + 1
    whole = sides["q"] == 4 * (sides["m"] + sides["h"] - g) and group.min(initial=0) >= 0
    return parts if whole and sides["m"] > 0 and sides["c"] > 0 and (parts.volumes > 0.0).all() else None
