"""Full-space reference trajectory of a body, for tests of vibration matching, cached in a frame store.

The cache saves the cost of the trial simulation, and a resumed bake repeats the tests with the same trajectory. A
uniformly stiffer body moves through the same displacements in less time, so the trajectory also serves for such a body.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse.linalg import ArpackError

from ...foundation.errors import DivergenceError, FactorizationError
from ...foundation.files.digest import digest
from ...foundation.progress import OnProgress, ignore_progress
from ...mechanics.forces.step_potential import Load
from ...methods.eigenfit.trial_simulation import SLOWEST, STEPS, ReferenceTrajectory, reference_trajectory
from ...methods.model.model import Model
from .cached_arrays import sides_of
from .cached_subspace import largest_modulus, modes_key
from .frame_store import FrameStore

SWING_FORMAT = 3
"""Version in the cache key. Raise it when the same model gives another simulation than before."""

TRIED = 100_000
"""Largest number of tets for which the trial is simulated; this takes about 15 s on two cores."""

_SCHEMA = {"push": "f8 n 3", "displacements": "f4 s n 3"}


def cached_reference_trajectory(
    model: Model,
    held: Sequence[Load],
    store: FrameStore | None,
    on_progress: OnProgress = ignore_progress,
    swings: int = 1,
    load: str = SLOWEST,
) -> ReferenceTrajectory | None:
    """Return the trajectory of a ``model`` in a trial simulation under a constant load, from the store or computed.

    ``held``: additional loads that hold the body, such as springs of pins.
    ``swings``: number of simulated periods of the slowest vibration.
    ``load``: name of the load (:func:`...methods.eigenfit.trial_simulation.trial_loads`).

    A computed trajectory is stored. The result is None if the model has more than TRIED tets, or if the simulation
    fails.
    """
    if len(model.mesh.tets) > TRIED:
        return None
    name = f"swing_{load}"
    key, scale = digest(repr((SWING_FORMAT, swings, modes_key(model, 0)))), largest_modulus(model)
    cached = store.read_cached(name) if store is not None else None
    if cached is not None and cached[1].get("key") == key and (swing := _unpack(cached, model, scale, swings)):
        return swing
    try:
        swing = reference_trajectory(model, held, on_progress, swings, load)
    except (ArpackError, DivergenceError, FactorizationError, LinAlgError):
        return None
    if store is not None:
        about = {"key": key, "scale": scale, "eigenvalue": swing.eigenvalue}
        store.write_cached(name, {each: getattr(swing, each) for each in _SCHEMA}, about)
    return swing


def _unpack(
    cached: tuple[dict[str, np.ndarray], dict], model: Model, scale: float, swings: int
) -> ReferenceTrajectory | None:
    """Return the stored trajectory, adapted to the stiffness of ``model``, or None if it is invalid.

    ``scale``: largest shear modulus of ``model``, Pa.
    ``swings``: number of periods of the slowest vibration in the trajectory.
    """
    arrays, about = cached
    before, eigenvalue = (about.get(name) for name in ("scale", "eigenvalue"))
    known = all(isinstance(each, float) and 0.0 < each < np.inf for each in (before, eigenvalue))
    if not known or sides_of(arrays, _SCHEMA, n=model.unknowns, s=swings * STEPS + 1) is None:
        return None
    return ReferenceTrajectory(eigenvalue=eigenvalue, **arrays).stiffer(scale / before)
