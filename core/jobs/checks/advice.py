"""Advice on solver, resolution and time step for a body, with the reason: rules from measurements and body facts.

The rules are pure and quick, for interfaces to evaluate after every change of a setting. ``body_facts`` measures the
facts once, when the body is built. The source of each number stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ...foundation.schema.settings import ResolutionSettings, SolverSettings
from ...foundation.schema.solver_kinds import SOLVER_KINDS, live_solver
from ...foundation.unit_words import frequency_words, length_words
from .costs import seconds_a_frame, time_words

CONTRAST = 1e3
"""Ratio of stiffnesses from which Newton's iterations leave a stiff part far from its equilibrium. At 1e5 its gradient
after five of them is 6e4 times Mixed FEM's, and energies of swinging bars are off by a half
(docs/benchmarks/mixed_fem.md).
"""
CELLS_THROUGH = 2
"""Cells that a part needs across its thickness. Clamped bars of 1, 2 and 4 cells sag by 71 to 80, 84 to 97, 94 to 100 %
of the sag of quadratic elements, and are 2.2 to 2.7, 1.4 to 1.6, 1.1 to 1.2 times too stiff in torsion, at Poisson's
ratios of 0.3 and 0.45 in four orientations (``bench physics --case "two_cells*"``).
"""
MATCHED_THROUGH = 1
"""Cells across a thickness from which *Match Resolution* does as well. Clamped bars of one and 1.6 cells through are
off by 2 % of their swing with it and 5 to 55 without; a bear, painted or not, and Suzanne of 8 and 12 cells by 3 to 8 %
(8 to 55; ``bench eigenfit``, ``lattice_*``); ears of half a cell stay off by a quarter.
"""
MOST_TETS = 200_000
"""Tets at which an iteration takes three seconds on two cores (docs/benchmarks/full_space.md); the largest proposed
resolution.
"""
PATIENCE = 5.0
"""Seconds a frame from which a subspace is proposed."""
MOVEMENT = 0.02
"""Displacement of pins in a step, in sizes of the body, from which more substeps pay off. A bar of 50 kPa shaken by 9,
5 and 26 % a frame is off the motion of 16 substeps by 24, 29 and 59 % of its size with one substep, and by half of that
with as many as this asks for; shaken by 1 %, by 7 %.
"""
MOST_SUBSTEPS = 10
SPRINGY, TOO_FAST = 1 / 28, 1 / 10
"""Swings in a step from which iterated solvers lose a third of a swing's energy in nine of them and nodes none of it,
and beyond which nodes lose most of it, too. A bar that is bent by 6 % and released keeps 1.00 of its settled value with
four nodes at 0.035, 0.05 and 0.08, 0.54 at 0.12, 0.05 at 0.2; by Mixed FEM (BDF2) 0.66, 0.41, 0.09, and nothing.
"""
SMALL_STEP = 1 / 90
"""Time step, s, above which nodes are not proposed. Their benefit was measured at 5 ms."""
BENDS_FAR = 0.2
"""Sag by its own weight, in sizes, from which a body that swings fast for its step bends too far for nodes. Bent by
0.46 of its size a bar of 9 Hz has 0.2 to 0.4 of its kinetic energy with them, 0.64 by Mixed FEM
(``docs/design/conjac.md``).
"""
MANY_NODES = 32
"""Dynamic nodes from which a step takes two to three times as long as a linearly implicit one."""


@dataclass(frozen=True)
class BodyFacts:
    """Facts of a body that was built.

    ``tets`` is their number at ``cells_across``, ``size`` the size at rest, m. ``contrast`` is the stiffest over the
    softest tet. ``thickness``, m, is that of parts with less than two cells through, 0 for none. ``movement``, m, is
    the largest displacement of a pin or a collider in a frame relative to its mean over all frames, None if only one
    frame is known. ``slowest`` is the estimated lowest vibration, Hz, 0 if unknown.
    """

    tets: int
    cells_across: int
    size: float
    contrast: float
    thickness: float
    movement: float | None
    slowest: float = 0.0


class Use(NamedTuple):
    """Use of a body beside its settings: frames a second, dynamic nodes, and True for a floor or colliders."""

    frame_rate: float = 24.0
    nodes: int = 0
    collides: bool = False


USE = Use()


@dataclass(frozen=True)
class Advice:
    """A ``setting`` (a field of the settings), the ``value`` that suits the body, and the ``reason``."""

    setting: str
    value: str | int | bool
    reason: str


def advice(
    facts: BodyFacts, solver: SolverSettings, resolution: ResolutionSettings, use: Use = USE
) -> tuple[Advice, ...]:
    """Return better settings for this body, at most one each for solver, resolution and step; empty if all suit."""
    found = (_solver(facts, solver, resolution, use), _resolution(facts, solver, resolution), _step(facts, solver, use))
    return tuple(each for each in found if each is not None)


def _solver(facts: BodyFacts, solver: SolverSettings, resolution: ResolutionSettings, use: Use) -> Advice | None:
    kind = solver.kind
    wanted = next(k for k in SOLVER_KINDS.values() if k.bears_contrast and k.takes_modes == kind.takes_modes)
    if kind.takes_nodes and (reason := _against_nodes(facts, solver, use)):
        return Advice("solver", wanted.name, reason)
    if facts.contrast >= CONTRAST and not kind.bears_contrast:
        reason = f"The stiffest part is {_rounded(facts.contrast)} times stiffer than the softest"
        return Advice("solver", wanted.name, f"{reason}: {wanted.at_contrast}, {kind.at_contrast}.")
    tets = tets_at(facts, resolution.cells_across)
    frame = seconds_a_frame(solver, tets)
    if not kind.takes_modes and frame > PATIENCE:
        reason = (
            f"{_rounded(tets)} tetrahedra take about {time_words(frame)} a frame on two cores. A subspace takes a "
            "hundredth of that and lacks only fine detail: good for trying out."
        )
        return Advice("solver", live_solver().name, reason)
    return _nodes(facts, solver, use)


def _against_nodes(facts: BodyFacts, solver: SolverSettings, use: Use) -> str:
    """Return the reason against a solver that takes nodes, beside the contrast; "" if it suits."""
    label, pace = solver.kind.label, _pace(facts, solver, use)
    if use.collides and not solver.kind.bears_obstacles:
        return f"{label} launches bodies that hit a floor or colliders: such a bake is refused."
    if use.nodes > MANY_NODES:
        return f"Each node makes a step slower: {label} pays off up to {MANY_NODES} nodes, not with {use.nodes}."
    if pace > SPRINGY and _sag(facts, solver) > BENDS_FAR:
        return (
            f"The body vibrates about {frequency_words(facts.slowest)} times a second and sags by "
            f"{_sag(facts, solver):.0%} of its size: {label} is inaccurate for bodies that bend so far within a few "
            "steps."
        )
    if pace > TOO_FAST and _substeps_for_nodes(facts, use) > MOST_SUBSTEPS:
        return (
            f"The body vibrates about {frequency_words(facts.slowest)} times a second, too fast for its steps with "
            f"any solver: {label} would need {_substeps_for_nodes(facts, use)} Substeps to keep it."
        )
    return ""


def _nodes(facts: BodyFacts, solver: SolverSettings, use: Use) -> Advice | None:
    """Propose a solver that takes nodes, if an iterated full-space solver loses a springy body's motion."""
    kind, pace = solver.kind, _pace(facts, solver, use)
    suits = kind.iterates and not (kind.takes_modes or kind.takes_nodes or use.collides)
    is_springy = SPRINGY <= pace <= TOO_FAST and 1.0 / (use.frame_rate * solver.substeps) <= SMALL_STEP
    if not suits or not is_springy or use.nodes > MANY_NODES or _sag(facts, solver) > BENDS_FAR:
        return None
    wanted = next(k for k in SOLVER_KINDS.values() if k.takes_nodes)
    reason = (
        f"The body vibrates about {frequency_words(facts.slowest)} times a second, in {1.0 / pace:.0f} steps each: "
        f"in nine of them {kind.label} loses a third of their energy or more, {wanted.label} with a few nodes none."
    )
    return Advice("solver", wanted.name, reason)


