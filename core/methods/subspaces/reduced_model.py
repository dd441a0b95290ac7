"""Body in a skinning subspace: the interface of :class:`Model`, at a cost independent of its mesh ([SubMFEM23] Sec. 4).

The unknowns are U (r,3), ``x = X + A U``, with the vertices' rest positions X and the scalar basis A. Free unknowns
come first: those of the modes and of handles of pins held by springs. Prescribed unknowns follow: those of the handles
of hard pins. All unknowns are zero at rest.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial import cKDTree

from ...foundation.kernels.jit import summing_kernel
from ...foundation.kernels.small_matrix import IDENTITY_STRETCH
from ...foundation.progress import OnProgress, OnStepProgress, ignore_progress, ignore_step_progress
from ...foundation.schema.settings import SolverSettings
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.assembly.sparsity import NONE
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ...mechanics.energies.tangent import Tangent
from ...mechanics.fibres.fibre_vectors import FibreVectors
from ...numerics.linear_solvers.blas import one_blas_thread
from ...numerics.linear_solvers.registry import Choice
from ..model.model import Model, Slices
from ..model.state import State
from .cubature import Cubature, spectral_clusters, weight_features
from .dense_system import DenseSystem
from .fitted_cubature import fitted_cubature
from .material_parts import material_parts
from .pin_handles import PinHandles, handle_weights
from .reduced_elastic import CubatureElastic
from .reduced_points import ReducedPoints
from .reduced_stiffness import ReducedStiffness
from .skinning import Coordinates, Skinning
from .skinning_basis import orthonormal, skinning_columns
from .skinning_modes import skinning_modes
from .sparse_handles import sparse_handles

MODES, HANDLES = "modes", "handles"
"""Values of the setting ``subspace_basis``: skinning modes, or sparse handles."""

STEPS = ("modes", "handles", "cubature", "projection")
"""Names of the steps of the reduction, in order, for progress reports."""

POINTS_A_MODE = 20
"""Default number of cubature points per mode, which avoids spurious motion ([SubMFEM23] Sec. 7.5)."""

FAR = 1e6
"""Distance of two parts in the features by which elements find their nearest cubature point."""

WATCHED = 500
"""Approximate number of vertices whose displacements decide when iterations stop.

