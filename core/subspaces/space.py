"""What a solver steps: the one set of questions that a model with all its vertices and a reduced one answer.

"Positions" are a space's unknowns: those of every vertex, or the few of a subspace. Its elasticity is felt at every
tet, or at cubature points. Methods of solvers, loads and pins ask these alone; none asks which space it is.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ..energies.tangent import Tangent
from ..linear_solvers.registry import Choice
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..model.state import State
from ..settings import SolverSettings


class Space(Protocol):
    """Attributes: ``mesh``, n vertices; ``elastic``, the elastic potential; ``mass`` (r,r) kg and ``lumped_masses``
    (r,) of the r unknowns; ``pinned`` (p,), the unknowns that are given; ``size``, m, of the body.
    """

    mesh: TetMesh
    elastic: Any
    mass: Any
    pinned: np.ndarray

    @property
    def lumped_masses(self) -> np.ndarray:
        """What a uniform acceleration pulls each unknown with, (r,), kg."""

    @property
    def size(self) -> float:
        """The longest side of the body at rest, m."""

    @property
    def unknowns(self) -> int:
        """Vectors that a state has for positions."""

    @property
    def is_reduced(self) -> bool:
        """Whether its unknowns are so few that what acts on the body is worth being condensed to them once."""

    @property
    def grows(self) -> bool:
        """Whether its shape at rest is on its way to another size, which works on the body beside all forces."""

    @property
    def touching(self) -> int | None:
        """How many points of the surface suffice for contact; None for all."""

    def blas_threads(self) -> AbstractContextManager[object]:
        """A block in which the BLAS has the threads that a step is quickest with."""

    def linear_system(self, settings: SolverSettings, choice: Choice | None = None) -> Any:
        """Its linear systems; ``choice`` is a linear solver that was chosen already."""

    def stiffness(self, tangent: Tangent | None, mass_factor: float) -> np.ndarray:
        """A tangent, and the mass times a factor, in the form that step potentials add their stiffness to."""

    def farthest(self, change: np.ndarray) -> tuple[float, int]:
        """How far a vertex moves at most when the unknowns change so, m, and which one."""

    def around(self, chosen: np.ndarray) -> np.ndarray:
        """The chosen places of its elasticity, a mask, with the neighbours whose stretches are no useful guess."""

    def near_pins(self) -> np.ndarray:
        """The places of its elasticity at pins and around them, as a mask."""

    def points(self, embedding: Embedding) -> Any:
        """Points of the mesh, carried by the unknowns."""

    def pull(self, accelerations: np.ndarray) -> np.ndarray:
        """What accelerations (n,3) m/s² of the vertices pull the unknowns with, (r,3)."""

    def state_at(self, positions: np.ndarray, velocities: np.ndarray | None = None) -> State:
        """A state to start from."""

    def rest_state(self) -> State:
        """At rest at the rest shape."""
