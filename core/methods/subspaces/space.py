"""Interface that solvers use for a model with all its vertices and for a reduced model alike.

"Positions" are a space's unknowns: the positions of all vertices, or the few unknowns of a subspace. Elasticity is
evaluated at every tet, or at cubature points. Solvers, loads and pins use this interface alone.
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

    ``mesh``: n vertices; ``elastic``: elastic potential; ``mass`` (r,r) kg: mass matrix; ``pinned`` (p,): indices of
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
        """Longest side of the body at rest, m; in a merged model, that of the smallest body."""

    @property
    def unknowns(self) -> int:
        """Number r of unknowns, which have three components each: the rows of a state's positions."""

    @property
    def is_reduced(self) -> bool:
        """True for a subspace. Loads on vertices are then converted in advance to loads on its few unknowns."""

    @property
    def grows(self) -> bool:
        """True if the rest shape changes its size from step to step, which changes the energy without a force."""

    @property
    def contact_point_budget(self) -> int | None:
        """Number of surface points that suffice for contact; None if all are needed."""

    def blas_threads(self) -> AbstractContextManager[object]:
        """Return a context in which the BLAS uses the number of threads that is fastest for a step."""

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> Any:
        """Return the linear system of the space. ``choice`` is an already chosen linear solver; None: choose one by the
        settings.
        """

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """Return ``K + mass_factor M``. K is the elastic stiffness for the second derivatives ``tangent`` of the
        elastic energy, and M the mass matrix. Without a tangent, return the mass term alone.

        The result has the format to which step potentials add their stiffness: element matrices in the full space, one
        matrix in a subspace.
        """

    def max_displacement(self, change: np.ndarray) -> tuple[float, int]:
        """Return the largest displacement of a vertex, m, due to a ``change`` (r,3) of the unknowns, and the index of
        that vertex.
        """

    def dilate_selection(self, chosen: np.ndarray) -> np.ndarray:
        """Return the mask (m,) of the elements in the mask ``chosen`` (m,) and their neighbours. Elements are tets, or
        cubature points, which have no neighbours.
        """

    def near_pins(self) -> np.ndarray:
        """Return the mask (m,) of the elements at pins and of their neighbours. A subspace returns a mask (c,) of its
        cubature points that is always False: a pin's handle moves a large region of the body, not only the tets at the
        pin.
        """

    def points(self, embedding: Embedding) -> Any:
        """Return points embedded in the mesh, as functions of the unknowns."""

    def generalized_force(self, accelerations: np.ndarray) -> np.ndarray:
        """Return the forces (r,3), N, on the unknowns that give the vertices the ``accelerations`` (n,3), m/s²."""

    def state_at(self, positions: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """Return the initial state for unknowns (r,3) and their velocities (r,3), by default zero."""

    def rest_state(self) -> State:
        """Return the state in the rest shape without velocity."""