The vertices are corners of cubature tets. The basis rows of all vertices would exceed the processor's cache.
"""

TOUCHING_A_HANDLE, FEWEST_TOUCHING = 60, 500
"""TOUCHING_A_HANDLE: number of surface points for contact per handle. FEWEST_TOUCHING: least number of these points for
a body. The surface between the points can penetrate obstacles.
"""


@dataclass(frozen=True)
class ReducedModel:
    """Reduced model of a body in a subspace: the n vertices are at ``x = X + A U``, with r unknowns U (r,3).

    Attributes
    ----------
    mesh : TetMesh, n vertices
    basis : (n,r) scalar basis A; the handles of hard pins come last
    moved_mass : (n,r) ``M A``
    elastic : CubatureElastic
    mass : (r,r) ``A^T M A``
    lumped_masses : (r,) ``A^T M 1``
    pinned : (p,) indices of the prescribed unknowns
    size : longest side of the body at rest, m; in a merged model, that of the smallest body
    watched : (w,) vertices at which displacements of the body are measured
    skinning : Skinning that defines the basis, or None
    slices : unknowns and cubature points of each body in a merged model
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
    rigid_elements: ClassVar[np.ndarray] = NONE
    has_regions: ClassVar[bool] = False
    grows: ClassVar[bool] = False

    def vertices(self, U: np.ndarray) -> np.ndarray:
        """Return the positions (n,3) m of the mesh's vertices for unknowns U (r,3)."""
        return self.mesh.rest_positions + self.basis @ U

    @property
    def unknowns(self) -> int:
        """Number of unknowns of the subspace, with three components each."""
        return len(self.mass)

    def max_displacement(self, change: np.ndarray) -> tuple[float, int]:
        """Return the largest displacement, m, and the index of its vertex.

        ``change`` (r,3): change of the unknowns. Only the vertices in the sample ``watched`` are compared.
        """
        distance, row = _farthest(self._watched_rows, np.ascontiguousarray(change.T))
        return distance, int(self.watched[row])

    @cached_property
    def _watched_rows(self) -> np.ndarray:
        return np.ascontiguousarray(self.basis[self.watched])

    def dilate_selection(self, chosen: np.ndarray) -> np.ndarray:
        """Return the mask ``chosen`` (c,) unchanged, since cubature points have no neighbours."""
        return chosen

    def near_pins(self) -> np.ndarray:
        """Return the mask (c,) of the cubature points at pins: False for all points.

        A pin's handle moves a large region of the body, so no cubature point counts as a point at a pin.
        """
        return np.zeros(len(self.elastic.weights), dtype=bool)

    def blas_threads(self) -> AbstractContextManager[object]:
        """Return a context in which the BLAS uses one thread.

        On a busy machine, BLAS threads that wait for each other at every product cost ten times what they gain. The
        assembly of the stiffness, most of the work, has threads of its own.
        """
        return one_blas_thread()

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> DenseSystem:
        """Return the dense linear system of the subspace. The arguments are not used."""
        return DenseSystem(self.elastic, self.mass, self.pinned)

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """Return the matrix ``K + mass_factor M`` (3,r,3,r).

        K is the elastic stiffness for the second derivatives ``tangent`` of the elastic energy, and M the mass matrix.
        Without a tangent, the result is the mass term alone. Only the blocks ``[i,:,j,:]`` for axes i <= j are filled,
        since the matrix is symmetric. In the diagonal blocks, only the upper triangle is valid.
        """
        r, mass = len(self.mass), mass_factor * self.mass
        matrix = np.zeros((3, r, 3, r))
        if tangent is None:
            for i in range(3):
                matrix[i, :, i, :] = mass
            return matrix
        hessians = np.empty((len(self.elastic.weights), 6, 3, 3))
        tangent_blocks(tangent, self.elastic.weights, hessians)
        ReducedStiffness(self.elastic.G, mass).assemble(hessians, matrix)
        if self.elastic.stabilization is not None:
            self.elastic.stabilization.add_stiffness(np.zeros((r, 3)), 1.0, matrix)
        return matrix

    def points(self, embedding: Embedding) -> ReducedPoints:
        """Return points embedded in the mesh, as functions of the unknowns."""
        tets, rest = self.mesh.tets, self.mesh.rest_positions
        return ReducedPoints(embedding.apply(rest, tets), embedding.matrix(tets, len(rest)) @ self.basis)

    def fibre_vectors(self, vectors: FibreVectors, directions: np.ndarray) -> ReducedPoints:
        """Return fibre vectors F a of the body's elements as functions of the unknowns.

        ``vectors``: the f vectors as functions of the vertex positions. ``directions`` (f,3): unit rest directions a.
        """
        return ReducedPoints(directions, vectors.matrix @ self.basis)

    @property
    def contact_point_budget(self) -> int | None:
        """Number of surface points that suffice for contact, or None if all are needed.

        Few points suffice, since the body deforms smoothly between them.
        """
        if self.skinning is None:
            return None
        return max(FEWEST_TOUCHING, TOUCHING_A_HANDLE * self.skinning.weights.shape[1])

    def generalized_force(self, accelerations: np.ndarray) -> np.ndarray:
        """Return the forces (r,3), N, on the unknowns for vertex ``accelerations`` (n,3), m/s².

        The forces are ``A^T M a`` with the basis A, the mass matrix M and the accelerations a.
        """
        return self.moved_mass.T @ accelerations

    def state_at(self, unknowns: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """Return an initial state at given unknowns and velocities.

        ``unknowns`` (r,3). ``velocities`` (r,3), by default zero. Independent stretches are the polar stretches, or the
        identity at inverted cubature points.
        """
        deformation = self.elastic.deformation(unknowns)
        stretch = deformation.stretch()
        stretch[deformation.sigma[:, 2] <= 0.0] = IDENTITY_STRETCH
        velocities = np.zeros_like(unknowns) if velocities is None else velocities.copy()
        return State(unknowns.copy(), velocities, stretch, plastic=self.elastic.unflowed())

    def rest_state(self) -> State:
        """Return the state at rest: the rest shape with zero velocities."""
        return self.state_at(np.zeros((len(self.mass), 3)))


def in_basis(
    model: Model, basis: np.ndarray, pinned: np.ndarray, cubature: Cubature, skinning: Skinning | None = None
) -> ReducedModel:
    """Return the reduced model of a body in the basis (n,r).

    ``pinned``: indices of the prescribed unknowns.
    """
    elastic = CubatureElastic(model.elastic, basis, cubature.elements, cubature.weights)
    MA = model.mass @ basis
    corners = np.unique(model.mesh.tets[np.isin(model.elements.of_tet, cubature.elements)])
    watched = corners[:: -(-len(corners) // WATCHED)]
    mass, lumped_masses = basis.T @ MA, MA.sum(axis=0)
    return ReducedModel(model.mesh, basis, MA, elastic, mass, lumped_masses, pinned, model.size, watched, skinning)


class SubspaceParts(NamedTuple):
    """Arrays that define a skinning subspace and are slow to compute.

    Attributes
    ----------
    weights : (n,m) skinning weights of the m modes or sparse handles
    eigenvalues : (m,) 1/s², of the modes, or Rayleigh quotients of the handles
    islands : (n,) index of the connected component of each vertex
    pin_group : (p,) index, 0 to g-1, of the group of each pinned vertex
    pin_weights : (n,s+g) skinning weights of s free handles, then of g pinned groups
        The free handles are groups of pins held by springs, then columns of the activation modes of muscles.
    transform : (4(m+s),r) maps the skinning columns of the free handles to a mass-orthonormal basis
    elements, volumes, clusters : fields of the :class:`Cubature` (``volumes`` are its weights)
    """

    weights: np.ndarray
    eigenvalues: np.ndarray
    islands: np.ndarray
    pin_group: np.ndarray
    pin_weights: np.ndarray
    transform: np.ndarray
    elements: np.ndarray
    volumes: np.ndarray
    clusters: np.ndarray

    @property
    def cubature(self) -> Cubature:
        """Cubature of the subspace."""
        return Cubature(self.elements, self.volumes, self.clusters)

    def at(self, cubature: Cubature) -> SubspaceParts:
        """Return a copy of the arrays with another cubature."""
        elements, volumes, clusters = cubature
        return self._replace(elements=elements, volumes=volumes, clusters=clusters)


def find_subspace(
    model: Model,
    modes: int,
    points: int,
    on_progress: OnStepProgress = ignore_step_progress,
    basis: str = MODES,
) -> SubspaceParts:
    """Compute the arrays of a skinning subspace.

    ``modes``: number of lowest skinning eigenmodes, or of sparse handles. ``points``: approximate number of cubature
    tets; 0 means 20 per mode ([SubMFEM23] Sec. 7.5). ``on_progress`` reports the first three of ``STEPS``. ``basis``:
    MODES or HANDLES.
    """
    if basis == HANDLES:
        on_progress("modes", 0.0)
        found = sparse_handles(model, modes)
    else:
        found = skinning_modes(model, modes, partial(on_progress, "modes"))
    on_progress("handles", 0.0)
    group, free, given = handle_weights(model, found.laplacian, partial(on_progress, "handles"))
    X, active = model.mesh.rest_positions, model.activation_modes
    if active is not None:
        free = np.hstack([free, active.columns])
    columns = skinning_columns(np.hstack([found.weights, free]), Coordinates.around(X).of(X))
    # An activation mode is a displacement, not a weight: it has no other columns than the constant one.
    kept = np.ones(columns.shape[1], dtype=bool)
    kept[len(kept) - 4 * (0 if active is None else active.columns.shape[1]) :] = False
    kept[3::4] = True
    independent = orthonormal(columns[:, kept], model.mass)
    transform = np.zeros((len(kept), independent.shape[1]))
    transform[kept] = independent
    on_progress("cubature", 0.0)
    none = Cubature(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64))
    parts = SubspaceParts(
        found.weights,
        found.eigenvalues,
        found.islands,
        group,
        np.hstack([free, given]),
        transform,
        *none,
    )
    return parts.at(find_cubature(model, parts, points or POINTS_A_MODE * modes, partial(on_progress, "cubature")))


def find_cubature(
    model: Model, found: SubspaceParts, points: int, on_progress: OnProgress = ignore_progress
) -> Cubature:
    """Return a cubature with about ``points`` elements, clustered by skinning weights.

    ``found``: arrays of the subspace; its cubature is not used. In a body with muscles, half of the points are those of
    clusters, the other half are added by :func:`.fitted_cubature.fitted_cubature`.
    """
    features = model.elements.mean(weight_features(found.weights, found.eigenvalues, model.mesh))
    elastic, parts = model.elastic, material_parts(model, found.islands)
    active = model.activation_modes
    if active is None or points < 2 * len(np.unique(parts)) or points >= len(parts):
        return spectral_clusters(features, elastic.weights, parts, points, on_progress, elastic.youngs_modulus)

    def clustering(part: float) -> None:
        on_progress(0.3 * part)

    def fitting(part: float) -> None:
        on_progress(0.3 + 0.7 * part)

    clusters = spectral_clusters(features, elastic.weights, parts, points // 2, clustering, elastic.youngs_modulus)
    basis = _skinning(model, found).basis()[:, : found.transform.shape[1]]
    fitted = fitted_cubature(model, basis, clusters, points, fitting)
    # Clusters of the nearest point of the same part, for display.
    labelled = np.column_stack([features, FAR * parts])
    return fitted._replace(clusters=cKDTree(labelled[fitted.elements]).query(labelled)[1])


@dataclass(frozen=True)
class Subspace:
    """Skinning subspace of a body: the reduced model, the arrays that define it, and its pin handles."""

    model: ReducedModel
    parts: SubspaceParts
    pins: PinHandles


def subspace_of(model: Model, parts: SubspaceParts) -> Subspace:
    """Return the skinning subspace that the arrays ``parts`` define.

    Free unknowns come first. Prescribed unknowns follow: four per group of hard pins (vertices with prescribed
    positions), which define the affine displacement of the group.
    """
    skinning = _skinning(model, parts)
    given = parts.pin_weights[:, len(parts.transform) // 4 - parts.weights.shape[1] :]
    X = model.mesh.rest_positions
    pins = PinHandles(model.pinned, parts.pin_group, given, skinning.coordinates.of(X), model.size)
    pinned = np.arange(parts.transform.shape[1], skinning.transform.shape[1])
    return Subspace(in_basis(model, skinning.basis(), pinned, parts.cubature, skinning), parts, pins)


def _skinning(model: Model, parts: SubspaceParts) -> Skinning:
    """Return the skinning that defines the basis: free unknowns first, then four per group of hard pins."""
    groups = parts.weights.shape[1] + parts.pin_weights.shape[1] - len(parts.transform) // 4
    transform = block_diag(parts.transform, np.eye(4 * groups))
    weights = np.hstack([parts.weights, parts.pin_weights])
    return Skinning(model.mesh, weights, Coordinates.around(model.mesh.rest_positions), transform)


def skinning_subspace(model: Model, modes: int, points: int, basis: str = MODES) -> Subspace:
    """Compute the skinning subspace of a model.

    ``modes``: number of skinning modes, or of handles. ``points``: approximate number of cubature points. ``basis``:
    MODES or HANDLES.
    """
    return subspace_of(model, find_subspace(model, modes, points, basis=basis))


@summing_kernel
def _farthest(A, U):
    """Return the largest length of a row of ``A U^T`` (w,3), and the index of that row, for A (w,r) and U (3,r)."""
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
