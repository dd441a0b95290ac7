"""Tie of a body to another body or a collider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation.errors import TieError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.setting_fields import check_ranges, choice, number

GLUE, SLIDE = "glue", "slide"

NEAR = 0.5
"""Largest distance of tied points at rest where a tie does not set it, in mean edges of the finer tets."""


@dataclass(frozen=True)
class Tie:
    """Tie of a body's surface to another body or to a collider, where the two are near each other at rest.

    Sliding bodies do not collide with each other where they are near each other at rest, nor do bodies whose glue never
    lets go.

    Attributes
    ----------
    other : str
        Name of the other body or of a collider of this body.
    kind : str
        ``glue``: the surfaces stay together. ``slide``: they keep their distance, and slide along each other.
    weights : (n,) float64 or None
        Relative strength at each vertex of this body's surface, 0 to 1; None: 1 everywhere.
    distance : float
        Largest distance at rest of tied points from the other surface, m; 0: half the mean edge of the finer tets.
    breaking_stress : float
        Force per area at which the tie breaks, Pa; 0: never.
    strength : (frames,) float64
        Factor on the stiffness at each frame, or a single value; 0 lets go.
    """

    other: str = choice("", "Name of the other body or collider")
    kind: str = choice(GLUE, "Keep the surfaces together, or let them slide along each other", names=(GLUE, SLIDE))
    weights: np.ndarray | None = field_spec("painted tie", default=None, dtype=np.float64)
    distance: float = number(
        0.0, 0.0, None, "m", "Largest distance at rest of tied points, m; 0 for half the mean edge of the tets"
    )
    breaking_stress: float = number(
        0.0, 0.0, None, "Pa", "Force per area at which the tie breaks, Pa: bread 1e4, glue 1e6; 0 never breaks"
    )
    strength: np.ndarray = field_spec("strength", default=(1.0,), dtype=np.float64, over_frames=True, once=True)

    def __post_init__(self) -> None:
        coerce(self, TieError, "Tie")
        object.__setattr__(self, "strength", np.atleast_1d(self.strength))
        check_ranges(self, TieError, self.words)
        if not self.other:
            raise TieError("A tie does not name its other body or collider.", "Choose the partner, or remove the tie.")
        if self.strength.ndim != 1 or not (np.isfinite(self.strength) & (self.strength >= 0.0)).all():
            raise TieError(f"{self.words}: its strength is negative or not a number.", "Set it to 0 or more.")
        if self.weights is not None and not ((self.weights >= 0.0) & (self.weights <= 1.0)).all():
            raise TieError(f"{self.words}: its weights are not numbers from 0 to 1.", "Paint the vertex group again.")

    @property
    def words(self) -> str:
        """Name of the tie in messages."""
        return f"The tie to “{self.other}”"

    def reach(self, mean_edge: float) -> float:
        """Return the largest distance of tied points at rest, m. ``mean_edge``, m: mean edge of the finer tets."""
        return self.distance or NEAR * mean_edge


def check_ties(name: str, ties: Sequence[Tie], vertices: int, frames: int) -> None:
    """Raise TieError if the ``ties`` do not fit the body ``name``, with its surface vertices, over all frames."""
    for tie in ties:
        if tie.other == name:
            raise TieError(f"“{name}” is tied to itself.", "Choose another body or a collider as the tie's partner.")
        if len(tie.strength) not in (1, frames):
            raise TieError(
                f"{tie.words} has its strength at {len(tie.strength)} frames, not {frames}.",
                "Give one value per frame, or a single value.",
            )
        if tie.weights is not None and tie.weights.shape != (vertices,):
            raise TieError(
                f"{tie.words} has weights of shape {tie.weights.shape}, not {(vertices,)}.",
                "Paint the vertex group again.",
            )
