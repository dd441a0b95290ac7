"""The vibrations that a body in its subspace is matched by, as the arrays that a frame store keeps.

They are kept for their cost, and because a bake that is resumed goes on with the same bits. A body that is stiffer
throughout has the same modes, and eigenvalues that grow with its stiffness.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse.linalg import ArpackError

from ..eigenfit.about_match import REFUSED
from ..eigenfit.matching import Spectra, find_spectra
from ..eigenfit.vibrations import Springs
from ..errors import FactorizationError
from ..files.digest import digest
from ..linear_solvers.registry import AUTOMATIC, ITERATIVE, choose
from ..model.model import Model
from ..progress import OnProgress, ignore_progress
from ..subspaces.reduced_model import ReducedModel
from .cached_arrays import sides_of
from .cached_subspace import largest_modulus, modes_key
from .frame_store import FrameStore

SPECTRA_FORMAT = 2
"""Part of the key: raise it when the same model and numbers give others than before."""

_SCHEMA = {"coarse": "f8 c", "modes": "f8 c r 3", "fine": "f8 f", "overlap": "f8 c f"}


def cached_spectra(
    model: Model,
    space: ReducedModel,
    count: int,
    springs: Springs | None,
    store: FrameStore | None,
    on_progress: OnProgress = ignore_progress,
) -> Spectra:
    """Those of a model and its subspace: from the store where they are kept already, else found and kept there."""
    key, scale = _key(model, space, count), largest_modulus(model)
    cached = store.read_cached("spectra") if store is not None else None
    if cached is not None and cached[1].get("key") == key and (spectra := _unpack(cached, space, scale)):
        return spectra
    if store is not None and store.match() == REFUSED:
        return _nothing(space)  # whatever memory is free when a bake is resumed, it goes on as it began
    spectra = _found(model, space, count, springs, on_progress)
    if store is not None and len(spectra.fine):
        store.write_cached("spectra", spectra._asdict(), {"key": key, "scale": scale})
    return spectra


def _nothing(space: ReducedModel) -> Spectra:
    return Spectra(np.zeros(0), np.zeros((0, space.unknowns, 3)), np.zeros(0), np.zeros((0, 0)))


def _found(model: Model, space: ReducedModel, count: int, springs: Springs | None, on_progress: OnProgress) -> Spectra:
    """What is found; nothing of a body whose factor does not fit into the memory, or whose materials differ so much
    that there is none.
    """
    if choose(AUTOMATIC, model.body).name == ITERATIVE:
        return _nothing(space)
    try:
        return find_spectra(model, space, count, springs, on_progress)
    except (ArpackError, FactorizationError, LinAlgError):
        return _nothing(space)


def _key(model: Model, space: ReducedModel, count: int) -> str:
    return digest(repr((SPECTRA_FORMAT, count, modes_key(model, 0))), space.basis, space.pinned, space.elastic.weights)


def _unpack(cached: tuple[dict[str, np.ndarray], dict], space: ReducedModel, scale: float) -> Spectra | None:
    """What a store kept, for a body of that largest modulus; None on any doubt."""
    arrays, before = cached[0], cached[1].get("scale")
    if sides_of(arrays, _SCHEMA, r=space.unknowns) is None or not isinstance(before, float) or not before > 0.0:
        return None
    stiffer = scale / before
    return Spectra(stiffer * arrays["coarse"], arrays["modes"], stiffer * arrays["fine"], arrays["overlap"])
