"""Surfaces that weaken a job's force fields behind them.

``mechanics/forces/absorption.py`` has the formula. This module must not load compiled kernels, since kernels would
delay Blender's start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import FieldError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec


@dataclass(frozen=True)
class Absorber:
    """Surface in world space that weakens the force fields behind it.

    The number of frames is f, or 1 for constant values.

    Attributes
    ----------
    name : str
        Name in messages.
    triangles : (t,3) int32, over k vertices
    positions : (f,k,3) float64, m
    absorption : (f,) float64
        Absorbed fraction of the force, 0 to 1.
    """

    name: str
    triangles: np.ndarray = field_spec("faces", dtype=np.int32)
    positions: np.ndarray = field_spec("shape or movement", dtype=np.float64, over_frames=True, once=True)
    absorption: np.ndarray = field_spec(dtype=np.float64, over_frames=True, once=True)

    def __post_init__(self) -> None:
        coerce(self, FieldError, "Absorber")
        self._validate()

    def _refuse(self, problem: str, remedy: str) -> FieldError:
        return FieldError(f"“{self.name}”, which absorbs force fields, {problem}.", remedy)

    def _validate(self) -> None:
        t, x = self.triangles, self.positions
        if t.ndim != 2 or t.shape[1] != 3 or len(t) == 0:
            raise self._refuse("has no faces", "Add faces, or remove the absorber (its Collision in Blender).")
        if x.ndim != 3 or x.shape[2] != 3 or len(x) == 0 or self.absorption.ndim != 1 or len(self.absorption) == 0:
            raise self._refuse("has arrays of wrong shapes", "Give positions (f,k,3) and absorption (f,) for f frames.")
        if t.min() < 0 or t.max() >= x.shape[1]:
            raise self._refuse("has a face with a vertex that does not exist", "Check its mesh.")
        if not np.isfinite(x).all():
            raise self._refuse("has a position that is not a number", "Check its modifiers and its animation.")
        if not ((self.absorption >= 0.0) & (self.absorption <= 1.0)).all():
            raise self._refuse("has an absorption outside 0 to 1", "Give fractions from 0 to 1.")
