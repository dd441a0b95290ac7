"""Interface of the full and the reduced model of a body, for solvers, loads and pins.

"Positions" are a space's unknowns: the positions of all vertices, or the few unknowns of a subspace. Elasticity is
evaluated at every tet, or at cubature points.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ...foundation.schema.settings import SolverSettings
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.energies.tangent import Tangent
from ...numerics.linear_solvers.registry import Choice
from ..model.state import State


class Space(Protocol):
    """Space of r unknowns in which a solver works: all n vertices of a mesh, or a subspace.

    ``mesh``: n vertices. ``elastic``: elastic potential. ``mass`` (r,r) kg: mass matrix. ``pinned`` (p,): indices of
    the prescribed unknowns.
    """

    mesh: TetMesh
    elastic: Any
    mass: Any
    pinned: np.ndarray

    @property
    def lumped_masses(self) -> np.ndarray:
        """Lumped masses of the unknowns, (r,) kg: generalized forces that accelerate the body uniformly by 1 m/s²."""

    @property
    def size(self) -> float:
        """Longest side of the body at rest, m.

        In a merged model, the size of the smallest body.
        """

    @property
    def unknowns(self) -> int:
        """Number of unknowns, with three components each."""

    @property
    def is_reduced(self) -> bool:
        """True for a subspace.

        Loads on the vertices of a subspace are converted in advance to loads on its few unknowns.
        """

    @property
    def has_regions(self) -> bool:
        """True if kinematic regions pin vertices that are unknowns."""

    @property
    def grows(self) -> bool:
        """True if the rest shape changes its size from step to step.

        Such a change changes the energy without a force.
        """

    @property
    def contact_point_budget(self) -> int | None:
        """Number of surface points that suffice for contact, or None if all are needed."""

    def blas_threads(self) -> AbstractContextManager[object]:
        """Return a context in which the BLAS uses the number of threads that is fastest for a step."""

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> Any:
        """Return the linear system of the space.

        ``choice``: an already chosen linear solver; None: choose one by the settings.
        """

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """Return the elastic stiffness plus ``mass_factor`` times the mass matrix.

        ``tangent``: second derivatives of the elastic energy; None: the mass term alone. The result has the format to
        which step potentials add their stiffness: element matrices in the full space, one matrix in a subspace.
        """

    def max_displacement(self, change: np.ndarray) -> tuple[float, int]:
        """Return the largest displacement of a vertex, m, and the index of that vertex.

        ``change`` (r,3): change of the unknowns.
        """

    @property
    def rigid_elements(self) -> np.ndarray:
        """Indices of the elements that are a body by themselves, (k,): rigid bodies, such as bones."""

    def dilate_selection(self, chosen: np.ndarray) -> np.ndarray:
        """Return a mask of elements, extended by their neighbours.

        ``chosen`` (m,): the mask to extend. The result is a mask (m,). Elements are tets, or cubature points, which
        have no neighbours.
        """

    def near_pins(self) -> np.ndarray:
        """Return the mask (m,) of the elements at pins and of their neighbours.

        In a subspace the mask (c,) of the cubature points is False for all points: a pin's handle moves a large region
        of the body.
        """

    def points(self, embedding: Embedding) -> Any:
        """Return points embedded in the mesh, as functions of the unknowns."""

    def generalized_force(self, accelerations: np.ndarray) -> np.ndarray:
        """Return the forces (r,3), N, on the unknowns for vertex ``accelerations`` (n,3), m/s²."""

    def state_at(self, positions: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """Return the initial state for unknowns (r,3) and velocities (r,3), by default zero."""

    def rest_state(self) -> State:
        """Return the state at rest: the rest shape with zero velocities."""
