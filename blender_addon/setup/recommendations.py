"""Recommended settings of a body, from its last tetrahedralization and its present settings."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..blend_data.list_animation import animated_paths
from ..properties import choices
from ..scene_import.settings_in import resolution_settings, solver_settings
from ..translations.translate import marked, translated

if TYPE_CHECKING:
    from ...core.jobs.checks.advice import Advice

LABELS = {
    "solver": marked("Solver"),
    "cells_across": marked("Cells Across"),
    "match_resolution": marked("Match Resolution"),
    "substeps": marked("Substeps"),
}
"""Panel labels of the settings that can be recommended."""
OF_RESOLUTION = ("cells_across", "match_resolution")
BASIS = (
    "log_stiffness", "use_range", "log_painted_stiffness", "stiffness_map", "vertex_group", "regions",
    "depth_kind", "depth",
)  # fmt: skip
"""Properties of a material that determine its stiffness."""


def is_known(obj: Any) -> bool:
    """Return True if the body was tetrahedralized."""
    return obj.sinew.bake.tets > 0


def is_step_known(obj: Any) -> bool:
    """Return True if a bake has measured the motion of pins and colliders, for advice on substeps.

    The operator *Tetrahedralize* reads only one frame, and so cannot measure motion.
    """
    return obj.sinew.bake.movement >= 0.0


def is_outdated(obj: Any) -> bool:
    """Return True if the stiffness or placement of materials was edited after *Tetrahedralize*.

    Painting and keyed properties are not noticed.
    """
    return is_known(obj) and obj.sinew.bake.advice_basis not in ("", basis_of(obj))


def basis_of(obj: Any) -> str:
    """Return a digest of the material properties that determine a body's stiffness (:data:`BASIS`).

    Keyed properties are omitted.
    """
    keyed, values = animated_paths(obj), []
    for index, material in enumerate(obj.sinew.materials):
        for name in BASIS:
            if f"sinew.materials[{index}].{name}" not in keyed:
                value = getattr(material, name)
                values.append(f"{value:.5g}" if isinstance(value, float) else getattr(value, "name", str(value)))
    return sha256(repr(values).encode()).hexdigest()[:16]


def advice_of(obj: Any, scene: Any) -> tuple[Advice, ...]:
    """Return the recommended changes of settings. The tuple is empty if all settings suit the body.

    The tuple is also empty if the body has no tetrahedra yet.
    """
    from ...core.jobs.checks.advice import BodyFacts, Use, advice

    record = obj.sinew.bake
    if not is_known(obj):
        return ()
    facts = BodyFacts(
        tets=record.tets,
        cells_across=record.cells,
        size=record.body_size,
        contrast=record.contrast,
        thickness=record.thickness,
        movement=record.movement if is_step_known(obj) else None,
        slowest=record.slowest,
    )
    settings = obj.sinew
    use = Use(
        frame_rate=scene.render.fps / scene.render.fps_base,
        nodes=sum(len(each.rest_positions) for each in settings.picks if each.group == settings.node_group),
        collides=settings.collisions.use_ground or settings.collisions.collection is not None,
    )
    return advice(facts, solver_settings(settings, scene), resolution_settings(settings), use)


def of_resolution(obj: Any, scene: Any) -> Advice | None:
    """Return the recommended change of resolution, or None."""
    return next((each for each in advice_of(obj, scene) if each.setting in OF_RESOLUTION), None)


def of_solver(obj: Any, scene: Any) -> list[Advice]:
    """Return the recommended changes of solver and substeps."""
    return [each for each in advice_of(obj, scene) if each.setting not in OF_RESOLUTION]


def button_words(each: Advice) -> str:
    """Return the button's label for a recommendation, such as ``Use Mixed FEM`` or ``Set Substeps to 4``."""
    if each.setting == "solver":
        return translated("Use {label}", label=translated(choices.solver_kind(each.value).label))
    if each.value is True:
        return translated("Use {label}", label=translated(LABELS[each.setting]))
    return translated("Set {label} to {value}", label=translated(LABELS[each.setting]), value=each.value)
