"""Eigensolver for the lowest modes of a body whose stiffness changes repeatedly, started from nearby modes.

In the full space, a block Krylov method (Golub and Underwood 1977) starts from a block V of nearby modes, and
multiplies it repeatedly by ``T = (K + s M)^-1 M``, with the stiffness K, the mass matrix M and a shift s. Rayleigh-Ritz
finds the lowest modes in the span of all blocks. The inverse power iteration of [EigenFit19] uses only the last block
and converges more slowly. In a subspace the dense eigenproblem is solved.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from ...mechanics.assembly.sparsity import BlockSparsity
from ...mechanics.energies.tangent import Tangent
from ...numerics.linear_solvers.registry import fastest
from ..model.model import Model
from ..subspaces.reduced_model import ReducedModel
from ..subspaces.space import Space
from .vibrations import Springs, Vibrations, reduced_vibrations

RIGID = 0.01
"""Threshold below which an eigenvalue marks a rigid motion, relative to the lowest vibration about the rest shape."""

SHIFT = 0.1
"""Shift s in ``T = (K + s M)^-1 M``, relative to the lowest eigenvalue of the vibrations about the rest shape.

With a shift, T exists for a free body too. With a smaller shift, vectors multiplied by T would consist mostly of rigid
motions, which would hide all other modes.
"""

ROUNDS, RESIDUAL = 8, 1e-3
"""ROUNDS: largest number of Krylov blocks. RESIDUAL: tolerance of the residual ``|T u - t u| / t`` of each wanted mode
u, with the eigenvalue t of ``T = (K + s M)^-1 M``. The relative error of an eigenvalue is the square of the residual.
"""

DEPENDENT = 1e-10
"""Smallest squared mass norm at which the new part of a direction is kept.

