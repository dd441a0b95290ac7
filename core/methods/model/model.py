"""Discretised body with validated mesh, materials and pins."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import MaterialError, PinError
from ...foundation.kernels.small_matrix import IDENTITY_STRETCH
from ...foundation.schema.settings import MaterialSettings, SolverSettings
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import grow
from ...geometry.tetrahedra.smoothing_domains import smoothing_domains
from ...mechanics.assembly.elements import Elements, elements_of
from ...mechanics.assembly.mass import mass_matrix
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ...mechanics.energies.registry import own_parameters
from ...mechanics.energies.tangent import Tangent
from ...mechanics.fibres.fibre_vectors import FibreVectors
from ...mechanics.forces.elastic import ElasticPotential
from ...mechanics.forces.embedded_points import EmbeddedPoints
from ...mechanics.materials.lame import lame_parameters
from ...numerics.linear_solvers.body import Body
from ...numerics.linear_solvers.elastic_system import ElasticSystem
from ...numerics.linear_solvers.registry import AUTOMATIC, Choice, choose
from .nodes import Nodes
from .state import State

AROUND_INVERTED = 2
"""Number of rings of tets around inverted elements. In these rings polar stretches are a bad initial guess."""


class Slices(NamedTuple):
    """Ranges of one body in a merged model: vertices, tets, elements, and blocks of element matrices."""

    vertices: slice
    tets: slice
    elements: slice
    blocks: slice


class ActivationModes(NamedTuple):
    """Deformation by the muscles of a body, for its subspaces.

    ``elements`` (e,) bool: True for elements with fibres. ``columns`` (n,k): scalar functions of the vertices whose
    combinations contain the displacement due to each muscle, without unit. ``displacements`` (d,n,3), m: displacements
    to which cubature is fitted.
    """

    elements: np.ndarray
    columns: np.ndarray
    displacements: np.ndarray


@dataclass(frozen=True)
class Model:
    """Discretised body in its full space: the unknowns are the positions of all n vertices.

    Attributes
    ----------
    mesh : TetMesh (n vertices, m tets)
    elastic : ElasticPotential
    masses : (m,4) kg
        Mass of each tet, distributed to its corners.
    mass : (n,n) scalar consistent mass matrix, kg
    pinned : (p,) indices of the vertices with prescribed positions
    anchors : (n,n) N/m or None
        Stiffness of the springs that hold vertices other than ``pinned``, equal along x, y and z. In steps these
        springs are loads; the matrix is used to build subspaces and to find vibrations.
    nodes : dynamic nodes, which ConJac integrates in time while the other vertices follow quasistatically, or None
    slices : vertices and tets of each body in a merged model (:mod:`.merged_model`), else empty
    grows : True if the rest shape changes its size from step to step
    activation_modes : deformation by muscles, or None; subspaces contain it
    pin_owners : (n,) or None
        Index of the kinematic region that pins each vertex, -1 for others. Regions have handles of their own in
        subspaces.
    """

    mesh: TetMesh
    elastic: ElasticPotential
    masses: np.ndarray
    mass: sp.csr_matrix
    pinned: np.ndarray
    anchors: sp.csr_matrix | None = None
    nodes: Nodes | None = None
    slices: tuple[Slices, ...] = ()
    grows: bool = False
    activation_modes: ActivationModes | None = None
    pin_owners: np.ndarray | None = None

    is_reduced: ClassVar[bool] = False

    @property
    def held(self) -> np.ndarray:
        """Indices of the vertices that are pinned or held by springs, (h,) ascending."""
        sprung = [] if self.anchors is None else np.flatnonzero(self.anchors.diagonal())
        return np.union1d(self.pinned, sprung).astype(np.int64)

    @property
    def has_regions(self) -> bool:
        """True if kinematic regions pin vertices."""
        return self.pin_owners is not None

    @property
    def elements(self) -> Elements:
        """Elements that carry the elastic energy."""
        return self.elastic.elements

    @property
    def youngs_modulus(self) -> np.ndarray:
        """Young's modulus of each tet's element at rest, (m,), Pa."""
        return self.elastic.youngs_modulus[self.elements.of_tet]

    @property
    def body(self) -> Body:
        """Data of the body from which linear systems are assembled."""
        elastic = self.elastic
        return Body(
            self.mesh.rest_positions,
            self.mesh.tets,
            elastic.elements,
            elastic.weights,
            self.masses,
            elastic.shear_modulus,
            self.pinned,
        )

    def vertices(self, positions: np.ndarray) -> np.ndarray:
        """Return the positions (n,3) m of the mesh's vertices.

        The vertices are the unknowns of the full space, so the argument is returned.
        """
        return positions

    @property
    def unknowns(self) -> int:
        """Number of unknown position vectors: one per vertex."""
        return len(self.mesh.rest_positions)

    @cached_property
    def size(self) -> float:
        """Longest side of the bounding box at rest, m.

        In a merged model, the size of the smallest body.
        """
        rest = self.mesh.rest_positions
        return min((float(np.ptp(rest[each.vertices], axis=0).max()) for each in self.slices), default=self.mesh.size)

    @property
    def lumped_masses(self) -> np.ndarray:
        """Lumped mass of each vertex, (n,), kg: row sums of the mass matrix."""
        return np.asarray(self.mass.sum(axis=1)).ravel()

    def max_displacement(self, change: np.ndarray) -> tuple[float, int]:
        """Return the largest displacement, m, and the index of its vertex.

        ``change`` (n,3), m: displacements of the vertices.
        """
        squares = (change * change).sum(axis=1)
        vertex = int(np.argmax(squares))
        return float(np.sqrt(squares[vertex])), vertex

    def dilate_selection(self, chosen: np.ndarray) -> np.ndarray:
        """Return a mask of elements, extended by AROUND_INVERTED rings of neighbouring tets.

        ``chosen`` (e,): the mask to extend. The result is a mask (e,).
        """
        return self._grown(chosen[self.elements.of_tet])

    def _grown(self, tets: np.ndarray) -> np.ndarray:
        """Return the mask (e,) of the elements within AROUND_INVERTED rings of the masked ``tets`` (m,)."""
        near = np.zeros(len(self.elements), dtype=bool)
        near[self.elements.of_tet[grow(self.mesh.tets, tets, AROUND_INVERTED)]] = True
        return near

    @cached_property
    def rigid_elements(self) -> np.ndarray:
        """Indices of the elements that are a body by themselves, (k,).

        The stress of such elements rotates with them. All its terms in the matrix hold from a step's first iteration
        on, and save chains of bones an iteration.
        """
        single = [each.elements.start for each in self.slices if each.tets.stop - each.tets.start == 1]
        return np.array(single, dtype=np.int64)

    def near_pins(self) -> np.ndarray:
        """Return the mask (e,) of the elements near pinned vertices.

        An element is near if it contains a tet at most AROUND_INVERTED rings of tets away from a tet with a pinned
        vertex.
        """
        return self._grown(np.isin(self.mesh.tets, self.pinned).any(axis=1))

    def blas_threads(self) -> AbstractContextManager[object]:
        """Return a context in which the BLAS uses all its threads."""
        return nullcontext()

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> ElasticSystem:
        """Return the linear system of the model.

        ``choice``: an already chosen linear solver; None: choose one by the settings.
        """
        choice, kind = choice or choose(settings.linear_solver, self.body), settings.kind
        # ConJac solves for many right-hand sides, which a direct solver does together.
        by_counts = settings.linear_solver == AUTOMATIC and not kind.takes_nodes
        return ElasticSystem(self.body, choice, by_counts, is_exact=not kind.iterates)

    def stiffness(self, tangent: Tangent | None, mass_factor: float, positions: np.ndarray | None = None) -> np.ndarray:
        """Return the elastic stiffness plus ``mass_factor`` times the mass, as blocks (b,3,3) of the element matrices.

        The blocks have the order of ``Elements.matrices``. ``tangent``: second derivatives of the elastic energy; None:
        the mass term alone. ``positions`` (n,3), m: vertices at which the stiffness of the stabilization is evaluated,
        by default at rest.
        """
        blocks = (mass_factor * self.body.element_mass)[:, None, None] * np.eye(3)
        if tangent is not None:
            hessians = np.empty((len(self.elements), 6, 3, 3))
            tangent_blocks(tangent, self.elastic.weights, hessians)
            blocks += self.elements.matrices(hessians)
            if self.elastic.stabilization is not None:
                self.elastic.stabilization.add_stiffness(
                    self.mesh.rest_positions if positions is None else positions, 1.0, blocks
                )
        return blocks

    def points(self, embedding: Embedding) -> EmbeddedPoints:
        """Return points embedded in the mesh, as functions of the vertex positions.

        A point is the combination of its tet's corners with the embedding's weights. Weights that do not sum to one
        define another linear quantity, such as a difference of positions.
        """
        return EmbeddedPoints(embedding, self.mesh.tets, len(self.mesh.rest_positions), self.elements.tet_slots)

    def fibre_vectors(self, indices: np.ndarray, directions: np.ndarray) -> FibreVectors:
        """Return the fibre vectors F a as functions of the vertex positions.

        ``indices`` (f,): element of each fibre. ``directions`` (f,3): unit rest direction a of each fibre.
        """
        return FibreVectors(self.elements, indices, directions)

    @property
    def contact_point_budget(self) -> int | None:
        """Number of surface points that suffice for contact; None, since the full space needs all of them."""
        return None

    def generalized_force(self, accelerations: np.ndarray) -> np.ndarray:
        """Return the nodal forces (n,3) N for vertex accelerations (n,3) m/s²."""
        return self.mass @ accelerations

    def state_at(self, positions: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """Return an initial state at given positions and velocities.

        ``positions`` (n,3), m. ``velocities`` (n,3), m/s, by default zero. Independent stretches are the polar
        stretches. In and around inverted elements, independent stretches are the identity.
        """
        positions = np.ascontiguousarray(positions, dtype=np.float64)
        deformation = self.elastic.deformation(positions)
        stretch = deformation.stretch()
        inverted = deformation.sigma[:, 2] <= 0.0
        if inverted.any():
            stretch[self.dilate_selection(inverted)] = IDENTITY_STRETCH
        if velocities is None:
            velocities = np.zeros_like(positions)
        velocities = np.ascontiguousarray(velocities, dtype=np.float64)
        return State(positions, velocities, stretch, plastic=self.elastic.unflowed())

    def scaled_down(self, size: float) -> Model:
        """Return a copy of the model whose rest shape is scaled by the factor ``size``.

        The mass is unchanged. The copy's flag ``grows`` is True.
        """
        mesh, elastic = replace(self.mesh, rest_positions=size * self.mesh.rest_positions), self.elastic
        like = elastic.energies, elastic.energy_index, elastic.parameters, elastic.plasticity
        elastic = ElasticPotential(elastic.elements.scaled(size), size**3 * elastic.weights, *like)
        return replace(self, mesh=mesh, elastic=elastic, grows=True)

    def rest_state(self) -> State:
        """Return the state at rest: the rest shape with zero velocities."""
        return self.state_at(self.mesh.rest_positions)


def build_model(
    mesh: TetMesh,
    youngs_modulus: np.ndarray | float,
    poissons_ratio: np.ndarray | float,
    density: np.ndarray | float,
    energies: tuple[str, ...] | str = "stable_neo_hookean",
    energy_of_tet: np.ndarray | None = None,
    pinned: np.ndarray = (),
    own: np.ndarray | None = None,
    smoothed: bool = False,
    plasticity: np.ndarray | None = None,
) -> Model:
    """Build the model of a body after validating its mesh, materials and pins.

    Parameters
    ----------
    mesh : TetMesh
        Its ``fill`` (m,) multiplies the mass and the elastic energy per tet.
    youngs_modulus (Pa), poissons_ratio, density (kg/m³) : (m,) per tet, or one number
    energies : name of the elastic energy, or several names
    energy_of_tet : (m,) index into ``energies`` per tet; None: the first
    pinned : indices of the vertices whose positions are prescribed in each step
    own : (m,j) parameters of each tet's energy besides the Lame moduli (``IsotropicEnergy.own``); None: the defaults
        of ``MaterialSettings``
    smoothed : True to give the tets around common edges one strain (:mod:`...geometry.tetrahedra.smoothing_domains`);
        False: each tet has its own strain
    plasticity : (m,3) yield strain, creep rate, 1/s, and hardening of each tet
        (:mod:`...mechanics.materials.plastic_flow`); None: no tet flows

    Raises
    ------
    MeshError, MaterialError, PinError : with the first invalid tet or vertex.
    """
    mesh.validate()
    m = len(mesh.tets)
    E, nu, rho = _checked(mesh, youngs_modulus, poissons_ratio, density)
    energies = (energies,) if isinstance(energies, str) else tuple(energies)
    energy_of_tet = np.zeros(m, dtype=np.int64) if energy_of_tet is None else np.asarray(energy_of_tet)
    if energy_of_tet.shape != (m,) or energy_of_tet.min() < 0 or energy_of_tet.max() >= len(energies):
        raise MaterialError(
            "The energy index per tet has a wrong shape or range.", "Give each tet the index of one of the energies."
        )
    usual = own_parameters([MaterialSettings(energy=name) for name in energies])[energy_of_tet]
    own = usual if own is None else own
    if own.shape != usual.shape:
        raise MaterialError(
            f"The array of energy parameters has shape {own.shape}, not {usual.shape}.", "Give one row per tet."
        )
    masses = mesh.corner_volumes * rho[:, None]
    parameters = np.column_stack([*lame_parameters(E, nu), own])
    elastic = elastic_potential(mesh, parameters, energies, energy_of_tet, smoothed, plasticity)
    mass = mass_matrix(mesh.tets, masses, len(mesh.rest_positions))
    return Model(mesh, elastic, masses, mass, _checked_pins(mesh, pinned))


def elastic_potential(
    mesh: TetMesh,
    parameters: np.ndarray,
    energies: tuple[str, ...],
    energy_of_tet: np.ndarray,
    smoothed: bool,
    plasticity: np.ndarray | None = None,
) -> ElasticPotential:
    """Return the elastic potential of a mesh.

    ``parameters`` (m,k), k >= 2: mu and lambda of each tet, Pa, then further dimensionless parameters of the tet's
    energy. ``energies``: names of the energies. ``energy_of_tet`` (m,): index into ``energies`` per tet. ``smoothed``:
    True to give the tets around a common edge one strain. ``plasticity`` (m,3): parameters of plastic flow per tet. An
    element's tets have the same energy and the same plasticity.
    """
    whole = mesh.whole
    if mesh.split is not None:
        firsts = mesh.firsts
        parameters, energy_of_tet = parameters[firsts], energy_of_tet[firsts]
        plasticity = None if plasticity is None else plasticity[firsts]
    mu, lam = parameters[:, 0], parameters[:, 1]
    # The bulk modulus, since lambda is not positive at a Poisson's ratio of 0 or below.
    moduli = np.column_stack([mu, lam + 2.0 / 3.0 * mu])
    law = energy_of_tet
    if plasticity is not None:
        law = np.unique(np.column_stack([energy_of_tet, plasticity]), axis=0, return_inverse=True)[1].ravel()
    group = smoothing_domains(whole, moduli, law) if smoothed else None
    elements = elements_of(whole, group)
    energy_index = np.zeros(len(elements), dtype=energy_of_tet.dtype)
    energy_index[elements.of_tet] = energy_of_tet
    weights, parameters = np.bincount(elements.of_tet, whole.elastic_volumes), elements.mean(parameters)
    flows = None if plasticity is None else elements.mean(plasticity)
    if mesh.split is not None:
        elements, source, share = elements.split(mesh)
        weights, energy_index, parameters = share * weights[source], energy_index[source], parameters[source]
        flows = None if flows is None else flows[source]
    return ElasticPotential(elements, weights, energies, energy_index, parameters, flows)


def _checked_pins(mesh: TetMesh, pinned: np.ndarray) -> np.ndarray:
    pinned = np.unique(np.asarray(pinned, dtype=np.int64))
    if len(pinned) and (pinned[0] < 0 or pinned[-1] >= len(mesh.rest_positions)):
        raise PinError("A pinned vertex is not a vertex of the mesh.", "Choose the pins again.")
    if len(pinned) == len(mesh.rest_positions):
        raise PinError(
            "Every vertex is pinned: nothing is left to move.",
            "Pin fewer vertices, let fewer or smaller regions hold the flesh, or raise the resolution.",
        )
    return pinned


def _checked(
    mesh: TetMesh,
    youngs_modulus: np.ndarray | float,
    poissons_ratio: np.ndarray | float,
    density: np.ndarray | float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Validate the material fields, and return each field per tet, (m,)."""
    for values in (youngs_modulus, poissons_ratio, density):
        if np.shape(values) not in ((), (len(mesh.tets),)):
            raise MaterialError(
                f"A material field has shape {np.shape(values)}, not {(len(mesh.tets),)}.",
                "Give one number per tet, or a single number for all.",
            )
    E, nu, rho = (
        np.broadcast_to(np.asarray(a, dtype=np.float64), len(mesh.tets))
        for a in (youngs_modulus, poissons_ratio, density)
    )
    for name, values, low, high in (
        ("stiffness", E, 0.0, np.inf),
        ("Poisson's ratio", nu, -1.0, 0.5),
        ("density", rho, 0.0, np.inf),
        ("fill", mesh.fill, 0.0, np.inf),
    ):
        bad = np.flatnonzero(~((values > low) & (values < high)))
        if len(bad):
            raise MaterialError(
                f"Tet {bad[0]} has {name} {values[bad[0]]:g}.", f"Keep it between {low:g} and {high:g}."
            )
    return E, nu, rho
