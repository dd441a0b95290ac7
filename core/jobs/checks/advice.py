"""Advice on solver, resolution and time step for a body, quick enough to repeat after every edit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ...foundation.schema.settings import ResolutionSettings, SolverSettings
from ...foundation.schema.solver_kinds import SOLVER_KINDS, live_solver
from ...foundation.unit_words import frequency_words, length_words
from .costs import seconds_a_frame, time_words

CONTRAST = 1e3
"""Ratio of the largest to the smallest Young's modulus in a body from which Newton's method is not advised.

Newton's method leaves stiff parts far from equilibrium. At a ratio of 1e5, the gradient after five iterations is 6e4
times the gradient of Mixed FEM, and the energies of swinging bars are wrong by half (docs/benchmarks/mixed_fem.md).
"""
CELLS_THROUGH = 2
"""Number of cells that a part needs through its thickness.

Bars two cells thick are 1.02 to 1.07 times too stiff in bending and 1.07 to 1.15 times in torsion. In torsion, bars
three cells thick are 1.03 to 1.05 times too stiff, and bars four cells thick 1.01 to 1.03 times. Poisson's ratios were
0.3 to 0.499, and the bars had four orientations. With plain (unsmoothed) tets, bars two cells thick are 1.4 to 2.3
times too stiff in torsion (``docs/design/elements.md``).
"""
MATCHED_THROUGH = 1
"""Smallest thickness of a part, in cells, at which *Match Resolution* can replace a finer lattice.

The table has the errors of the motion of swinging bodies, relative to the amplitude of the motion (``bench eigenfit``,
``lattice_*``; plain tets). Ears half a cell thick keep an error of a quarter.

    Match Resolution                              on          off
    clamped bars, 1 and 1.6 cells thick           2 %         5 to 55 %
    bear and Suzanne, 8 and 12 cells across       3 to 8 %    8 to 55 %
"""
MOST_TETS = 200_000
"""Largest number of tets of a proposed resolution. An iteration then takes about half a second
(docs/benchmarks/large.md).
"""
PATIENCE = 5.0
"""Computing time per frame, s, above which a subspace is proposed."""
MOVEMENT = 0.02
"""Largest displacement of pins or colliders per step, relative to the body's size, without advice.

For larger displacements, the advice is to raise the substeps until the limit is kept, but to at most MOST_SUBSTEPS.

A bar of 50 kPa was shaken, and its motion compared with the motion at 16 substeps per frame. Shaken by 1 % of its size
per frame, the bar deviated by 7 % of its size with one substep. Shaken by 5 to 26 % per frame, the bar deviated by 24
to 59 % with one substep, and by half as much with the advised number of substeps.
"""
MOST_SUBSTEPS = 10
SPRINGY, TOO_FAST = 1 / 28, 1 / 10
"""Lengths of the time step, in periods of the slowest vibration.

From SPRINGY on, iterative solvers lose a third of the vibration's energy within nine periods, but ConJac loses none.
ConJac integrates the motion of a few vertices in time, the dynamic nodes. Beyond TOO_FAST, ConJac loses most of the
energy, too. The table has the fraction of the energy that a bar, bent by 6 % and released, keeps.

    time step, periods          0.035   0.05   0.08   0.12   0.2
    ConJac, four nodes          1.00    1.00   1.00   0.54   0.05
    Mixed FEM (BDF2)            0.66    0.41   0.09   0      0
"""
SMALL_STEP = 1 / 90
"""Largest time step, s, at which the solver ConJac is proposed. The benefit of ConJac was measured at 5 ms."""
BENDS_FAR = 0.2
"""Largest sag under the body's own weight, relative to the body's size, at which the solver ConJac is accurate.