The direction has the mass norm 1. The new part is the component outside the span of earlier blocks. A smaller new part
is round-off.
"""


class NearModes(Protocol):
    """Eigensolver for the lowest modes of a space, used repeatedly with changing tangents."""

    def find(
        self, space: Space, tangent: Tangent, near: np.ndarray, count: int, scale: float = 1.0, beyond: int = 0
    ) -> Vibrations:
        """Return the lowest mass-orthonormal modes that are not rigid, for the stiffness ``tangent``.

        The result has ``count`` modes, and up to ``beyond`` further modes, which may be less exact. ``space``: space
        with the current moduli, which the stabilization uses. ``near`` (k,r,3): modes from which the iterations start.
        ``scale``: approximate ratio of the stiffness to the stiffness at rest.
        """


def near_modes(space: Space, springs: Springs | None, lowest: float, residual: float = RESIDUAL) -> NearModes:
    """Return the eigensolver for a space: dense in a subspace, block Krylov in the full space.

    ``springs``: springs that hold the body in a subspace. In the full space the model itself contains the springs, and
    this argument is ignored. ``lowest``, 1/s²: lowest eigenvalue of the vibrations about the rest shape. ``residual``:
    relative tolerance of modes in the full space.
    """
    return _Dense(space, springs, lowest) if space.is_reduced else _Sparse(space, lowest, residual)


class _Dense:
    def __init__(self, space: ReducedModel, springs: Springs | None, lowest: float) -> None:
        self._springs, self._lowest = springs, lowest
        at_rest = reduced_vibrations(space, springs, 3 * space.unknowns).eigenvalues
        self._rigid = int(np.sum(at_rest < RIGID * lowest))

    def find(
        self, space: Space, tangent: Tangent, near: np.ndarray, count: int, scale: float = 1.0, beyond: int = 0
    ) -> Vibrations:
        """Return the lowest modes in a subspace, from the dense eigenproblem (:meth:`NearModes.find`)."""
        springs = self._springs and self._springs._replace(stiffness=scale * self._springs.stiffness)
        found = reduced_vibrations(space, springs, self._rigid + count + beyond, tangent)
        return found.after(int(np.sum(found.eigenvalues < RIGID * scale * self._lowest)), count + beyond)


class _Sparse:
    def __init__(self, model: Model, lowest: float, residual: float) -> None:
        self._lowest, self._residual = lowest, residual
        self._sparsity = BlockSparsity(model.elements.nodes, model.unknowns, model.pinned)
        pattern, free = self._sparsity.pattern, self._sparsity.free
        self._solver = fastest()(pattern)
        self._mass = model.mass[free][:, free]
        self._values = np.empty(len(pattern.row_indices))
        self._held = np.zeros(0, dtype=np.int64), np.zeros(0)
        if model.anchors is not None:
            held = sp.tril(sp.kron(model.anchors[free][:, free], sp.eye(3))).tocoo()
            columns = np.repeat(np.arange(pattern.size), np.diff(pattern.column_starts))
            entries = np.searchsorted(columns * pattern.size + pattern.row_indices, held.col * pattern.size + held.row)
            self._held = entries, held.data

    def find(
        self, space: Space, tangent: Tangent, near: np.ndarray, count: int, scale: float = 1.0, beyond: int = 0
    ) -> Vibrations:
        """Return the lowest modes in the full space, by a block Krylov method (:meth:`NearModes.find`)."""
        free, lowest = self._sparsity.free, scale * self._lowest
        self._sparsity.fill(space.stiffness(tangent, SHIFT * lowest), self._values)
        entries, stiffness = self._held
        np.add.at(self._values, entries, scale * stiffness)
        self._solver.factorize(self._values)
        values, vectors = self._pairs(near[:, free].reshape(len(near), -1).T, count, beyond, lowest)
        modes = np.zeros((len(values), *near.shape[1:]))
        modes[:, free] = vectors.T.reshape(len(values), -1, 3)
        return Vibrations(values, modes)

    def _weighed(self, vectors: np.ndarray) -> np.ndarray:
        return (self._mass @ vectors.reshape(self._mass.shape[0], -1)).reshape(vectors.shape)

    def _pairs(self, block: np.ndarray, count: int, beyond: int, lowest: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenvalues (w,), 1/s², and eigenvectors (3f,w) of the lowest modes that are not rigid.

        ``block`` (3f,k): start vectors, with three components for each of f free vertices.
        """
        V = MV = TV = np.empty((len(block), 0))
        for _ in range(ROUNDS):
            new = self._new(block, V, MV)
            if not new.shape[1]:
                break
            weighed = self._weighed(new)
            block = self._solver.solve(weighed)
            V, MV, TV = (np.hstack(each) for each in ((V, new), (MV, weighed), (TV, block)))
            H = MV.T @ TV
            inverse, Y = np.linalg.eigh(0.5 * (H + H.T))
            values = 1.0 / inverse - SHIFT * lowest
            wanted = np.flatnonzero((inverse > 0.0) & (values > RIGID * lowest))[: -count - beyond - 1 : -1]
            left = TV @ Y[:, wanted] - V @ (Y[:, wanted] * inverse[wanted])
            residuals = np.sqrt(np.sum(left * self._weighed(left), axis=0)) / inverse[wanted]
            if len(wanted) == count + beyond and residuals[:count].max() < self._residual:
                break
        # T applied to the modes removes their errors in stiff parts, where small displacements hold much energy.
        return values[wanted], TV @ (Y[:, wanted] / inverse[wanted])

    def _new(self, block: np.ndarray, V: np.ndarray, MV: np.ndarray) -> np.ndarray:
        """Return a mass-orthonormal basis of the part of ``block`` that is orthogonal to earlier vectors V."""
        block = block / np.sqrt(np.sum(block * self._weighed(block), axis=0))
        for _ in range(2):  # Repeating the projection removes round-off.
            block = block - V @ (MV.T @ block)
            squares, Q = np.linalg.eigh(block.T @ self._weighed(block))
            new = squares > DEPENDENT
            block = block @ (Q[:, new] / np.sqrt(squares[new]))
        return block


class TrackedModes(NamedTuple):
    """Modes that continue k earlier modes, in the order of the earlier modes.

    ``eigenvalues`` (k,), 1/s². ``modes`` (k,r,3). ``turn`` (k,k): orthogonal matrix nearest to the overlap of new
    (rows) with earlier modes (columns).
    """

    eigenvalues: np.ndarray
    modes: np.ndarray
    turn: np.ndarray


def track_modes(found: Vibrations, others: np.ndarray, mass: Any) -> TrackedModes:
    """Return the modes among ``found`` that continue earlier modes.

    ``others`` (k,r,3): the k earlier mass-orthonormal modes. ``mass``: mass matrix. Modes are paired by the modal
    assurance criterion.
    """
    weighed = np.array([mass @ u for u in others]).reshape(len(others), -1)
    overlap = found.modes.reshape(len(found.modes), -1) @ weighed.T
    rows = linear_sum_assignment(-(overlap**2))[0]
    left, _, right = np.linalg.svd(overlap[rows])
    return TrackedModes(found.eigenvalues[rows], found.modes[rows], left @ right)
