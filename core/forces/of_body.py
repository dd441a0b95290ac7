"""What acts on one of several bodies that are stepped as one (:mod:`..model.joined`)."""

from __future__ import annotations

import numpy as np

from .step_potential import Load, LowRankPotential, Motion, StepPotential, StrainPotential


class SubmodelLoad:
    """A load of a body alone, as one of the whole: of some of its vertices and tets."""

    def __init__(self, load: Load, vertices: slice, tets: slice) -> None:
        self._load, self._vertices, self._tets = load, vertices, tets

    def begin(self, motion: Motion) -> StepPotential:
        """What it is in a step of the whole."""
        arrays = {name: value for name, value in motion._asdict().items() if isinstance(value, np.ndarray)}
        own = {name: value[self._vertices] for name, value in arrays.items()}
        return SubmodelPotential(self._load.begin(motion._replace(**own)), self._vertices, self._tets)


class SubmodelPotential(StepPotential):
    """The potential of a body alone, by the vertices of the whole. Those that a whole has one of, of stretches and of
    low rank, are not to be told apart so: ValueError.
    """

    def __init__(self, own: StepPotential, vertices: slice, tets: slice) -> None:
        if isinstance(own, (StrainPotential, LowRankPotential)):
            raise ValueError(f"{type(own).__name__} is no sum over bodies")
        self._own, self._vertices, self._tets = own, vertices, tets

    def value(self, positions: np.ndarray) -> float:
        """J."""
        return self._own.value(positions[self._vertices])

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """(n,3), N."""
        out = np.zeros_like(positions)
        out[self._vertices] = self._own.gradient(positions[self._vertices])
        return out

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """As :meth:`StepPotential.add_stiffness`."""
        # In a subspace they are those of a full matrix, by unknowns, and not of tets.
        is_full = blocks.shape[0] == 3 and blocks.shape[2:] == (3, blocks.shape[1])
        own = blocks[:, self._vertices, :, self._vertices] if is_full else blocks[self._tets]
        self._own.add_stiffness(positions[self._vertices], scale, own)

    def update(self, positions: np.ndarray) -> bool:
        """As :meth:`StepPotential.update`."""
        return self._own.update(positions[self._vertices])
