"""Common interface of a model with all its vertices and of a reduced model, for solvers.

"Positions" are a space's unknowns: those of every vertex, or the few of a subspace. Its elasticity is evaluated at
every tet, or at cubature points. Solvers, loads and pins use only this interface, independent of the space's type.
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
    """Attributes: ``mesh``, n vertices; ``elastic``, the elastic potential; ``mass`` (r,r) kg and ``lumped_masses``
    (r,) of the r unknowns; ``pinned`` (p,), the prescribed unknowns; ``size``, m, of the body.
    """

    mesh: TetMesh
    elastic: Any
    mass: Any
    pinned: np.ndarray

    @property
    def lumped_masses(self) -> np.ndarray:
        """Lumped masses of the unknowns, (r,), kg: the loads of a uniform unit acceleration."""

    @property
    def size(self) -> float:
        """Longest side of the body at rest, m."""

    @property
    def unknowns(self) -> int:
        """Number of unknown vectors in a state's positions."""

    @property
    def is_reduced(self) -> bool:
        """True if the unknowns are few enough to condense the loads on the body to them once."""

    @property
    def grows(self) -> bool:
        """True if the rest shape changes its size, which does work on the body beside all forces."""

    @property
    def contact_point_budget(self) -> int | None:
        """Number of surface points that suffice for contact; None for all."""

    def blas_threads(self) -> AbstractContextManager[object]:
        """Return a context in which the BLAS has the fastest number of threads for a step."""

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> Any:
        """Return its linear system; ``choice`` is an earlier choice of the linear solver."""

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """Return a tangent, plus the mass times a factor, in the form to which step potentials add their stiffness."""

    def max_displacement(self, change: np.ndarray) -> tuple[float, int]:
        """Return the largest displacement of a vertex by a change (r,3) of the unknowns, m, and the vertex."""

    def dilate_selection(self, chosen: np.ndarray) -> np.ndarray:
        """Return a mask of the chosen elements or cubature points and of their neighbours, whose stretches are a poor
        initial guess.
        """

    def near_pins(self) -> np.ndarray:
        """Return a mask of the elements or cubature points at pins and around them."""

    def points(self, embedding: Embedding) -> Any:
        """Return points of the mesh that move with the unknowns."""

    def generalized_force(self, accelerations: np.ndarray) -> np.ndarray:
        """Return the loads (r,3) on the unknowns by accelerations (n,3) m/s² of the vertices."""

    def state_at(self, positions: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """Return a start state, from unknowns (r,3) and their velocities (r,3)."""

    def rest_state(self) -> State:
        """Return the state of the rest shape without velocity."""