def _pace(facts: BodyFacts, solver: SolverSettings, use: Use) -> float:
    """Return the swings of the slowest vibration in a step."""
    return facts.slowest / (use.frame_rate * solver.substeps)


def _sag(facts: BodyFacts, solver: SolverSettings) -> float:
    """Return the sag by its own weight of a body with this vibration, in its sizes."""
    if facts.slowest <= 0.0 or facts.size <= 0.0:
        return 0.0
    return math.hypot(*solver.gravity) / (2.0 * math.pi * facts.slowest) ** 2 / facts.size


def _substeps_for_nodes(facts: BodyFacts, use: Use) -> int:
    return math.ceil(facts.slowest / (TOO_FAST * use.frame_rate))


def _resolution(facts: BodyFacts, solver: SolverSettings, resolution: ResolutionSettings) -> Advice | None:
    if facts.thickness <= 0.0 or resolution.method != "lattice":  # the others follow the surface, at any thickness
        return None
    through = facts.thickness * (resolution.cells_across - 0.5) / facts.size
    if through >= CELLS_THROUGH:
        return None
    wanted = math.ceil(CELLS_THROUGH * facts.size / facts.thickness + 0.5)
    now, most = resolution.cells_across, ResolutionSettings.__dataclass_fields__["cells_across"].metadata["range"][1]
    affordable = (cells for cells in range(min(wanted, most), now, -1) if tets_at(facts, cells) <= MOST_TETS)
    if (value := next(affordable, None)) is None:
        return None
    thin = f"Parts {length_words(facts.thickness)} thick are only {through:.1f} cells thick, and bend too stiffly"
    if through >= MATCHED_THROUGH and solver.match_resolution:
        return None
    if through >= MATCHED_THROUGH and _is_finer(facts, solver, now):
        reason = (
            f"Matched to {solver.match_cells} cells the body vibrates and sags as with so many, in frames that take"
        )
        return Advice("match_resolution", True, f"{thin}. {reason} about as long as now.")
    reason = (
        f"{thin}: a bar sags by 71 to 80 % of what it should with one cell, by 84 to 97 % with two. Torsion needs four."
    )
    return Advice("cells_across", value, reason if value == wanted else f"{reason} More would take minutes a frame.")


