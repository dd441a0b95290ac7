"""Registry of the fibre laws, each defined in one module. User interfaces list them, and the tests cover them."""

from __future__ import annotations

from ...foundation.errors import MaterialError
from . import afung, astvk, hill, target_length
from .law import FibreLaw

LAWS: dict[str, FibreLaw] = {module.LAW.name: module.LAW for module in (target_length, hill, astvk, afung)}


def fibre_law(name: str) -> FibreLaw:
    """Return the law with this name; raise MaterialError, which lists the known names, if there is none."""
    if name not in LAWS:
        raise MaterialError(f"Unknown fibre law “{name}”.", f"Choose one of {', '.join(LAWS)}.")
    return LAWS[name]
