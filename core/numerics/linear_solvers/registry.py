"""Choice of the linear solver (CHOLMOD, PARDISO, SuperLU or conjugate gradients), with the reason for the user."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from ...foundation.errors import SettingsError
from ...foundation.process.available_memory import available_memory
from ...mechanics.assembly.sparsity import Pattern
from .body import Body
from .cholmod import CholmodSolver
from .factor_size import direct_bytes, entries_of, factor_bytes
from .ordering import factor_entries, quick_order
from .pardiso import PardisoSolver
from .protocol import DirectSolver
from .stiff_parts import largest_contrast
from .superlu import SuperLUSolver

DIRECT_SOLVERS: tuple[type[DirectSolver], ...] = (PardisoSolver, CholmodSolver, SuperLUSolver)
"""Direct solvers, fastest first."""

ITERATIVE = "pcg"
AUTOMATIC = "automatic"

LINEAR_SOLVERS: dict[str, tuple[str, str]] = {
    AUTOMATIC: (
        "Automatic",
        "Conjugate gradients for large bodies, and a direct solver, the fastest installed, for others",
    ),
    **{
        solver.name: (f"{solver.label}, direct", f"Exact solutions; needs the Python package {solver.package}")
        for solver in DIRECT_SOLVERS
    },
    ITERATIVE: ("Conjugate Gradients", "Approximate solutions: fast in large bodies, with a small part of the memory"),
}
"""Label and description of each value of the setting ``linear_solver``."""

MEMORY_SHARE = 0.6
"""Fraction of the free memory that a factor may take before ``automatic`` switches to conjugate gradients."""


FEWEST_VERTICES = 1500
"""Least number of free vertices for conjugate gradients. Smaller bodies are solved as fast by a direct solver."""

THIN = 4.0
"""Least ratio of factor entries to matrix entries for conjugate gradients. Thin bodies have less: a direct solver is
faster.
"""

MOST_CONTRAST = 1e7
"""Largest ratio of stiffnesses in a connected part for conjugate gradients. In a twisted arm of higher contrasts, Mixed
FEM took 39 and 61 iterations with them instead of 5 and 13.
"""

SLOW = 9.0
"""Mean number of iterations per system above which a direct solver would have been faster, divided by the ratio of
factor entries to matrix entries.

Both then take as long: a direct solution 25 to 35 ns per entry of the factor, an iteration about 3.5 per entry of the
matrix. Measured on piles of 20,000 and a jelly of 100,000 tets.
"""

SLOW_STEPS = 2
"""Number of successive slow steps after which the direct solver replaces conjugate gradients."""

SWITCHED = "conjugate gradients took too many iterations"
"""Reason of the direct solver that replaced conjugate gradients."""


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


def why_iterative(body: Body, pattern: Pattern) -> str:
    """Return the reason why conjugate gradients are faster for a body's matrices, "" if they are not.

    The answer depends on the body and its matrices' ``pattern`` alone, so that it is the same on every machine.
    """
    stiffness = body.shear_modulus[body.elements.of_tet]
    if len(pattern.free) < FEWEST_VERTICES or largest_contrast(body.tets, stiffness) > MOST_CONTRAST:
        return ""
    fill = quick_fill(pattern)
    return f"faster, as a factor would have about {fill:.0f} times the entries of the matrix" if fill >= THIN else ""


def quick_fill(pattern: Pattern) -> float:
    """Return the entries of a factor over those of the matrix, in an order that is found quickly."""
    return factor_entries(pattern, quick_order(pattern)) / len(pattern.row_indices)


def is_slower(iterations: float, body: Body) -> bool:
    """Return True if conjugate gradients are slower than a direct solver whose factor fits into memory.

    ``iterations``: mean number of iterations of conjugate gradients per system of the ``body``.
    """
    if iterations <= SLOW * THIN:
        return False
    pattern = body.sparsity().pattern
    entries = entries_of(pattern)
    is_slow = iterations > SLOW * entries / len(pattern.row_indices)
    return is_slow and factor_bytes(entries) <= MEMORY_SHARE * available_memory()


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
