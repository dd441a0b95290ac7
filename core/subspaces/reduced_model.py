"""A body in a skinning subspace: the same questions answered as by :class:`Model`, at a cost that its mesh has no part
in ([SubMFEM23] Sec. 4).

Unknowns are U (r,3), ``x = X + A U``: those of what moves freely first, modes and handles that springs hold, then the
handles of hard pins, which are given. At rest they are zero.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from ..assembly.tangent_blocks import tangent_blocks
from ..cubature.spectral_clusters import Cubature, spectral_clusters, weight_features
from ..energies.tangent import Tangent
from ..jit import summing_kernel
from ..linear_solvers.blas_threads import one_blas_thread
from ..linear_solvers.registry import Choice
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..model.model import Model, Slices
from ..model.state import State
from ..progress import OnProgress, OnStepProgress, ignore_progress, ignore_step_progress
from ..settings import SolverSettings
from ..small_matrix import UNSTRETCHED
from .carried_points import CarriedPoints
from .cubature_elastic import CubatureElastic
from .dense_system import DenseSystem
from .material_parts import material_parts
from .pin_handles import PinHandles, handle_weights
from .reduced_stiffness import ReducedStiffness
from .skinning import Coordinates, Skinning
from .skinning_basis import orthonormal, skinning_columns
from .skinning_modes import SkinningModes, skinning_modes

STEPS = ("modes", "handles", "cubature", "projection")
"""What is done one after the other until a body is in its subspace."""

POINTS_A_MODE = 20
"""Cubature points a mode that keep clear of spurious movements ([SubMFEM23] Sec. 7.5)."""

WATCHED = 500
"""Corners of cubature tets, at most, that are asked how far a body moves: all of its rows would not stay in the
processor's cache.
"""

TOUCHING_A_HANDLE, FEWEST_TOUCHING = 60, 500
"""Points of the surface that contact is felt at, and their least number: what lies between them sinks in."""


@dataclass(frozen=True)
class ReducedModel:
    """What is simulated in a subspace.

    Attributes
    ----------
    mesh : TetMesh, n vertices
    basis : (n,r) scalar basis A, handles of hard pins last
    moved_mass : (n,r) ``M A``
    elastic : CubatureElastic
    mass : (r,r) ``A^T M A``; lumped_masses : (r,) ``A^T M 1``
    pinned : (p,) unknowns that are given
    size : m, of the body
    watched : (w,) vertices that stand for the body when it is asked how far it moves
    skinning : Skinning or None
        The map that the basis came from.
    slices : where several bodies are one model, the unknowns and the cubature points of each
    """

    mesh: TetMesh
    basis: np.ndarray
    moved_mass: np.ndarray
    elastic: CubatureElastic
    mass: np.ndarray
    lumped_masses: np.ndarray
    pinned: np.ndarray
    size: float
    watched: np.ndarray
    skinning: Skinning | None = None
    slices: tuple[Slices, ...] = ()

    is_reduced: ClassVar[bool] = True
    grows: ClassVar[bool] = False

    def vertices(self, U: np.ndarray) -> np.ndarray:
        """Where the mesh's vertices are at unknowns (r,3), (n,3), m."""
        return self.mesh.rest_positions + self.basis @ U

    @property
    def unknowns(self) -> int:
        """Vectors that a state has for positions."""
        return len(self.mass)

    def farthest(self, change: np.ndarray) -> tuple[float, int]:
        """How far a watched vertex moves at most when the unknowns change so, m, and which one."""
        distance, row = _farthest(self._watched_rows, np.ascontiguousarray(change.T))
        return distance, int(self.watched[row])

    @cached_property
    def _watched_rows(self) -> np.ndarray:
        return np.ascontiguousarray(self.basis[self.watched])

    def around(self, chosen: np.ndarray) -> np.ndarray:
        """The chosen cubature points themselves: they have no neighbours."""
        return chosen

    def near_pins(self) -> np.ndarray:
        """None: what pins hold moves with their handles."""
        return np.zeros(len(self.elastic.weights), dtype=bool)

    def blas_threads(self) -> AbstractContextManager[object]:
        """One: on a busy machine threads that wait for one another at every product cost ten times what they share. The
        stiffness, most of the work, is shared among the kernels' threads instead.
        """
        return one_blas_thread()

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> DenseSystem:
        """Its linear systems; dense, whatever the settings say of sparse ones."""
        return DenseSystem(self.elastic, self.mass, self.pinned)

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """A tangent, and the mass times a factor, in the form that step potentials add their stiffness to: the upper
        blocks of a matrix (3,r,3,r).
        """
        r, mass = len(self.mass), mass_factor * self.mass
        matrix = np.zeros((3, r, 3, r))
        if tangent is None:
            for i in range(3):
                matrix[i, :, i, :] = mass
            return matrix
        blocks = np.empty((len(self.elastic.weights), 10, 3, 3))
        tangent_blocks(tangent, self.elastic.N, self.elastic.weights, self.elastic.masses, blocks)
        ReducedStiffness(self.elastic.G, mass).assemble(blocks, matrix)
        return matrix

    def points(self, embedding: Embedding) -> CarriedPoints:
        """Points of the mesh, carried by the unknowns with the tets that they lie in, as :meth:`Model.points`."""
        tets, rest = self.mesh.tets, self.mesh.rest_positions
        return CarriedPoints(embedding.apply(rest, tets), embedding.matrix(tets, len(rest)) @ self.basis)

    @property
    def touching(self) -> int | None:
        """How many points of the surface suffice for contact: the body moves smoothly between them."""
        if self.skinning is None:
            return None
        return max(FEWEST_TOUCHING, TOUCHING_A_HANDLE * self.skinning.weights.shape[1])

    def pull(self, accelerations: np.ndarray) -> np.ndarray:
        """What accelerations (n,3) m/s² of the vertices pull the unknowns with, (r,3)."""
        return self.moved_mass.T @ accelerations

    def state_at(self, unknowns: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """A state to start from, as :meth:`Model.state_at`."""
        deformation = self.elastic.deformation(unknowns)
        stretch = deformation.stretch()
        stretch[deformation.sigma[:, 2] <= 0.0] = UNSTRETCHED
        return State(unknowns.copy(), np.zeros_like(unknowns) if velocities is None else velocities.copy(), stretch)

    def rest_state(self) -> State:
        """At rest at the rest shape."""
        return self.state_at(np.zeros((len(self.mass), 3)))


def in_basis(
    model: Model, basis: np.ndarray, pinned: np.ndarray, cubature: Cubature, skinning: Skinning | None = None
) -> ReducedModel:
    """A model in any scalar basis (n,r), some of whose unknowns are given."""
    elastic = CubatureElastic(model.elastic, basis, cubature.tets, cubature.weights)
    MA = model.mass @ basis
    corners = np.unique(model.mesh.tets[cubature.tets])
    watched = corners[:: -(-len(corners) // WATCHED)]
    mass, lumped_masses = basis.T @ MA, MA.sum(axis=0)
    return ReducedModel(model.mesh, basis, MA, elastic, mass, lumped_masses, pinned, model.size, watched, skinning)


class SubspaceParts(NamedTuple):
    """What takes long to find of a subspace, as arrays.

    Attributes
    ----------
    weights : (n,m) of the modes; eigenvalues : (m,) 1/s²; islands : (n,) connected part of each vertex
    pin_group : (p,) group of each pinned vertex, of g
    pin_weights : (n,s+g) of handles: of s groups that springs hold, which move freely, then of those pinned
    transform : (4(m+s),r) that makes the skinning columns of what moves freely a mass-orthonormal basis
    tets, volumes, clusters : of the :class:`Cubature`
    """

    weights: np.ndarray
    eigenvalues: np.ndarray
    islands: np.ndarray
    pin_group: np.ndarray
    pin_weights: np.ndarray
    transform: np.ndarray
    tets: np.ndarray
    volumes: np.ndarray
    clusters: np.ndarray

    @property
    def cubature(self) -> Cubature:
        """The chosen tets."""
        return Cubature(self.tets, self.volumes, self.clusters)

    def at(self, cubature: Cubature) -> SubspaceParts:
        """The same with other chosen tets."""
        tets, volumes, clusters = cubature
        return self._replace(tets=tets, volumes=volumes, clusters=clusters)


def find_subspace(
    model: Model, modes: int, points: int, on_progress: OnStepProgress = ignore_step_progress
) -> SubspaceParts:
    """The subspace of a model's lowest skinning eigenmodes with cubature at about ``points`` tets; 0 for 20 a mode
    ([SubMFEM23] Sec. 7.5). It tells of the first three of ``STEPS``.
    """
    found = skinning_modes(model, modes, partial(on_progress, "modes"))
    on_progress("handles", 0.0)
    group, free, given = handle_weights(model, found.laplacian, partial(on_progress, "handles"))
    X = model.mesh.rest_positions
    columns = skinning_columns(np.hstack([found.weights, free]), Coordinates.around(X).of(X))
    on_progress("cubature", 0.0)
    cubature = find_cubature(model, found, points or POINTS_A_MODE * modes, partial(on_progress, "cubature"))
    return SubspaceParts(
        found.weights,
        found.eigenvalues,
        found.islands,
        group,
        np.hstack([free, given]),
        orthonormal(columns, model.mass),
        *cubature,
    )


def find_cubature(
    model: Model, found: SkinningModes | SubspaceParts, points: int, on_progress: OnProgress = ignore_progress
) -> Cubature:
    """About ``points`` tets of a model that stand for all of it in these modes."""
    features = weight_features(found.weights, found.eigenvalues, model.mesh)
    elastic, parts = model.elastic, material_parts(model, found.islands)
    return spectral_clusters(features, elastic.weights, parts, points, on_progress, elastic.youngs_modulus)


@dataclass(frozen=True)
class Subspace:
    """A reduced model with what it was made from, to be looked at."""

    model: ReducedModel
    parts: SubspaceParts
    pins: PinHandles


def subspace_of(model: Model, parts: SubspaceParts) -> Subspace:
    """The reduced model of these parts: unknowns of what moves freely, then four of every handle of hard pins."""
    X = model.mesh.rest_positions
    coordinates = Coordinates.around(X)
    given = parts.pin_weights[:, len(parts.transform) // 4 - parts.weights.shape[1] :]
    pins = PinHandles(model.pinned, parts.pin_group, given, coordinates.of(X), model.size)
    transform = block_diag(parts.transform, np.eye(4 * pins.count))
    skinning = Skinning(model.mesh, np.hstack([parts.weights, parts.pin_weights]), coordinates, transform)
    pinned = np.arange(parts.transform.shape[1], transform.shape[1])
    return Subspace(in_basis(model, skinning.basis(), pinned, parts.cubature, skinning), parts, pins)


def skinning_subspace(model: Model, modes: int, points: int) -> Subspace:
    """A model's subspace, found anew."""
    return subspace_of(model, find_subspace(model, modes, points))


@summing_kernel
def _farthest(A, U):
    """The longest row of ``A U^T`` and its number, for U (3,r)."""
    first, second, third = U[0], U[1], U[2]
    longest, found = -1.0, 0
    for w in range(len(A)):
        row, x, y, z = A[w], 0.0, 0.0, 0.0
        for k in range(len(row)):
            x += row[k] * first[k]
            y += row[k] * second[k]
            z += row[k] * third[k]
        squared = x * x + y * y + z * z
        if squared > longest:
            longest, found = squared, w
    return np.sqrt(longest), found
