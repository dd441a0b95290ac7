"""Free vibrations at rest: the lowest eigenpairs of ``K u = omega² M u``, in the full space or in a subspace.

K is the elastic stiffness at rest plus the stiffness of springs that hold the body. Modes are mass-orthonormal. Each
connected component has six modes of zero frequency if it is free, and three if it is held at a point
(:func:`rigid_count`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ...foundation.progress import OnProgress, ignore_progress
from ...geometry.mesh.topology import vertex_components
from ...mechanics.assembly.sparsity import BlockSparsity, Pattern
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.unilateral_springs import Points
from ...numerics.linear_solvers.factorized import factorized
from ...numerics.linear_solvers.lowest import lowest_pairs
from ...numerics.linear_solvers.registry import fastest
from ..model.model import Model
from ..subspaces.reduced_model import ReducedModel
from ..subspaces.reduced_stiffness import symmetric
from ..subspaces.space import Space

HELD = 1e-9
"""Stiffness of the pins against a rigid motion below which the motion counts as free.

The stiffness is relative to that of the stiffest pin.
"""


RESIDUAL = 1e-9
"""Tolerance of the relative residual of vibrations in the full space.

The relative error of an eigenvalue is the square of the residual. Convergence to round-off takes more solves.
"""


class Springs(NamedTuple):
    """Springs that hold a body at rest.

    ``points``: the p attachment points. ``stiffness`` (p,) N/m per point.
    """

    points: Points
    stiffness: np.ndarray


class Vibrations(NamedTuple):
    """Vibrations of a body in its space, slowest first.

    ``eigenvalues`` (k,): omega², 1/s². ``modes`` (k,r,3): mass-orthonormal displacements of the space's r unknowns,
    zero at pins.
    """

    eigenvalues: np.ndarray
    modes: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """Frequencies of the vibrations, (k,) Hz."""
        return np.sqrt(np.maximum(self.eigenvalues, 0.0)) / (2.0 * np.pi)

    def after(self, rigid: int, count: int) -> Vibrations:
        """Return the next ``count`` vibrations after the first ``rigid`` ones."""
        return Vibrations(self.eigenvalues[rigid : rigid + count], self.modes[rigid : rigid + count])


def rigid_count(model: Model) -> int:
    """Return the number of rigid modes of a model.

    A connected component has six if it is free, three if it is held at a point, and one if it is held at a hinge.
    """
    rest, n = model.mesh.rest_positions, len(model.mesh.rest_positions)
    part = np.empty(n, dtype=np.int64)
    part[model.mesh.tets.ravel()] = np.repeat(vertex_components(model.mesh.tets), 4)
    given = np.isin(np.arange(n), model.pinned).astype(np.float64)
    stiffest = 0.0 if model.anchors is None else model.anchors.diagonal().max()
    springs = model.anchors / stiffest if stiffest else sp.csr_matrix((n, n))
    holding, free = sp.diags(given) + springs, 0
    for k in np.unique(part):
        inside = (part == k)[:, None]
        away = (rest - rest[inside[:, 0]].mean(axis=0)) / model.mesh.size
        motions = [
            inside * direction
            for axis in np.eye(3)
            for direction in (np.broadcast_to(axis, (n, 3)), np.cross(axis, away))
        ]
        held = [[np.sum(one * (holding @ other)) for other in motions] for one in motions]
        free += 6 - np.linalg.matrix_rank(np.array(held), tol=HELD, hermitian=True)
    return int(free)


def vibrations(model: Model, count: int, on_progress: OnProgress = ignore_progress) -> Vibrations:
    """Return the lowest vibrations of a model in its full space, including rigid motions.

    Raises ArpackError or FactorizationError if the vibrations cannot be computed.
    """
    K, M, pattern = _at_rest(model)
    values, vectors = lowest_pairs(K, M, min(count, K.shape[0]), on_progress, pattern, RESIDUAL)
    return Vibrations(values, _of_all(vectors, pattern.free, len(model.mesh.rest_positions)))


def _at_rest(model: Model) -> tuple[sp.csc_matrix, sp.csc_matrix, Pattern]:
    """Return the stiffness matrix at rest, N/m, the mass matrix, kg, and the sparsity pattern of the stiffness matrix.

    Both matrices are (3f,3f) for f vertices that are not pinned. The stiffness matrix has only its lower triangle.
    """
    tangent = model.elastic.tangent(model.elastic.deformation(model.mesh.rest_positions))
    K, pattern = stiffness_lower_triangle(model, tangent, model.pinned)
    free = pattern.free
    if model.anchors is not None:
        K = K + sp.tril(sp.kron(model.anchors[free][:, free], sp.eye(3)), format="csc")
    return K, sp.kron(model.mass[free][:, free], sp.eye(3), format="csc"), pattern


def stiffness_lower_triangle(
    model: Model, tangent: Tangent, pinned: Sequence[int], positions: np.ndarray | None = None
) -> tuple[sp.csc_matrix, Pattern]:
    """Return the lower triangle (3f,3f), N/m, of the elastic stiffness matrix, and the sparsity pattern of the matrix.

    The f vertices that are not ``pinned`` have three components each. ``tangent``: second derivatives of the elastic
    energy. ``positions`` (n,3), m: vertices at which the stabilization is evaluated, by default at rest.
    """
    sparsity = BlockSparsity(model.elements.nodes, len(model.mesh.rest_positions), np.asarray(pinned, dtype=np.int64))
    pattern = sparsity.pattern
    values = np.empty(len(pattern.row_indices))
    sparsity.fill(model.stiffness(tangent, 0.0, positions), values)
    shape = pattern.size, pattern.size
    return sp.csc_matrix((values, pattern.row_indices, pattern.column_starts), shape=shape), pattern


def _of_all(columns: np.ndarray, free: np.ndarray, n: int) -> np.ndarray:
    """Return displacements of the free vertices, (3f,k), as displacements of all vertices, (k,n,3), zero at pins."""
    out = np.zeros((columns.shape[1], n, 3))
    out[:, free] = columns.T.reshape(columns.shape[1], -1, 3)
    return out


def modes_in_space(space: Space, springs: Springs | None, forces: np.ndarray, shift: float) -> np.ndarray:
    """Return the static displacements due to k loads, (k,r,3).

    The displacements are ``(K + shift M)^-1 f`` with the stiffness K at rest and the mass matrix M. ``forces`` (k,r,3):
    the loads f. ``shift``, 1/s²: makes the matrix regular for a free body. ``springs``: springs that hold the body in a
    subspace. In the full space the model itself contains the springs, and this argument is ignored.
    """
    if not space.is_reduced:
        K, M, pattern = _at_rest(space)
        columns = np.ascontiguousarray(forces[:, pattern.free].reshape(len(forces), -1).T)
        factor = factorized(K + shift * sp.tril(M), fastest(), pattern)
        return _of_all(factor.solve(columns), pattern.free, forces.shape[1])
    K, M, free = _reduced(space, springs)
    columns = forces[:, free].transpose(0, 2, 1).reshape(len(forces), -1).T
    return _of_reduced(scipy.linalg.solve(K + shift * M, columns, assume_a="pos"), free, forces.shape[1])


def space_vibrations(
    space: Space, springs: Springs | None, count: int, on_progress: OnProgress = ignore_progress
) -> Vibrations:
    """Return the lowest ``count`` vibrations of a body in the full space or a subspace.

    ``springs``: springs that hold the body in a subspace. In the full space the model itself contains the springs, and
    this argument is ignored.
    """
    return reduced_vibrations(space, springs, count) if space.is_reduced else vibrations(space, count, on_progress)


def reduced_vibrations(
    space: ReducedModel, springs: Springs | None, count: int, tangent: Tangent | None = None
) -> Vibrations:
    """Return the lowest ``count`` vibrations of a body in a subspace.

    ``springs``: springs that hold the body in addition to its pins. ``tangent``: second derivatives of the elastic
    energy, by default at rest.
    """
    K, M, free = _reduced(space, springs, tangent)
    values, vectors = scipy.linalg.eigh(K, M, subset_by_index=[0, min(count, len(K)) - 1])
    return Vibrations(values, _of_reduced(vectors, free, space.unknowns))


def _reduced(
    space: ReducedModel, springs: Springs | None, tangent: Tangent | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the stiffness and mass matrices (3f,3f) of a subspace, and the indices (f,) of its free unknowns.

    Rows are ordered by component: all x first, then y and z.
    """
    r = space.unknowns
    free = np.setdiff1d(np.arange(r), space.pinned)
    if tangent is None:
        tangent = space.elastic.tangent(space.elastic.deformation(np.zeros((r, 3))))
    matrix = space.stiffness(tangent, 0.0)
    if springs is not None:
        springs.points.add_stiffness(springs.stiffness[:, None, None] * np.eye(3), 1.0, matrix)
    rows = np.concatenate([free + i * r for i in range(3)])
    return symmetric(matrix)[np.ix_(rows, rows)], np.kron(np.eye(3), space.mass[np.ix_(free, free)]), free


def _of_reduced(columns: np.ndarray, free: np.ndarray, r: int) -> np.ndarray:
    """Return changes of the free unknowns of a subspace, (3f,k), as changes of all unknowns, (k,r,3)."""
    out = np.zeros((columns.shape[1], r, 3))
    out[:, free] = columns.T.reshape(columns.shape[1], 3, -1).transpose(0, 2, 1)
    return out


def modal_loads(model: Model, modes: np.ndarray) -> np.ndarray:
    """Return the modal loads (k,12) of k modes under twelve accelerations.

    ``modes`` (k,n,3): displacements of the model's n vertices. Three accelerations are uniform unit accelerations, like
    weight or shaken pins. Uniform accelerations do not excite vibrations of a free body. Each of the other nine
    accelerations has one component that grows linearly along one axis, by 1 over the body's longest side.
    """
    rest, masses = model.mesh.rest_positions, model.lumped_masses
    away = (rest - masses @ rest / masses.sum()) / model.size
    fields = np.column_stack([np.ones(len(rest)), away])
    return np.einsum("n,nj,kni->kji", masses, fields, modes, optimize=True).reshape(len(modes), -1)
