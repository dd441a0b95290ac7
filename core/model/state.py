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
        """What :meth:`arrays` gave; CorruptFrameError when it cannot be a state."""
        try:
            state = cls(arrays["positions"], arrays["velocities"], arrays["stretch"])
        except KeyError as error:
            raise CorruptFrameError(f"A saved state lacks {error}.", "Delete the bake and bake again.") from error
        n, m = len(np.atleast_1d(state.positions)), len(np.atleast_1d(state.stretch))
        if not state.fits(n, m):
            raise CorruptFrameError("A saved state has the wrong shape or type.", "Delete the bake and bake again.")
        if not all(np.isfinite(array).all() for array in state.arrays().values()):
            raise CorruptFrameError(
                "A saved state holds a value that is not a number.", "Delete the bake and bake again."
            )
        return state

    def fits(self, n_vertices: int, n_tets: int) -> bool:
        """Whether it is a state of a body of that size. Kernels do not ask: they would read past its end."""
        shapes = {"positions": (n_vertices, 3), "velocities": (n_vertices, 3), "stretch": (n_tets, 6)}
        return all(a.shape == shapes[name] and a.dtype == np.float64 for name, a in self.arrays().items())
