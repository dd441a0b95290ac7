"""State of a body at one time, complete for a bitwise identical continuation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...foundation.errors import CorruptFrameError
from ...numerics.integrators.time_step import History


@dataclass(frozen=True)
class State:
    """State of a body at one time.

    ``positions`` (n,3), m. ``velocities`` (n,3), m/s. ``stretch`` (e,6): independent stretches of the elements in Mixed
    FEM. ``history``: the previous step, for multistep integrators. ``colliders`` (2,c,3), m: positions of the colliders
    now and one step ago. ``broken`` (s,): 1 for each broken sample of the group's ties (``GroupTies``). Among bodies
    baked together, only the first body stores colliders and broken samples. ``slow_steps``: number of steps
    up to now whose linear systems another solver would have solved faster (``ElasticSystem.slow_steps``). ``plastic``
    (e,10): plastic state of the elements (:mod:`...mechanics.materials.plastic_flow`); None in elastic bodies.
    """

    positions: np.ndarray
    velocities: np.ndarray
    stretch: np.ndarray
    history: History | None = None
    colliders: np.ndarray | None = None
    slow_steps: int = 0
    broken: np.ndarray | None = None
    plastic: np.ndarray | None = None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of the state by name."""
        arrays = {"positions": self.positions, "velocities": self.velocities, "stretch": self.stretch}
        if self.history is not None:
            arrays["previous_positions"] = self.history.positions
            arrays["previous_velocities"] = self.history.velocities
            arrays["previous_time_step"] = np.array([self.history.time_step])
        if self.colliders is not None:
            arrays["colliders"] = self.colliders
        if self.broken is not None:
            arrays["broken"] = self.broken
        if self.plastic is not None:
            arrays["plastic"] = self.plastic
        if self.slow_steps:
            arrays["slow_steps"] = np.array([float(self.slow_steps)])
        return arrays

    def part(self, vertices: slice, elements: slice) -> State:
        """Return the state of some ``vertices`` and ``elements``, without colliders and broken samples."""
        history = self.history
        if history is not None:
            history = History(history.positions[vertices], history.velocities[vertices], history.time_step)
        return State(
            self.positions[vertices],
            self.velocities[vertices],
            self.stretch[elements],
            history,
            slow_steps=self.slow_steps,
            plastic=None if self.plastic is None else self.plastic[elements],
        )

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> State:
        """Return the state with the arrays that :meth:`arrays` returned.

        Raises CorruptFrameError if the arrays do not form a state.
        """
        try:
            history = None
            if "previous_positions" in arrays:
                step = float(np.ravel(arrays["previous_time_step"])[0])
                history = History(arrays["previous_positions"], arrays["previous_velocities"], step)
            slow = int(np.ravel(arrays.get("slow_steps", 0))[0])
            body = arrays["positions"], arrays["velocities"], arrays["stretch"]
            further = (arrays.get(name) for name in ("broken", "plastic"))
            state = cls(*body, history, arrays.get("colliders"), slow, *further)
        except (LookupError, TypeError, ValueError) as error:
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
        """Return True if the arrays have the right shapes and the previous time step is positive.

        ``n_vertices``: number of unknown position vectors. ``n_tets``: number of elements or cubature points.
        """
        shapes = {
            "stretch": (n_tets, 6),
            "plastic": (n_tets, 10),
            "previous_time_step": (1,),
            "slow_steps": (1,),
        }
        if self.colliders is not None:
            shapes["colliders"] = (2, self.colliders.size // 6, 3)
        if self.broken is not None:
            shapes["broken"] = (self.broken.size,)
        return all(
            a.shape == shapes.get(name, (n_vertices, 3)) and a.dtype == np.float64 for name, a in self.arrays().items()
        ) and (self.history is None or self.history.time_step > 0.0)