def _is_finer(facts: BodyFacts, solver: SolverSettings, cells: int) -> bool:
    """Return True if the lattice that a body of ``cells`` cells is matched to is much finer, and not too large."""
    return solver.match_cells >= 1.5 * cells and tets_at(facts, solver.match_cells) <= MOST_TETS


def _step(facts: BodyFacts, solver: SolverSettings, use: Use) -> Advice | None:
    part = facts.movement / facts.size if facts.movement is not None and facts.size > 0.0 else 0.0
    value = min(math.ceil(part / MOVEMENT), MOST_SUBSTEPS)
    wanted = _substeps_for_nodes(facts, use) if solver.kind.takes_nodes else 0
    if max(value, solver.substeps) < wanted <= MOST_SUBSTEPS:
        pace = f"about {frequency_words(facts.slowest)} times a second"
        return Advice(
            "substeps", wanted, f"The body vibrates {pace}: with fewer than ten steps per period it is damped out."
        )
    if value <= solver.substeps:
        return None
    reason = (
        f"Pins or colliders move by up to {100.0 * part:.2g} % of the body's size in a frame: "
        f"too few substeps damp the jiggle; {value} recover about half."
    )
    return Advice("substeps", value, reason)


def tets_at(facts: BodyFacts, cells_across: int) -> float:
    """Estimate the tetrahedra of the body at another resolution.

    They grow by the square of the cells while thin parts are a cell thick, and then by the cube.
    """
    one_through = facts.size / facts.thickness + 0.5 if facts.thickness > 0.0 else 1.0
    before, now = (cells**2 * max(cells / one_through, 1.0) for cells in (facts.cells_across, cells_across))
    return facts.tets * now / before


def _rounded(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.0f}"
