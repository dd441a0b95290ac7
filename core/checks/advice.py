"""What solver, resolution and step suit a body, with the reason: rules from what was measured, on facts of the body.

Pure and quick, for interfaces to ask whenever a setting has changed; ``body_facts`` takes the facts once, where the
body is made anyway. Where the rules' numbers come from stands beside them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..lengths import length_words
from ..settings import ResolutionSettings, SolverSettings
from ..solver_kinds import SOLVER_KINDS, live_solver
from .costs import seconds_a_frame, time_words

CONTRAST = 1e3
"""Ratio of stiffnesses from which Newton's iterations leave a stiff part far from where it belongs: at 1e5 its gradient
after five of them is 6e4 times Mixed FEM's, and energies of swinging bars are off by a half (docs/benchmarks.md).
"""
CELLS_THROUGH = 2
"""Cells that a part wants across its thickness: a clamped bar sags by 28 to 37, 78 to 87, 92 to 97, 98 to 100 % of what
quadratic elements give where 0.6, 1, 2 and 4 cells of the draft lattice are as thick as it is (``bench physics``).
"""
MATCHED_THROUGH = 1
"""Cells across a thickness from which *Match Resolution* does as well: clamped bars of one and 1.6 cells through are
off by 2 % of their swing with it and 5 to 55 without, a bear, painted or not, and Suzanne of 8 and 12 cells by 3 to 8 %
(8 to 55; ``bench eigenfit``, ``lattice_*``); ears of half a cell stay off by a quarter.
"""
MOST_TETS = 200_000
"""Where an iteration takes three seconds on two cores (docs/benchmarks.md): no resolution beyond that is proposed."""
PATIENCE = 5.0
"""Seconds a frame from which a subspace is proposed."""
MOVEMENT = 0.02
"""Movement of pins in a step, in sizes of the body, from which more steps are worth their time: a bar of 50 kPa shaken
by 9, 5 and 26 % a frame is off the motion of 16 substeps by 24, 29 and 59 % of its size with one, and by half of that
with as many as this asks for; shaken by 1 %, by 7 %.
"""
MOST_SUBSTEPS = 10


@dataclass(frozen=True)
class Facts:
    """Of a body that was made: number of ``tets`` with so many ``cells_across``; ``size`` at rest, m; ``contrast``,
    stiffest over softest tet; ``thickness`` of parts with less than two cells through, m, 0 for none; ``movement``,
    the largest of a pin or a collider in a frame, beside its mean over all frames, m, None where one frame is known.
    """

    tets: int
    cells_across: int
    size: float
    contrast: float
    thickness: float
    movement: float | None


@dataclass(frozen=True)
class Advice:
    """A ``setting`` (a field of the settings), the ``value`` that suits the body, and the ``reason``."""

    setting: str
    value: str | int | bool
    reason: str


def advice(facts: Facts, solver: SolverSettings, resolution: ResolutionSettings) -> tuple[Advice, ...]:
    """What to set otherwise for this body, at most one for solver, resolution and step each; empty where all suits."""
    found = (_solver(facts, solver, resolution), _resolution(facts, solver, resolution), _step(facts, solver))
    return tuple(each for each in found if each is not None)


def _solver(facts: Facts, solver: SolverSettings, resolution: ResolutionSettings) -> Advice | None:
    kind = solver.kind
    if facts.contrast >= CONTRAST and not kind.bears_contrast:
        wanted = next(k for k in SOLVER_KINDS.values() if k.bears_contrast and k.takes_modes == kind.takes_modes)
        reason = f"The stiffest part is {_rounded(facts.contrast)} times stiffer than the softest"
        return Advice("solver", wanted.name, f"{reason}: {wanted.at_contrast}, {kind.at_contrast}.")
    tets = tets_at(facts, resolution.cells_across)
    frame = seconds_a_frame(solver, tets)
    if not kind.takes_modes and frame > PATIENCE:
        reason = (
            f"{_rounded(tets)} tetrahedra take about {time_words(frame)} a frame on two cores. A subspace takes a "
            "hundredth of it, for all but fine wobbles: good for trying out."
        )
        return Advice("solver", live_solver().name, reason)
    return None


def _resolution(facts: Facts, solver: SolverSettings, resolution: ResolutionSettings) -> Advice | None:
    if facts.thickness <= 0.0 or resolution.method != "lattice":  # the others follow the surface, however thin it is
        return None
    through = facts.thickness * (resolution.cells_across - 0.5) / facts.size
    if through >= CELLS_THROUGH:
        return None
    wanted = math.ceil(CELLS_THROUGH * facts.size / facts.thickness + 0.5)
    now, most = resolution.cells_across, ResolutionSettings.__dataclass_fields__["cells_across"].metadata["range"][1]
    affordable = (cells for cells in range(min(wanted, most), now, -1) if tets_at(facts, cells) <= MOST_TETS)
    if (value := next(affordable, None)) is None:
        return None
    thin = f"Parts {length_words(facts.thickness)} thick have {through:.1f} cells through, and bend too stiffly"
    if through >= MATCHED_THROUGH and solver.match_resolution:
        return None
    if through >= MATCHED_THROUGH and _is_finer(facts, solver, now):
        reason = f"Matched to {solver.match_cells} cells the body swings and sags as with so many, in frames that take"
        return Advice("match_resolution", True, f"{thin}. {reason} about as long as now.")
    reason = f"{thin}: a bar of one cell sags by four fifths of what it should, with two by 92 % or more."
    return Advice("cells_across", value, reason if value == wanted else f"{reason} More would take minutes a frame.")


def _is_finer(facts: Facts, solver: SolverSettings, cells: int) -> bool:
    """Whether the lattice that a body of so many cells is matched to is much finer, and not too large."""
    return solver.match_cells >= 1.5 * cells and tets_at(facts, solver.match_cells) <= MOST_TETS


def _step(facts: Facts, solver: SolverSettings) -> Advice | None:
    part = facts.movement / facts.size if facts.movement is not None and facts.size > 0.0 else 0.0
    value = min(math.ceil(part / MOVEMENT), MOST_SUBSTEPS)
    if value <= solver.substeps:
        return None
    reason = (
        f"Pins or colliders move by up to {100.0 * part:.2g} % of the body's size in a frame: so few steps swallow "
        "much of its swing. With more, half of what is lost comes back."
    )
    return Advice("substeps", value, reason)


def tets_at(facts: Facts, cells_across: int) -> float:
    """Tetrahedra that another resolution makes of the body, about: they grow by the square of the cells while thin
    parts are a cell thick, and then by the cube.
    """
    one_through = facts.size / facts.thickness + 0.5 if facts.thickness > 0.0 else 1.0
    before, now = (cells**2 * max(cells / one_through, 1.0) for cells in (facts.cells_across, cells_across))
    return facts.tets * now / before


def _rounded(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.0f}"
