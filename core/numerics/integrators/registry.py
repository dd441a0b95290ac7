"""Registry of time integration rules, one module per rule.

The module of a rule has NAME, LABEL, DESCRIPTION, NEEDS_HISTORY, OWN and the function ``begin``. OWN names the settings
that only this rule reads; ``begin`` receives these settings by name.
"""

from __future__ import annotations

from types import ModuleType

from ...foundation.errors import SettingsError
from . import backward_euler, bdf2, statics, theta_midpoint

INTEGRATORS: dict[str, ModuleType] = {module.NAME: module for module in (backward_euler, bdf2, theta_midpoint)}
"""Rules that integrate motion, by name."""

RULES = INTEGRATORS | {statics.NAME: statics}
"""All rules that the settings offer, by name."""


def integrator(name: str) -> ModuleType:
    """Return the module of the time integration rule ``name``. Raises SettingsError if no rule has this name."""
    if name not in RULES:
        raise SettingsError(f"Unknown integrator “{name}”.", f"Choose one of {', '.join(RULES)}.")
    return RULES[name]
