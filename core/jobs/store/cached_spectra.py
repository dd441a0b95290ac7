"""Lowest vibrations of a body and of a finer body to match, cached in a frame store.

The cache saves their cost and lets a resumed bake give the same bits. A uniformly stiffer body has the same modes, and
eigenvalues in proportion to its stiffness. So stored vibrations also serve for such a body.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse.linalg import ArpackError

from ...foundation.errors import FactorizationError, MatchError
from ...foundation.files.digest import digest
from ...foundation.progress import OnProgress, ignore_progress
from ...methods.eigenfit.matching import Spectra, find_spectra
from ...methods.eigenfit.vibrations import Springs
from ...methods.model.model import Model
from ...methods.subspaces.space import Space
from ...numerics.linear_solvers.registry import AUTOMATIC, ITERATIVE, choose
from .cached_arrays import sides_of
from .cached_subspace import largest_modulus, modes_key
from .frame_store import FrameStore

SPECTRA_FORMAT = 5
"""Version in the cache key. Raise it when the same model and numbers give other vibrations than before."""

_SCHEMA = {
    "coarse": "f8 c",
    "modes": "f8 c r 3",
    "fine": "f8 f",
    "overlap": "f8 c f",
    "coarse_loads": "f8 c l",
    "fine_loads": "f8 f l",
}


def cached_spectra(
    model: Model,
    space: Space,
    count: int,
    springs: Springs | None,
    store: FrameStore | None,
    on_progress: OnProgress = ignore_progress,
    finer: Model | None = None,
    swung: Callable[[Model], Model] | None = None,
) -> Spectra:
    """Return the lowest vibrations of a model and of the reference body to match, from the store or computed.

    ``space``: space of the model's displacements.
    ``count``: number of vibrations to match. The result has ``count`` + 1 vibrations of the model.
    ``springs``: springs of the pins if ``space`` is a subspace.
    ``finer``: reference body. If None, the reference body is the model with all vertices as unknowns.
    ``swung``: function that returns a copy of ``finer`` with stiffer springs of the pins. The springs stiffen as they
        extend. The copy has their stiffness at the turning point of an oscillation.

    :func:`find_spectra` computes missing vibrations, which are then stored. Raises MatchError if the computation fails.
    """
    key, scale = _key(model, space, count, finer), largest_modulus(model)
    cached = store.read_cached("spectra") if store is not None else None
    if cached is not None and cached[1].get("key") == key and (spectra := _unpack(cached, space, scale, finer)):
        return spectra
    if (choice := choose(AUTOMATIC, (finer or model).body)).name == ITERATIVE:
        raise MatchError(f"{choice.reason}.", f"Set fewer {'Match Cells' if finer else 'Cells Across'}.")
    try:
        spectra = find_spectra(model, space, count, springs, on_progress, swung(finer) if finer and swung else finer)
    except (ArpackError, FactorizationError, LinAlgError) as error:
        raise MatchError(
            "the materials differ too much in stiffness.", "Use materials of more similar stiffness."
        ) from error
    if store is not None:
        store.write_cached("spectra", {each: getattr(spectra, each) for each in _SCHEMA}, {"key": key, "scale": scale})
    return spectra


def _key(model: Model, space: Space, count: int, finer: Model | None) -> str:
    keys = modes_key(model, 0), finer and modes_key(finer, 0)
    reduced = (space.basis, space.elastic.weights) if space.is_reduced else ()
    return digest(repr((SPECTRA_FORMAT, count, keys)), space.pinned, *reduced)


def _unpack(
    cached: tuple[dict[str, np.ndarray], dict], space: Space, scale: float, finer: Model | None
) -> Spectra | None:
    """Return the stored spectra, rescaled to the largest shear modulus ``scale``, Pa, or None if they are invalid."""
    arrays, before = cached[0], cached[1].get("scale")
    if sides_of(arrays, _SCHEMA, r=space.unknowns) is None or not isinstance(before, float) or not before > 0.0:
        return None
    stiffer = {name: scale / before * arrays[name] for name in ("coarse", "fine")}
    return Spectra(**arrays | stiffer, is_one_mesh=not finer)
