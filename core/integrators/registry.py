"""The registry of time integration rules: one line a file. Each offers NAME, LABEL, DESCRIPTION, NEEDS_HISTORY,
OWN (the settings that it alone reads, which ``begin`` is given by name) and ``begin``.
"""

from __future__ import annotations

from types import ModuleType

from ..errors import SettingsError
from . import backward_euler, bdf2, theta_midpoint

INTEGRATORS: dict[str, ModuleType] = {module.NAME: module for module in (backward_euler, bdf2, theta_midpoint)}


def integrator(name: str) -> ModuleType:
    """The rule of that name; SettingsError names the known ones."""
    if name not in INTEGRATORS:
        raise SettingsError(f"Unknown integrator “{name}”.", f"Choose one of {', '.join(INTEGRATORS)}.")
    return INTEGRATORS[name]