The limit holds for few steps per period. A bar that vibrates at 9 Hz and bends by 0.46 of its size keeps 20 to 40 % of
its kinetic energy with ConJac, and 64 % with Mixed FEM (``docs/design/conjac.md``).
"""
MANY_NODES = 32
"""Largest number of dynamic nodes (vertices that ConJac integrates in time) that suits a body. A step of ConJac then
takes two to three times as long as a linearly implicit step.
"""


@dataclass(frozen=True)
class BodyFacts:
    """Measured properties of a body with tetrahedra, the input of :func:`advice`.

    Attributes
    ----------
    tets : number of tetrahedra
    cells_across : number of lattice cells along the longest side
    size : m, length of the longest side at rest
    contrast : ratio of the largest to the smallest Young's modulus
    thickness : m, median thickness of the parts less than two cells thick; 0 if there are none
    movement : m, largest displacement per frame of a pin or collider vertex, minus that vertex's mean displacement per
        frame; None with pins or mesh colliders, but only one frame
    slowest : Hz, estimated lowest vibration frequency; 0 if unknown
    """

    tets: int
    cells_across: int
    size: float
    contrast: float
    thickness: float
    movement: float | None
    slowest: float = 0.0


class Use(NamedTuple):
    """Properties of a body's scene that affect the advice for this body.

    Attributes
    ----------
    frame_rate : 1/s
    nodes : number of the body's dynamic nodes, the vertices that ConJac integrates in time
    collides : True if the body has a floor or another collider
    """

    frame_rate: float = 24.0
    nodes: int = 0
    collides: bool = False


USE = Use()


@dataclass(frozen=True)
class Advice:
    """Proposal to set the solver or resolution setting named ``setting`` to ``value``.

    ``reason``: the reason, as text for the user.
    """

    setting: str
    value: str | int | bool
    reason: str


def advice(
    facts: BodyFacts, solver: SolverSettings, resolution: ResolutionSettings, use: Use = USE
) -> tuple[Advice, ...]:
    """Return proposals of better settings for a body: at most one each for solver, resolution and time step.

    ``use`` describes the scene of the body. The result is empty if all settings suit.
    """
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
    """Return the reason why a ConJac solver, which integrates a few vertices in time, does not suit a body, or ""."""
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
            f"The body vibrates about {frequency_words(facts.slowest)} times a second. No solver preserves this "
            f"vibration at the present time step; {label} would need {_substeps_for_nodes(facts, use)} Substeps."
        )
    return ""


def _nodes(facts: BodyFacts, solver: SolverSettings, use: Use) -> Advice | None:
    """Propose ConJac for a springy body whose vibration the chosen solver would damp out, or return None."""
    kind, pace = solver.kind, _pace(facts, solver, use)
    suits = kind.iterates and not (kind.takes_modes or kind.takes_nodes or use.collides)
    is_springy = SPRINGY <= pace <= TOO_FAST and 1.0 / (use.frame_rate * solver.substeps) <= SMALL_STEP
    if not suits or not is_springy or use.nodes > MANY_NODES or _sag(facts, solver) > BENDS_FAR:
        return None
    wanted = next(k for k in SOLVER_KINDS.values() if k.takes_nodes)
    reason = (
        f"The body vibrates about {frequency_words(facts.slowest)} times a second, with {1.0 / pace:.0f} steps per "
        f"period. In nine periods {kind.label} loses a third of the energy or more; {wanted.label} with a few nodes "
        "loses none."
    )
    return Advice("solver", wanted.name, reason)


def _pace(facts: BodyFacts, solver: SolverSettings, use: Use) -> float:
    """Return the length of a time step in periods of the body's slowest vibration."""
    return facts.slowest / (use.frame_rate * solver.substeps)


def _sag(facts: BodyFacts, solver: SolverSettings) -> float:
    """Return the body's sag under its own weight, relative to its size, or 0 if unknown.

    The sag of an oscillator is gravity divided by the squared angular frequency.
    """
    if facts.slowest <= 0.0 or facts.size <= 0.0:
        return 0.0
    return math.hypot(*solver.gravity) / (2.0 * math.pi * facts.slowest) ** 2 / facts.size


def _substeps_for_nodes(facts: BodyFacts, use: Use) -> int:
    return math.ceil(facts.slowest / (TOO_FAST * use.frame_rate))


def _resolution(facts: BodyFacts, solver: SolverSettings, resolution: ResolutionSettings) -> Advice | None:
    if facts.thickness <= 0.0 or resolution.method != "lattice":  # other meshes follow the surface, at any thickness
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
            f"With Match Resolution, the body vibrates and sags like a lattice with {solver.match_cells} Cells Across."
        )
        return Advice("match_resolution", True, f"{thin}. {reason} Frames take about as long as now.")
    reason = f"{thin}: two cells bend within 7 % and twist within 15 % of the correct stiffness, four twist within 3 %."
    return Advice("cells_across", value, reason if value == wanted else f"{reason} More would take minutes per frame.")


def _is_finer(facts: BodyFacts, solver: SolverSettings, cells: int) -> bool:
    """Return True if *Match Resolution*, which reproduces a finer lattice, suits a body ``cells`` cells across."""
    return solver.match_cells >= 1.5 * cells and tets_at(facts, solver.match_cells) <= MOST_TETS


def _step(facts: BodyFacts, solver: SolverSettings, use: Use) -> Advice | None:
    part = facts.movement / facts.size if facts.movement is not None and facts.size > 0.0 else 0.0
    value = min(math.ceil(part / MOVEMENT), MOST_SUBSTEPS)
    wanted = _substeps_for_nodes(facts, use) if solver.kind.takes_nodes else 0
    if max(value, solver.substeps) < wanted <= MOST_SUBSTEPS:
        pace = f"about {frequency_words(facts.slowest)} times a second"
        return Advice(
            "substeps",
            wanted,
            f"The body vibrates {pace}: with fewer than ten steps per period the vibration is damped out.",
        )
    if value <= solver.substeps:
        return None
    reason = (
        f"Pins or colliders move by up to {100.0 * part:.2g} % of the body's size in a frame. "
        f"The present Substeps damp part of the jiggle; {value} Substeps recover about half of the lost part."
    )
    return Advice("substeps", value, reason)


def tets_at(facts: BodyFacts, cells_across: int) -> float:
    """Estimate the number of tetrahedra of a body with ``cells_across`` cells along its longest side.

    The number grows with the square of ``cells_across`` while thin parts are at most one cell thick, else with the
    cube.
    """
    one_through = facts.size / facts.thickness + 0.5 if facts.thickness > 0.0 else 1.0
    before, now = (cells**2 * max(cells / one_through, 1.0) for cells in (facts.cells_across, cells_across))
    return facts.tets * now / before


def _rounded(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.0f}"
