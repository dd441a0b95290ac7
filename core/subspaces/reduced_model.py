"""A body in a skinning subspace: the same questions answered as by :class:`Model`, at a cost that its mesh has no part
in ([SubMFEM23] Sec. 4).

Unknowns are U (r,3), ``x = X + A U``: those of the modes first, then the handles of pins. At rest they are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..assembly.tangent_blocks import tangent_blocks
from ..cubature.spectral_clusters import Cubature, every_tet, spectral_clusters, weight_features
from ..energies.tangent import Tangent
from ..linear_solvers.registry import Choice
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..model.model import Model
from ..model.settings import SolverSettings
from ..model.state import State
from ..small_matrix import UNSTRETCHED
from .carried_points import CarriedPoints
from .cubature_elastic import CubatureElastic
from .dense_system import DenseSystem
from .material_parts import material_parts
from .pin_handles import PinHandles
from .skinning_basis import homogeneous, orthonormal, skinning_columns
from .skinning_modes import SkinningModes, skinning_modes

POINTS_A_MODE = 20
"""Cubature points a mode that keep clear of spurious movements ([SubMFEM23] Sec. 7.5)."""


@dataclass(frozen=True)
class ReducedModel:
    """What is simulated in a subspace.

    Attributes
    ----------
    mesh : TetMesh, n vertices
    basis : (n,r) scalar basis A, handles of pins last
    moved_mass : (n,r) ``M A``
    elastic : CubatureElastic
    mass : (r,r) ``A^T M A``; nodal_masses : (r,) ``A^T M 1``
    pinned : (p,) unknowns that are given
    size : m, of the body
    watched : (w,r) rows of the basis at vertices that stand for the body when it is asked how far it moves
    """

    mesh: TetMesh
    basis: np.ndarray
    moved_mass: np.ndarray
    elastic: CubatureElastic
    mass: np.ndarray
    nodal_masses: np.ndarray
    pinned: np.ndarray
    size: float
    watched: np.ndarray

    @property
    def unknowns(self) -> int:
        """Vectors that a state has for positions."""
        return len(self.mass)

    def displacements(self, change: np.ndarray) -> np.ndarray:
        """How far the watched vertices move when the unknowns change so, (w,3), m."""
        return self.watched @ change

    def around(self, chosen: np.ndarray) -> np.ndarray:
        """The chosen cubature points themselves: they have no neighbours."""
        return chosen

    def near_pins(self) -> np.ndarray:
        """None: what pins hold moves with their handles."""
        return np.zeros(len(self.elastic.weights), dtype=bool)

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> DenseSystem:
        """Its linear systems; dense, whatever the settings say of sparse ones."""
        return DenseSystem(self.elastic, self.mass, self.pinned)

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """A tangent, and the mass times a factor, in the form that step potentials add their stiffness to: the lower
        blocks of a matrix (3,r,3,r).
        """
        r = len(self.mass)
        matrix = np.zeros((3, r, 3, r))
        if tangent is not None:
            system = self.linear_system(SolverSettings())
            tangent_blocks(tangent, system.N, self.elastic.weights, system.masses, system.blocks)
            self.elastic.assemble(system.blocks, matrix)
        for i in range(3):
            matrix[i, :, i, :] += mass_factor * self.mass
        return matrix

    def points(self, embedding: Embedding) -> CarriedPoints:
        """Points of the mesh, carried by the unknowns."""
        return CarriedPoints(embedding, self.mesh, self.basis)

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


def in_basis(model: Model, basis: np.ndarray, pinned: np.ndarray, cubature: Cubature) -> ReducedModel:
    """A model in any scalar basis (n,r), some of whose unknowns are given."""
    elastic = CubatureElastic(model.elastic, basis, cubature.tets, cubature.weights)
    MA = model.mass @ basis
    watched = np.ascontiguousarray(basis[np.unique(model.mesh.tets[cubature.tets])])
    return ReducedModel(model.mesh, basis, MA, elastic, basis.T @ MA, MA.sum(axis=0), pinned, model.size, watched)


@dataclass(frozen=True)
class Subspace:
    """A reduced model with what it was made from, to be looked at."""

    model: ReducedModel
    modes: SkinningModes
    cubature: Cubature
    pins: PinHandles


def skinning_subspace(
    model: Model, modes: int, points: int, on_phase: Callable[[str], None] = lambda _phase: None
) -> Subspace:
    """The subspace of a model's lowest skinning eigenmodes with cubature at about ``points`` tets; 0 for 20 a mode
    ([SubMFEM23] Sec. 7.5).
    """
    on_phase("modes")
    found = skinning_modes(model, modes)
    coordinates = homogeneous(model.mesh.rest_positions)
    on_phase("pins")
    pins = PinHandles(found.laplacian, model.pinned, coordinates, model.size)
    on_phase("cubature")
    features = weight_features(found.weights, found.eigenvalues, model.mesh)
    cubature = spectral_clusters(
        features, model.elastic.weights, material_parts(model, found.islands), points or POINTS_A_MODE * modes
    )
    on_phase("basis")
    free = skinning_columns(found.weights, coordinates)
    free = free @ orthonormal(free, model.mass)
    held = skinning_columns(pins.weights, coordinates)
    basis = np.ascontiguousarray(np.hstack([free, held]))
    pinned = np.arange(free.shape[1], basis.shape[1])
    return Subspace(in_basis(model, basis, pinned, cubature), found, cubature, pins)


def full_basis(model: Model) -> ReducedModel:
    """Every vertex an unknown and every tet a cubature point: the full space, for comparison."""
    return in_basis(model, np.eye(len(model.mesh.rest_positions)), model.pinned, every_tet(model.elastic.weights))
