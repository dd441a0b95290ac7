"""Objects that come from another file, linked or as library overrides: they are baked there, or made local first."""

from __future__ import annotations

from typing import Any

from ...core.errors import MeshError, SinewError

REMEDY = (
    "Make it local (Object > Relations > Make Local > Selected Objects and Data), or bake it in its own file with "
    "Result set to Mesh Cache, which plays here, too."
)


def library_of(obj: Any) -> Any | None:
    """The library that an object, or what it overrides, comes from; None for one of this file."""
    reference = obj.override_library.reference if obj.override_library is not None else None
    return obj.library or (reference.library if reference is not None else None)


def is_linked(obj: Any) -> bool:
    """Whether the object or its mesh is another file's."""
    blocks = [block for block in (obj, obj.data) if block is not None]
    return any(block.library is not None or block.override_library is not None for block in blocks)


def own_bodies(scene: Any) -> list[Any]:
    """The bodies of a scene but those of other files, which are baked there."""
    enabled = (obj for obj in scene.objects if obj.type == "MESH" and obj.sinew.enabled)
    return [obj for obj in enabled if not is_linked(obj)]


def linked_words(obj: Any) -> str:
    """What an object of another file is, in a sentence; "" for one of this file."""
    if not is_linked(obj):
        return ""
    kind = "a library override" if obj.override_library is not None else "linked from another file"
    return f"“{obj.name}” is {kind}."


def out_of_view(words: str, kind: type[SinewError] = MeshError) -> SinewError:
    """The refusal of an object, named in words, that no view layer shows, so that nothing evaluates it."""
    return kind(f"{words} is not part of the view layer.", "Enable its collection in the Outliner.")


def is_in(layer: Any, obj: Any) -> bool:
    """Whether a view layer has an object. A script may have linked it just now: Blender 5.2 fills the layer's list only
    when more than a name is asked of it.
    """
    _ = layer.objects.active
    return holds(layer.objects, obj)


def holds(objects: Any, obj: Any) -> bool:
    """Whether a list of Blender's has an object; one that is linked may have the name of a local one beside it."""
    found = objects.get(obj.name)
    return found == obj or (found is not None and any(each == obj for each in objects))
