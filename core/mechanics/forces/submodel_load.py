"""Loads on one of several bodies that are solved as one merged model (:mod:`...methods.model.merged_model`)."""

from __future__ import annotations

import numpy as np

from .step_potential import Load, LowRankPotential, Motion, StepPotential, StrainPotential


class SubmodelLoad:
    """Load on one body, applied to the merged model of several bodies.

    In a merged model, the arrays of the bodies are concatenated. ``vertices``, ``blocks``: slices of the body's
    vertices and element blocks in the merged model.
    """

    def __init__(self, load: Load, vertices: slice, blocks: slice) -> None:
        self._load, self._vertices, self._blocks = load, vertices, blocks

    def begin(self, motion: Motion) -> StepPotential:
        """Return the load's potential in a step of the merged model. ``motion``: motion of all bodies."""
        arrays = {name: value for name, value in motion._asdict().items() if isinstance(value, np.ndarray)}
        own = {name: value[self._vertices] for name, value in arrays.items()}
        potential = self._load.begin(motion._replace(**own))
        if (merged := getattr(potential, "in_merged_model", None)) is not None:
            return merged(len(motion.x_prev), self._vertices, self._blocks)
        return SubmodelPotential(potential, self._vertices, self._blocks)


class SubmodelPotential(StepPotential):
    """Potential of one body as a function of the vertex positions of all bodies in a merged model.

    Raises ValueError for strain and low-rank potentials, which are not sums over bodies.
    """

    def __init__(self, own: StepPotential, vertices: slice, blocks: slice) -> None:
        if isinstance(own, (StrainPotential, LowRankPotential)):
            raise ValueError(f"{type(own).__name__} is not a sum over bodies")
        self._own, self._vertices, self._blocks = own, vertices, blocks

    def value(self, positions: np.ndarray) -> float:
        """Return the potential of one body, J. ``positions`` (n,3), m: vertex positions of all bodies."""
        return self._own.value(positions[self._vertices])

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of one body's potential by the vertex positions of all bodies, (n,3) N.

        Rows of other bodies are 0. ``positions`` (n,3), m: vertex positions of all bodies in the merged model.
        """
        out = np.zeros_like(positions)
        out[self._vertices] = self._own.gradient(positions[self._vertices])
        return out

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the stiffness to the body's part of ``blocks`` (:meth:`StepPotential.add_stiffness`)."""
        # In a subspace, ``blocks`` is a full matrix over the unknowns (3,r,3,r), not blocks of elements.
        own = blocks[:, self._vertices, :, self._vertices] if blocks.ndim == 4 else blocks[self._blocks]
        self._own.add_stiffness(positions[self._vertices], scale, own)

    def update(self, positions: np.ndarray) -> bool:
        """Update lagged terms, as :meth:`StepPotential.update`.

        ``positions`` (n,3), m: vertex positions of all bodies in the merged model.
        """
        return self._own.update(positions[self._vertices])
