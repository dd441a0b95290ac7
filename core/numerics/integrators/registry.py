"""Registry of time integration rules, one module each. A rule's module has NAME, LABEL, DESCRIPTION, NEEDS_HISTORY, OWN
(names of the settings that only this rule reads, passed to ``begin`` by name) and the function ``begin``.
"""

from __future__ import annotations

from types import ModuleType

from ...foundation.errors import SettingsError
from . import backward_euler, bdf2, theta_midpoint

INTEGRATORS: dict[str, ModuleType] = {module.NAME: module for module in (backward_euler, bdf2, theta_midpoint)}


def integrator(name: str) -> ModuleType:
    """Return the module of the time integration rule ``name``. If no rule has this name, raise SettingsError, which
    lists the known names.
    """
    if name not in INTEGRATORS:
        raise SettingsError(f"Unknown integrator “{name}”.", f"Choose one of {', '.join(INTEGRATORS)}.")
    return INTEGRATORS[name]
