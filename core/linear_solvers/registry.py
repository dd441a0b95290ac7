"""Which solver of linear systems is taken, and why: in words that an artist reads."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from ..errors import SettingsError
from ..process.available_memory import available_memory
from .body import Body
from .cholmod import CholmodSolver
from .factor_size import direct_bytes
from .pardiso import PardisoSolver
from .protocol import DirectSolver
from .superlu import SuperLUSolver

DIRECT_SOLVERS: tuple[type[DirectSolver], ...] = (PardisoSolver, CholmodSolver, SuperLUSolver)
"""Fastest first."""

ITERATIVE = "pcg"
AUTOMATIC = "automatic"

LINEAR_SOLVERS: dict[str, tuple[str, str]] = {
    AUTOMATIC: ("Automatic", "The fastest that is installed; conjugate gradients where its memory does not suffice"),
    **{
        solver.name: (f"{solver.label}, direct", f"Exact solutions; needs the Python package {solver.package}")
        for solver in DIRECT_SOLVERS
    },
    ITERATIVE: ("Conjugate Gradients", "Approximate solutions: little memory and quick iterations, but more of them"),
}
"""Label and description by the name that the setting ``linear_solver`` has."""

MEMORY_SHARE = 0.6
"""Part of the free memory that a factor may take before ``automatic`` turns to conjugate gradients."""


@dataclass(frozen=True)
class Choice:
    """A linear solver: ``name`` of the setting, the direct solver that is used (by conjugate gradients for their
    preconditioner), and why.
    """

    name: str
    solver: type[DirectSolver]
    reason: str

    @property
    def solves_blocks(self) -> bool:
        """Whether several right-hand sides take less than one after the other."""
        return self.name != ITERATIVE


def installed(solver: type[DirectSolver]) -> bool:
    """Whether the package that it needs is there."""
    return importlib.util.find_spec(solver.package) is not None


def _missing_words(taken: type[DirectSolver]) -> str:
    """Which faster ones would be taken, were they there."""
    faster = DIRECT_SOLVERS[: DIRECT_SOLVERS.index(taken)]
    return "".join(f"; {solver.label} would need the Python package {solver.package}" for solver in faster)


def fastest() -> type[DirectSolver]:
    """The fastest direct solver that is installed."""
    return next(solver for solver in DIRECT_SOLVERS if installed(solver))


def remembered(name: str, reason: str) -> Choice | None:
    """A choice that was made before, by its name and reason; None where its solver is not installed here."""
    if name == ITERATIVE:
        return Choice(name, fastest(), reason)
    return next((Choice(name, s, reason) for s in DIRECT_SOLVERS if s.name == name and installed(s)), None)


def choose(name: str, body: Body, available: int | None = None) -> Choice:
    """The linear solver for a setting. It is made once for a bake: free memory may be another a moment later.

    Parameters
    ----------
    name : a key of ``LINEAR_SOLVERS``
    body : Body
    available : bytes of free memory; by default asked of the system

    Raises
    ------
    SettingsError : the name is unknown, or its solver is not installed.
    """
    quickest = fastest()
    if name == AUTOMATIC:
        available = available_memory() if available is None else available
        needed = direct_bytes(body, MEMORY_SHARE * available)
        if needed > MEMORY_SHARE * available:
            short = f"a direct solver would need {needed / 1e9:.1f} GB, and {available / 1e9:.1f} GB are free"
            return Choice(ITERATIVE, quickest, short)
        return Choice(quickest.name, quickest, f"the fastest that is installed{_missing_words(quickest)}")
    if name not in LINEAR_SOLVERS:
        raise SettingsError(f"Unknown linear solver “{name}”.", f"Choose one of {', '.join(LINEAR_SOLVERS)}.")
    if chosen := remembered(name, "as chosen"):
        return chosen
    solver = next(each for each in DIRECT_SOLVERS if each.name == name)
    raise SettingsError(
        f"The linear solver {solver.label} is not installed.",
        f"Install the Python package {solver.package}, or set Linear Solver to Automatic.",
    )
