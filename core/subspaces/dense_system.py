"""The linear system of a body in a subspace: dense, and small ([SubMFEM23] Eq. 6)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..assembly.tangent_blocks import tangent_blocks
from ..energies.tangent import Tangent
from ..errors import FactorizationError
from ..forces.step_potential import StepPotential
from ..linear_solvers.protocol import Shortfall
from .cubature_elastic import CubatureElastic
from .reduced_stiffness import ReducedStiffness


class DenseSystem:
    """Assembles, factorises and solves; the same interface as that of the full space.

    Parameters
    ----------
    elastic : CubatureElastic
    mass : (r,r) of the basis
    pinned : (p,) unknowns that are given
    """

    residual_work = 0.0
    is_direct = True
    is_small = True
    choice = "dense Cholesky of the subspace"

    def __init__(self, elastic: CubatureElastic, mass: np.ndarray, pinned: np.ndarray) -> None:
        points, self._size = len(elastic.weights), len(mass)
        free = np.setdiff1d(np.arange(self._size), pinned)
        self.free = _side_by_side(free)
        self.N, self.masses = elastic.N, elastic.masses
        self.blocks = np.empty((points, 10, 3, 3))
        self._weights = elastic.weights
        self._stiffness = ReducedStiffness(elastic.G[:, free], mass[np.ix_(free, free)])
        self._matrix = np.empty((3, len(free), 3, len(free)))
        self._factor = np.empty((3 * len(free), 3 * len(free))).T

    @cached_property
    def _change(self) -> np.ndarray:
        """What is added, by all unknowns (3,r,3,r); made when something is, since it is as large as the factor."""
        return np.empty((3, self._size, 3, self._size))

    def assemble(
        self,
        scale: float,
        unknowns: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
    ) -> None:
        """The matrix from ``blocks``, what is ``added`` to them (c,10,3,3), the mass, and the step's other potentials
        times ``scale``.
        """
        if added is not None:
            self.blocks += added
        self._stiffness.assemble(self.blocks, self._matrix)
        if potentials:
            self.add(lambda matrix: _add_stiffness(potentials, unknowns, scale, matrix))

    def add(self, change: Callable[[np.ndarray], bool]) -> bool:
        """Let ``change`` add to the matrix that was assembled last, by all unknowns; what that answers."""
        self._change.fill(0.0)
        answer = change(self._change)
        self._matrix += self._change[:, self.free][:, :, :, self.free]
        return answer

    def assemble_tangent(
        self,
        tangent: Tangent,
        scale: float,
        unknowns: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
    ) -> None:
        """The same from a tangent of all points, Pa."""
        tangent_blocks(tangent, self.N, scale * self._weights, self.masses, self.blocks)
        self.assemble(scale, unknowns, potentials, added)

    def try_factorize(self) -> bool:
        """Cholesky's factor; False when the matrix is not positive definite."""
        # The upper blocks row by row are LAPACK's lower ones, whose factor is the quicker.
        self._factor[...] = self._matrix.reshape(self._factor.shape).T
        self._factor, failed = dpotrf(self._factor, lower=True, clean=False, overwrite_a=True)
        return failed == 0

    def factorize(self) -> None:
        """The same; FactorizationError when it is not."""
        if not self.try_factorize():
            raise FactorizationError(
                "The subspace's matrix is not positive definite.",
                "Use more cubature points, more substeps, or a smaller ratio of stiffnesses.",
            )

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solution (r,3) with zeros at pinned unknowns."""
        solution, _info = dpotrs(self._factor, right_hand_side[self.free].T.ravel(), lower=True)
        out = np.zeros((self._size, 3))
        out[self.free] = solution.reshape(3, -1).T
        return out

    def shortfall(self) -> Shortfall:
        """Nothing: the solution is exact but for round-off."""
        return Shortfall(0.0, 0.0)


def _add_stiffness(
    potentials: tuple[StepPotential, ...], unknowns: np.ndarray, scale: float, matrix: np.ndarray
) -> bool:
    for potential in potentials:
        potential.add_stiffness(unknowns, scale, matrix)
    return True


def _side_by_side(numbers: np.ndarray) -> slice | np.ndarray:
    """As a slice where they are consecutive."""
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1:
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers
