"""Warnings about bodies and colliders that differ between viewports and renders. The simulation uses the viewports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..blend_data.node_trees import has_node
from ..blend_data.temporary_values import is_animated
from .modifier_stack import WEIGHING, is_own_cache, levels_of, stack_position

KEEPING_SHAPE = WEIGHING | {
    "BEVEL", "DATA_TRANSFER", "EDGE_SPLIT", "MULTIRES", "NORMAL_EDIT", "SUBSURF", "TRIANGULATE", "UV_PROJECT",
    "UV_WARP", "WEIGHTED_NORMAL",
}  # fmt: skip
"""Modifiers that hardly move the surface. Artists disable them in viewports to save time."""


def modifiers_differ(modifiers: Iterable[Any], scene: Any) -> bool:
    """Return True if any modifier differs between viewports and renders."""
    return any(_of_modifier(modifier, scene) for modifier in modifiers)


def body_words(obj: Any, scene: Any) -> str:
    """Return a warning about a body that differs between viewports and renders. Otherwise the text is empty.

    Modifiers and visibility are compared. Modifiers that act on the result count only if they change the shape.
    """
    below = stack_position(obj).below
    modifiers = [m for m in obj.modifiers if not is_own_cache(m)]
    relevant = (m for k, m in enumerate(modifiers) if k < below or m.type not in KEEPING_SHAPE)
    return _sentence([*filter(None, (_of_modifier(m, scene) for m in relevant)), *_of_visibility(obj)])


def collider_words(colliders: Iterable[Any], scene: Any) -> str:
    """Return a warning about colliders that differ between viewports and renders. Otherwise the text is empty.

    Modifiers, resolution and visibility are compared.
    """
    return _sentence([words for collider in colliders for words in _of_collider(collider, scene)])


def _sentence(found: list[str]) -> str:
    if not found:
        return ""
    return f"The simulation uses what viewports show, and renders differ: {'; '.join(found)}. Make both alike."


def _of_collider(obj: Any, scene: Any) -> Iterator[str]:
    for modifier in obj.modifiers:
        if words := _of_modifier(modifier, scene):
            yield f"{words} (of “{obj.name}”)"
    data, names = obj.data, ("resolution_u", "resolution_v") if obj.type in {"CURVE", "SURFACE", "FONT"} else ()
    if any(getattr(data, f"render_{name}") not in (0, getattr(data, name)) for name in names):
        yield f"“{obj.name}” has another Resolution in renders"
    if obj.type == "META" and data.resolution != data.render_resolution:
        yield f"“{obj.name}” has another Resolution in renders"
    yield from _of_visibility(obj)


def _of_modifier(modifier: Any, scene: Any) -> str:
    """Describe how a modifier differs between viewports and renders; "" if it does not."""
    if modifier.show_viewport != modifier.show_render:
        on, off = ("viewports", "renders") if modifier.show_viewport else ("renders", "viewports")
        return f"“{modifier.name}” is off in {off} and on in {on}"
    if not modifier.show_viewport:
        return ""
    if modifier.type in {"SUBSURF", "MULTIRES"}:
        one, other = levels_of(modifier, scene)
        return f"“{modifier.name}” has level {one} in viewports and {other} in renders" if one != other else ""
    is_other = (
        (modifier.type == "OCEAN" and modifier.viewport_resolution != modifier.resolution)
        or (modifier.type == "PARTICLE_SYSTEM" and modifier.particle_system.settings.display_percentage != 100)
        or (modifier.type == "NODES" and modifier.node_group and has_node(modifier.node_group, "IS_VIEWPORT"))
    )
    return f"“{modifier.name}” has other settings in renders" if is_other else ""


def _of_visibility(obj: Any) -> list[str]:
    is_keyed = is_animated(obj, "hide_viewport") or is_animated(obj, "hide_render")
    if obj.hide_viewport == obj.hide_render or is_keyed:  # may differ at other frames
        return []
    shown, hidden = ("viewports", "renders") if obj.hide_render else ("renders", "viewports")
    return [f"“{obj.name}” is disabled in {hidden} and seen in {shown}"]
