"""Check that a body has a static equilibrium."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation.errors import PinError, SettingsError
from ...foundation.schema.settings import SolverSettings
from ...mechanics.constraints.kinematic_region import KinematicRegion
from ...numerics.integrators import statics

FEWEST = 3
"""Fewest pinned vertices that hold a body."""


def check_static(solver: SolverSettings, held: np.ndarray, regions: Sequence[KinematicRegion], is_held: bool) -> None:
    """Raise an error if the settings ask for the equilibrium of a body that has none.

    ``held`` (frames,p) bool: True while a pin is held. ``regions``: kinematic regions; one holds a body. ``is_held``:
    True if a goal, a tie or a joint may hold the body.
    """
    if solver.integrator != statics.NAME or not solver.kind.integrates:
        return
    if not solver.kind.iterates:
        raise SettingsError(
            f"{solver.kind.label} does not find an equilibrium: it solves one linear system per step.",
            "Choose Mixed FEM, or another Integration.",
        )
    counts = held.sum(axis=1) + FEWEST * np.sum([region.held for region in regions], axis=0)
    if not is_held and counts.min() < FEWEST:
        raise PinError(
            f"A body with fewer than {FEWEST} pins has no static equilibrium, since it can turn.",
            f"Pin at least {FEWEST} vertices in all frames, or choose another Integration.",
        )
