"""The solvers of a subspace: the same methods, on the few unknowns of a reduced model ([SubMFEM23] Sec. 4, Alg. 1).

Nothing of a method changes with the space: a reduced model answers what a full one does, with the unknowns of its basis
for positions and cubature points for tets. Condensed to the unknowns of the positions, an iteration of Mixed FEM is
[SubMFEM23] Eq. 6, and Eqs. 7, 8 are its local step.

A step keeps to one thread of the BLAS: on a busy machine its threads, which wait for one another at every product, cost
ten times what they share. The stiffness, most of the work, is shared among the kernels' threads instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..forces.step_potential import Load
from ..linear_solvers.blas_threads import one_blas_thread
from ..model.state import State
from ..optimization.report import StepReport
from .mixed_fem import MixedFEMSolver
from .newton import NewtonSolver


class SubspaceMixedFEMSolver(MixedFEMSolver):
    """Mixed FEM in a skinning subspace."""

    name = "subspace_mixed_fem"
    label = "Subspace Mixed FEM"
    description = "Mixed FEM for few movements of the whole body: real time at any resolution, without fine detail"
    space = "subspace"

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: Sequence[Load] = ()
    ) -> tuple[State, StepReport]:
        """One step of the time integration rule."""
        with one_blas_thread():
            return super().step(state, pin_targets, time_step, loads)


class SubspaceFEMSolver(NewtonSolver):
    """Newton FEM in a skinning subspace: what [SubMFEM23] compares with."""

    name = "subspace_fem"
    label = "Subspace FEM"
    description = "Newton FEM for few movements of the whole body; loses motion when stopped early on stiff bodies"
    space = "subspace"

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: Sequence[Load] = ()
    ) -> tuple[State, StepReport]:
        """One step of the time integration rule."""
        with one_blas_thread():
            return super().step(state, pin_targets, time_step, loads)
