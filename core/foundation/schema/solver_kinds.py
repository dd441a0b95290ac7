"""Metadata of the solvers: names, unknowns, abilities, cost, and settings that only some solvers read.

This module imports no solver, so that Blender starts without loading kernels. ``SolverKind.method`` names the class of
a solver, for ``solvers.registry`` to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from typing import Any

from ..errors import SettingsError
from .setting_fields import choice, number

SUBSPACE = "subspace_basis", "modes", "cubature_points", "match_full_space"
"""Settings that only subspace solvers read."""


@dataclass(frozen=True)
class SolverKind:
    """Description of a solver, a method that computes time steps, for interfaces.

    Attributes
    ----------
    name : name in files and on command lines
    label, description : texts in menus
    method : ``module.Class`` in ``core.methods.solvers``
    seconds : time per step on two cores, with ``PACE_TETS`` tets or ``PACE_MODES`` modes (``checks.costs``)
    is_mixed : the unknowns are both positions and stretches
    takes_modes : the unknowns are coordinates of a subspace of a few modes, not positions of all vertices
    takes_nodes : only a few vertices, the dynamic nodes, are integrated in time; the others follow quasistatically
    integrates : the ``integrator`` setting applies; False if the method has a fixed time integration rule
    has_linear_solver : the settings of the full space's linear solver apply
    iterates : a step is iterative, with at most ``max_iterations`` iterations
    bears_contrast : suits bodies with both stiff and soft parts
    bears_obstacles : handles contact with floors and colliders
    supports_contact : bodies may collide with each other
    at_contrast : clause on the solver's behaviour with bodies that have both stiff and soft parts, for advice texts
    remedy : clause on what to change if steps do not converge, for advice texts
    own : settings that only this solver reads, as dataclass fields by name
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
    has_linear_solver: bool = True
    iterates: bool = True
    bears_contrast: bool = False
    bears_obstacles: bool = True
    supports_contact: bool = False
    at_contrast: str = "other solvers take many times as many iterations"
    remedy: str = "raise Substeps, or Iterations"
    own: Mapping[str, Field[Any]] = field(default_factory=dict)

    @property
    def plays_live(self) -> bool:
        """True if few degrees of freedom carry the body's motion, so that frames may be fast enough for live mode."""
        return self.takes_modes or self.takes_nodes

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings that this solver reads, without those of all solvers."""
        sparse = ("linear_solver",) if self.has_linear_solver else ()
        space = SUBSPACE if self.takes_modes else sparse
        return (*space, *(["max_iterations"] if self.iterates else []), *self.own)


MIXED_FEM = SolverKind(
    name="mixed_fem",
    label="Mixed FEM",
    description="Lively after a few iterations, accurate at convergence; for bodies with soft and stiff parts",
    method="mixed_fem.MixedFEMSolver",
    is_mixed=True,
    bears_contrast=True,
    supports_contact=True,
    at_contrast="Mixed FEM takes only 4 to 15 iterations per step",
    own={
        "quadratic_finish": choice(
            True, "Mixed FEM: switch to Newton's method once stretches and positions nearly agree", is_advanced=True
        )
    },
)
NEWTON = SolverKind(
    name="newton",
    label="Newton FEM",
    description="Accurate at convergence; loses motion if stopped early on stiff bodies",
    method="newton.NewtonSolver",
    supports_contact=True,
)
LINEARLY_IMPLICIT = SolverKind(
    name="linearly_implicit",
    label="Linearly Implicit FEM",
    description="One linear solve per step: fast and calm; needs small steps for lively motion",
    method="linearly_implicit.LinearlyImplicitSolver",
    seconds=0.1,
    iterates=False,
    supports_contact=True,
    at_contrast="a single linear solve per step is not accurate enough",
    remedy="raise Substeps",
    own={
        "damping_factor": number(
            1.0, 0.25, 10.0, "", "Factor beta of the linearly implicit step, no unit: 1 as derived, 2 to 4 calmer"
        )
    },
)
CONJAC = SolverKind(
    name="conjac",
    label="ConJac",
    description="A few nodes carry the motion, and the rest follows quasistatically: springy bodies in small steps",
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
    description="ConJac's published time step, for comparison: calmer than ConJac, and unstable if Beta is too small",
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
            "0 finds it by line search",
        ),
        "corrections": number(
            1,
            1,
            20,
            "",
            "Published ConJac: corrections of all vertices but the dynamic nodes in each step; 1 as in the paper, 3 is "
            "closer to equilibrium. All corrections of a step use one factorization",
        ),
    },
)
MULTILEVEL_PUBLISHED = replace(
    NEWTON,
    name="multilevel_published",
    label="Multilevel (As Published)",
    description="Newton FEM with approximate directions from sparse handles, for comparison: needs no factorization, "
    "and stalls at a tenth of a step's movement if stiff parts are thin",
    method=".multilevel.published.MultilevelSolver",
    has_linear_solver=False,
    at_contrast="the handles miss the bending of thin stiff parts",
    remedy="raise Handles or Polishing, or use Newton FEM",
    own={
        "handles": number(
            32,
            1,
            1000,
            "",
            "Published multilevel solver: handles of a body, with 12 unknowns each; 16 for a simple body, 32 to 64 for "
            "a creature. Bodies in contact share theirs: stiff ones need few",
            is_advanced=True,
        ),
        "polishing": number(
            0,
            0,
            1000,
            "",
            "Published multilevel solver: conjugate gradient iterations on all vertices after those on the handles; 0 "
            "takes 20 or 40, by the number of tetrahedra per handle",
            is_advanced=True,
        ),
        "subspace_tolerance": number(
            0.0,
            0.0,
            10.0,
            "m/s",
            "Published multilevel solver: stop a step when the handles' part of an iteration is slower than this per "
            "vertex, m/s; 0.001 in the paper, 0 uses the Stop Rule alone",
            is_advanced=True,
        ),
    },
)
SUBSPACE_MIXED_FEM = replace(
    MIXED_FEM,
    name="subspace_mixed_fem",
    label="Subspace Mixed FEM",
    description="Mixed FEM in a subspace of a few modes: real time at any resolution, without fine detail",
    seconds=0.04,
    takes_modes=True,
)
SUBSPACE_FEM = replace(
    NEWTON,
    name="subspace_fem",
    label="Subspace FEM",
    description="Newton FEM in a subspace of a few modes; loses motion if stopped early on stiff bodies",
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
        MULTILEVEL_PUBLISHED,
        SUBSPACE_MIXED_FEM,
        SUBSPACE_FEM,
    )
}
"""All solvers by name, in menu order. Advice proposes the first of those that suit a body."""


def solver_kind(name: str) -> SolverKind:
    """Return the solver with this name. Raises SettingsError, with a list of the names, for an unknown name."""
    if name not in SOLVER_KINDS:
        raise SettingsError(f"Unknown solver “{name}”.", f"Choose one of {', '.join(SOLVER_KINDS)}.")
    return SOLVER_KINDS[name]


def live_solver() -> SolverKind:
    """Return the solver to propose for live mode: the first subspace solver, which is fast for any mesh."""
    return next(kind for kind in SOLVER_KINDS.values() if kind.takes_modes)


def own_settings() -> dict[str, Field[Any]]:
    """Return the fields of all settings that only single solvers read (``SolverKind.own``), by name."""
    return {name: each for kind in SOLVER_KINDS.values() for name, each in kind.own.items()}
