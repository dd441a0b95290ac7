"""What suits a body, from the facts of its last tetrahedra and what is set now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import choices
from .bridge.settings_in import resolution_settings, solver_settings

if TYPE_CHECKING:
    from ..core.simulation.advice import Advice

LABELS = {"solver": "Solver", "cells_across": "Cells Across", "substeps": "Substeps"}
"""Names of the settings that are advised on, as their panels show them."""


def is_known(obj: Any) -> bool:
    """Whether there are facts of the body: it was filled with tetrahedra."""
    return obj.sinew.bake.tets > 0


def advice_of(obj: Any, scene: Any) -> tuple[Advice, ...]:
    """What to set otherwise; empty where all suits, or where nothing is known."""
    from ..core.simulation.advice import Facts, advice  # loads Numba, which Blender's start should not wait for

    record = obj.sinew.bake
    if not is_known(obj):
        return ()
    facts = Facts(
        tets=record.tets,
        cells_across=record.cells,
        size=record.body_size,
        contrast=record.contrast,
        thickness=record.thickness,
        movement=record.movement,
    )
    return advice(facts, solver_settings(obj.sinew, scene), resolution_settings(obj.sinew))


def button_words(each: Advice) -> str:
    """What the button that takes an advice says: ``Use Mixed FEM``, ``Set Substeps to 4``."""
    if each.setting == "solver":
        return f"Use {next(item[1] for item in choices.solver_items() if item[0] == each.value)}"
    return f"Set {LABELS[each.setting]} to {each.value}"
