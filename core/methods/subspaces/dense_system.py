"""Linear system of a body in a subspace: dense and small ([SubMFEM23] Eq. 6).

The matrix is ``A^T M A + h² sum_c w_c A^T B_c^T H_c B_c A`` over the cubature tets c and the free unknowns, three
components each. Its layout is (3, r, 3, r), with the unknowns of a component side by side: ``B_c A`` is the same for x,
y and z, so the matrix consists of six blocks of r x r (:mod:`.reduced_stiffness`). Only the blocks on and above the
diagonal are written.

In a body with fibres and without contact, the first two matrices of a step are factorised. Later systems of the step
are solved by conjugate gradients, preconditioned by the last factor (:mod:`.iterative_solution`). The first factor is a
poor preconditioner, since the first iteration of Mixed FEM omits second derivatives of its constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dpotrf, dpotrs

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.fibres.fibre_potential import VectorPotential
from ...mechanics.forces.step_potential import StepPotential
from ...mechanics.forces.unilateral_springs import UnilateralPotential
from ...numerics.linear_solvers.linear_system import LinearSystem
from .iterative_solution import ReducedMatrix, conjugate_gradients
from .reduced_elastic import CubatureElastic
from .reduced_stiffness import ReducedStiffness


class DenseSystem(LinearSystem):
    """Dense linear system of a subspace, with the interface of the full space's system.

    Parameters
    ----------
    elastic : CubatureElastic
    mass : (r,r) mass matrix of the r unknowns
    pinned : (p,) indices of the prescribed unknowns
    """

    is_small = True
    choice = "dense Cholesky of the subspace"

    def __init__(self, elastic: CubatureElastic, mass: np.ndarray, pinned: np.ndarray) -> None:
        super().__init__(elastic.weights)
        self._mass, self._pinned, self._size = mass, pinned, len(mass)
        self._product: ReducedMatrix | None = None
        self.begin_step()
        free = np.setdiff1d(np.arange(self._size), pinned)
        self.free = _side_by_side(free)
        self._free_mass = mass[np.ix_(free, free)]
        self.flow(elastic)
        self._matrix = np.zeros((3, len(free), 3, len(free)))
        self._factor = np.empty((3 * len(free), 3 * len(free))).T

    def flow(self, elastic: CubatureElastic) -> None:
        """Assemble later matrices with the gradients of ``elastic``."""
        if elastic.plasticity is not None or not hasattr(self, "_stiffness"):
            self._stiffness = ReducedStiffness(elastic.G[:, self.free], self._free_mass)
        self._elastic = elastic

    @cached_property
    def _change(self) -> np.ndarray:
        """Workspace (3,r,3,r) for additions to the matrix, allocated at first use."""
        return np.empty((3, self._size, 3, self._size))

    def begin_step(self, _slow_steps: int = 0, _negligible: float = 0.0) -> None:
        """Discard the factors of the step before, so that results do not depend on them."""
        self._factorizations, self._preconditions = 0, False

    def assemble(
        self,
        scale: float,
        unknowns: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
    ) -> None:
        """Assemble the matrix: the sum of the mass, the elastic stiffness, and the stiffness of loads.

        The elastic stiffness is computed from ``self.hessians``, the second derivatives of the energy by the
        deformation gradients at the cubature points. ``added`` (c,6,3,3) is first added to this array, in place.
        ``potentials``: loads, evaluated at the ``unknowns`` (r,3). ``low_rank``: low-rank stiffness of loads. Only the
        stiffness of the loads is multiplied by ``scale``. If :meth:`solve` will iterate, the matrix stays a sum of
        terms.
        """
        if added is not None:
            self.hessians += added
        self.low_rank = low_rank and low_rank.scaled(scale)
        self._terms = unknowns, potentials, scale
        fibres = [each for each in potentials if isinstance(each, VectorPotential)]
        may_iterate = self._preconditions and fibres and low_rank is None
        if may_iterate and not any(isinstance(each, UnilateralPotential) for each in potentials):
            vectors = [(each.vectors, scale * each.hessians(unknowns)) for each in fibres]
            self._change.fill(0.0)
            _add_stiffness([each for each in potentials if each not in fibres], unknowns, scale, self._change)
            self._product = ReducedMatrix(self._elastic, self.hessians, self._mass, vectors, self._change, self._pinned)
        else:
            self._assemble()

    def _assemble(self) -> None:
        unknowns, potentials, scale = self._terms
        self._product = None
        self._stiffness.assemble(self.hessians, self._matrix)
        if potentials:
            self.add(lambda matrix: _add_stiffness(potentials, unknowns, scale, matrix))
        self._add_low_rank(1.0)

    def _add_low_rank(self, factor: float) -> None:
        if self.low_rank is None:
            return
        Y, C = self.low_rank
        rows = Y[self.free].transpose(1, 0, 2).reshape(-1, len(C))
        # The row-major matrix is column-major for BLAS, and the sum is symmetric: it is added in place.
        dgemm(factor, rows @ C, rows, 1.0, self._matrix.reshape(len(rows), -1).T, trans_b=True, overwrite_c=True)

    def add(self, change: Callable[[np.ndarray], bool]) -> bool:
        """Add an array (3,r,3,r) to the assembled matrix.

        The function ``change`` fills the array. Return the result of ``change``.
        """
        self._change.fill(0.0)
        answer = change(self._change)
        self._matrix += self._change[:, self.free][:, :, :, self.free]
        return answer

    def try_factorize(self, whole: bool = False) -> bool:
        """Compute the Cholesky factor of the matrix. Return False if the matrix is not positive definite.

        If the factorisation fails and ``whole`` is False, it is tried again without the low-rank part. If :meth:`solve`
        will iterate, nothing is computed, and True is not a proof.
        """
        if self._product is not None or self._has_factor():
            return True
        if whole or self.low_rank is None:
            return False
        self._add_low_rank(-1.0)
        self.low_rank = None
        return self._has_factor()

    def _has_factor(self) -> bool:
        # The upper blocks in row-major order are LAPACK's lower ones, whose factorization is faster.
        self._factor[...] = self._matrix.reshape(self._factor.shape).T
        self._factor, failed = dpotrf(self._factor, lower=True, clean=False, overwrite_a=True)
        self._factorizations += 1
        self._preconditions = failed == 0 and self._factorizations > 1
        return failed == 0

    def error(self) -> FactorizationError:
        """Return the error to raise if the matrix is not positive definite."""
        return FactorizationError(
            "The subspace's matrix is not positive definite.",
            "Use more cubature points, more substeps, or materials of more similar stiffness.",
        )

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution (r,3) of the factorised system, zero at prescribed unknowns.

        ``right_hand_side`` (r,3).

        Raises FactorizationError if iterations find that the matrix is not positive definite.
        """
        if self._product is None:
            return self._solved(right_hand_side)
        x = conjugate_gradients(self._product.times, self._solved, right_hand_side)
        if x is not None:
            return x
        self._assemble()
        self.factorize()
        return self._solved(right_hand_side)

    def _solved(self, right_hand_side: np.ndarray) -> np.ndarray:
        solution, _info = dpotrs(self._factor, right_hand_side[self.free].T.ravel(), lower=True)
        out = np.zeros((self._size, 3))
        out[self.free] = solution.reshape(3, -1).T
        return out


def _add_stiffness(
    potentials: tuple[StepPotential, ...], unknowns: np.ndarray, scale: float, matrix: np.ndarray
) -> bool:
    for potential in potentials:
        potential.add_stiffness(unknowns, scale, matrix)
    return True


def _side_by_side(numbers: np.ndarray) -> slice | np.ndarray:
    """Return ascending indices as a slice if they are consecutive, else unchanged."""
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1:
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers
