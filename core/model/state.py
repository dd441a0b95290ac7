"""The state of a body at one moment: all that a solver needs to go on with the same bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import CorruptFrameError


@dataclass(frozen=True)
class State:
    """Positions (n,3) m, velocities (n,3) m/s, and the independent stretches (m,6) of the mixed method.

    ``stretch`` belongs to the state because the mixed method stopped early has not brought it to ``S(F(x))``.
    """

    positions: np.ndarray
    velocities: np.ndarray
    stretch: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for the frame store."""
        return {"positions": self.positions, "velocities": self.velocities, "stretch": self.stretch}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> State:
        """What :meth:`arrays` gave."""
        try:
            return cls(arrays["positions"], arrays["velocities"], arrays["stretch"])
        except KeyError as error:
            raise CorruptFrameError(f"A saved state lacks {error}.", "Delete the bake and bake again.") from error
