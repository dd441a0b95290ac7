"""What follows an object's mesh, and would be left behind where its bake lies on a duplicate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ..basics.list_animation import animated_paths


def followers_of(obj: Any) -> list[str]:
    """Names of objects that are parented to vertices of ``obj``, or whose modifiers or constraints look at its mesh.

    What is parented to the object itself follows its transforms, which a duplicate shares.
    """
    bakes = {other.sinew.bake.result for other in bpy.data.objects}
    others = (other for other in bpy.data.objects if other != obj and other not in bakes)
    return [other.name for other in others if any(found == obj for found in _looked_at(other))]


def _looked_at(other: Any) -> Iterator[Any]:
    """Objects whose mesh another one follows."""
    if other.parent_type in ("VERTEX", "VERTEX_3"):
        yield other.parent
    for modifier in other.modifiers:
        for prop in modifier.bl_rna.properties:
            if prop.type == "POINTER" and prop.fixed_type.identifier == "Object":
                yield getattr(modifier, prop.identifier)
    for constraint in other.constraints:
        if constraint.type == "SHRINKWRAP" or getattr(constraint, "subtarget", ""):
            yield constraint.target


def left_behind_words(obj: Any, carrier: Any, kind: str) -> str:
    """What to say of what follows ``obj`` while ``carrier`` has its bake, or shows it beside that; "" where nothing
    does.
    """
    if carrier == obj:
        return ""
    words, names = [], followers_of(obj)
    if names:
        named = ", ".join(f"“{name}”" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        verb = "follows" if len(names) == 1 else "follow"
        words.append(f"{named} {verb} the hidden original, not its bake: choose “{carrier.name}” there instead.")
    if animated_paths(obj) & {"hide_viewport", "hide_render"}:
        words.append(f"The visibility of “{obj.name}” is keyed, so it is seen beside its bake.")
    if words and kind != "CACHE":
        words.append("With Result set to Mesh Cache the bake lies on the object itself.")
    return " ".join(words)
