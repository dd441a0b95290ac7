"""Metadata of the solvers: names, unknowns, own settings, cost.

Settings, menus, panels, command lines, scene files, forecasts and advice read this. It imports no solver, so that
Blender's start does not load kernels; ``solvers.registry`` imports the named class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from typing import Any

from ..errors import SettingsError
from .setting_fields import choice, number

SUBSPACE = "modes", "cubature_points", "match_full_space"
"""Settings of solvers that step a subspace."""


@dataclass(frozen=True)
class SolverKind:
    """Method that computes steps, as described to interfaces.

    Attributes
    ----------
    name : in files and on command lines; label, description : in menus
    method : ``module.Class`` in ``core.methods.solvers``
    seconds : per step on two cores, with ``PACE_TETS`` tets or ``PACE_MODES`` modes (``checks.costs``)
    is_mixed : stretches are unknowns besides the positions
    takes_modes : it steps a subspace of the body, with some modes, and not every vertex
    takes_nodes : dynamic nodes carry the body's motion
    integrates : it uses the time integrators, and has no rule of its own
    iterates : a step takes iterations, ``max_iterations`` at most
    bears_contrast : it handles stiff parts in soft bodies
    bears_obstacles : it handles contact with floors and colliders
    supports_contact : bodies that it steps may collide with one another
    at_contrast : its behaviour at high contrast, in advice
    remedy : advice for steps that do not converge
    own : settings that only it reads, fields of ``setting_fields`` by name
    """

    name: str
    label: str
    description: str
    method: str = ""
    seconds: float = 0.4
    is_mixed: bool = False
    takes_modes: bool = False
    takes_nodes: bool = False
    integrates: bool = True
    iterates: bool = True
    bears_contrast: bool = False
    bears_obstacles: bool = True
    supports_contact: bool = False
    at_contrast: str = "others take many times as many iterations"
    remedy: str = "raise Substeps, or Iterations"
    own: Mapping[str, Field[Any]] = field(default_factory=dict)

    @property
    def plays_live(self) -> bool:
        """Return True if few degrees of freedom carry the body, so that frames may be fast enough for live mode."""
        return self.takes_modes or self.takes_nodes

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings that this solver, but not every solver, reads."""
        space = SUBSPACE if self.takes_modes else ("linear_solver", "inner_iterations")
        return (*space, *(["max_iterations"] if self.iterates else []), *self.own)


MIXED_FEM = SolverKind(
    name="mixed_fem",
    label="Mixed FEM",
    description="Lively after a few iterations, right when it converges: flesh to rigid in one body",
    method="mixed_fem.MixedFEMSolver",
    is_mixed=True,
    bears_contrast=True,
    supports_contact=True,
    at_contrast="Mixed FEM takes 4 to 15 iterations a step all the same",
    own={
        "quadratic_finish": choice(
            True, "Mixed FEM: finish by Newton once stretches and positions agree", is_advanced=True
        )
    },
)
NEWTON = SolverKind(
    name="newton",
    label="Newton FEM",
    description="Accurate when it converges; loses motion when stopped early on stiff bodies",
    method="newton.NewtonSolver",
    supports_contact=True,
)
LINEARLY_IMPLICIT = SolverKind(
    name="linearly_implicit",
    label="Linearly Implicit FEM",
    description="One solve a step: fast and calm; needs small steps for lively motion",
    method="linearly_implicit.LinearlyImplicitSolver",
    seconds=0.1,
    iterates=False,
    supports_contact=True,
    at_contrast="one solve a step is too little",
    remedy="raise Substeps",
    own={
        "damping_factor": number(
            1.0, 0.25, 10.0, "", "Beta of the linearly implicit solver, no unit: 1 as derived, 2 to 4 calmer"
        )
    },
)
CONJAC = SolverKind(
    name="conjac",
    label="ConJac",
    description="A few picked nodes carry the motion, and the rest follows exactly: springy bodies in small steps",
    method="conjac.ConJacSolver",
    seconds=0.3,
    takes_nodes=True,
    integrates=False,
    supports_contact=True,
    at_contrast="ConJac loses a quarter of the vibration where stiff parts rotate far",
    remedy="raise Substeps, or Iterations, or use Mixed FEM",
)
CONJAC_PUBLISHED = replace(
    CONJAC,
    name="conjac_published",
    label="ConJac (As Published)",
    description="The method's own step, for comparison: calmer, and unstable where its beta is too small",
    method="conjac_published.PublishedConJacSolver",
    iterates=False,
    bears_obstacles=False,
    supports_contact=False,
    remedy="raise Substeps or Beta, or use ConJac",
    own={
        "damping_factor": LINEARLY_IMPLICIT.own["damping_factor"],
        "stabilization": number(
            0.0,
            0.0,
            1.0,
            "",
            "Gamma of the published ConJac, no unit: the fraction of a Newton step that corrects the other vertices; "
            "0 for a line search",
        ),
        "corrections": number(
            1,
            1,
            20,
            "",
            "Corrections a step of the following vertices in the published ConJac, with one factorization: 1 as "
            "published, 3 is closer",
        ),
    },
)
SUBSPACE_MIXED_FEM = replace(
    MIXED_FEM,
    name="subspace_mixed_fem",
    label="Subspace Mixed FEM",
    description="Mixed FEM for a few modes of the whole body: real time at any resolution, without fine detail",
    seconds=0.04,
    takes_modes=True,
)
SUBSPACE_FEM = replace(
    NEWTON,
    name="subspace_fem",
    label="Subspace FEM",
    description="Newton FEM for a few modes of the whole body; loses motion when stopped early on stiff bodies",
    seconds=0.04,
    takes_modes=True,
)

SOLVER_KINDS = {
    kind.name: kind
    for kind in (
        MIXED_FEM,
        NEWTON,
        LINEARLY_IMPLICIT,
        CONJAC,
        CONJAC_PUBLISHED,
        SUBSPACE_MIXED_FEM,
        SUBSPACE_FEM,
    )
}
"""By name, in menu order. If several fit, advice proposes the first."""


def solver_kind(name: str) -> SolverKind:
    """Return the solver with this name; SettingsError lists the known names."""
    if name not in SOLVER_KINDS:
        raise SettingsError(f"Unknown solver “{name}”.", f"Choose one of {', '.join(SOLVER_KINDS)}.")
    return SOLVER_KINDS[name]


def live_solver() -> SolverKind:
    """Return the solver proposed for live mode, fast for any mesh."""
    return next(kind for kind in SOLVER_KINDS.values() if kind.takes_modes)


def own_settings() -> dict[str, Field[Any]]:
    """Return the settings that only some solvers read, by name."""
    return {name: each for kind in SOLVER_KINDS.values() for name, each in kind.own.items()}
