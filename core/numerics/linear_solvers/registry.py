"""Choice of the linear solver (CHOLMOD, PARDISO, SuperLU or conjugate gradients), with the reason for the user."""

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
    AUTOMATIC: ("Automatic", "The fastest installed direct solver; conjugate gradients if memory does not suffice"),
    **{
        solver.name: (f"{solver.label}, direct", f"Exact solutions; needs the Python package {solver.package}")
        for solver in DIRECT_SOLVERS
    },
    ITERATIVE: ("Conjugate Gradients", "Approximate solutions: less memory, and more but faster iterations"),
}
"""Label and description of each value of the setting ``linear_solver``."""

MEMORY_SHARE = 0.6
"""Fraction of the free memory that a factor may take before ``automatic`` switches to conjugate gradients."""


@dataclass(frozen=True)
class Choice:
    """Chosen linear solver of a body.

    Attributes
    ----------
    name : value of the setting ``linear_solver``, other than ``automatic``
    solver : class of the direct solver; with conjugate gradients, this solver factorises the preconditioner
    reason : text for the user: why the linear solver was chosen
    """

    name: str
    solver: type[DirectSolver]
    reason: str

    @property
    def solves_blocks(self) -> bool:
        """True if the solver is faster for several right-hand sides at once than for one after the other."""
        return self.name != ITERATIVE


def installed(solver: type[DirectSolver]) -> bool:
    """Return True if the package that the solver needs is installed."""
    return importlib.util.find_spec(solver.package) is not None


def _missing_words(taken: type[DirectSolver]) -> str:
    """Return text for the user that names each solver faster than ``taken``, and the Python package to install."""
    faster = DIRECT_SOLVERS[: DIRECT_SOLVERS.index(taken)]
    return "".join(f"; {solver.label} would need the Python package {solver.package}" for solver in faster)


def fastest() -> type[DirectSolver]:
    """Return the fastest direct solver that is installed."""
    return next(solver for solver in DIRECT_SOLVERS if installed(solver))


def remembered(name: str, reason: str) -> Choice | None:
    """Return the choice recorded as ``name`` and ``reason``.

    Return None if the solver ``name`` is unknown or not installed.
    """
    if name == ITERATIVE:
        return Choice(name, fastest(), reason)
    return next((Choice(name, s, reason) for s in DIRECT_SOLVERS if s.name == name and installed(s)), None)


def choose(name: str, body: Body, available: int | None = None) -> Choice:
    """Return the linear solver of a body for a value of the setting ``linear_solver``.

    Call this function only once per bake: the free memory changes, so a second call may choose another solver.

    Parameters
    ----------
    name : a key of ``LINEAR_SOLVERS``
    body : Body
    available : free memory, bytes; by default queried from the system

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
        f"Install the Python package {solver.package}, or set Linear Solver to Automatic: the fastest installed.",
    )
