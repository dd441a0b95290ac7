"""Choice of the linear solver, with a reason that an artist can read."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from ...foundation.errors import SettingsError
from ...foundation.process.available_memory import available_memory
from .body import Body
from .cholmod import CholmodSolver
from .factor_size import direct_bytes
from .pardiso import PardisoSolver
from .protocol import DirectSolver
from .superlu import SuperLUSolver

DIRECT_SOLVERS: tuple[type[DirectSolver], ...] = (PardisoSolver, CholmodSolver, SuperLUSolver)
"""Direct solvers, fastest first."""

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
"""Label and description by the value of the setting ``linear_solver``."""

MEMORY_SHARE = 0.6
"""Part of the free memory that a factor may take before ``automatic`` switches to conjugate gradients."""


@dataclass(frozen=True)
class Choice:
    """Linear solver: ``name`` of the setting, the direct ``solver`` (for conjugate gradients that of the
    preconditioner), and the ``reason``.
    """

    name: str
    solver: type[DirectSolver]
    reason: str

    @property
    def solves_blocks(self) -> bool:
        """True if several right-hand sides take less time as a block than one after the other."""
        return self.name != ITERATIVE


def installed(solver: type[DirectSolver]) -> bool:
    """Return True if the package that the solver needs is installed."""
    return importlib.util.find_spec(solver.package) is not None


def _missing_words(taken: type[DirectSolver]) -> str:
    """Name the faster solvers that are not installed."""
    faster = DIRECT_SOLVERS[: DIRECT_SOLVERS.index(taken)]
    return "".join(f"; {solver.label} would need the Python package {solver.package}" for solver in faster)


def fastest() -> type[DirectSolver]:
    """Return the fastest direct solver that is installed."""
    return next(solver for solver in DIRECT_SOLVERS if installed(solver))


def remembered(name: str, reason: str) -> Choice | None:
    """Return an earlier choice by its name and reason, or None if its solver is not installed here."""
    if name == ITERATIVE:
        return Choice(name, fastest(), reason)
    return next((Choice(name, s, reason) for s in DIRECT_SOLVERS if s.name == name and installed(s)), None)


def choose(name: str, body: Body, available: int | None = None) -> Choice:
    """Choose the linear solver for a setting, once for a bake: free memory may change a moment later.

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
