"""Objects linked from other files.

A linked object is baked in its own file, or made a library override first. An override is baked in this file, on a
duplicate, and its library is not changed.
"""

from __future__ import annotations

from typing import Any

from ...core.foundation.errors import MeshError, SinewError
from ..translations.translate import marked

REMEDY = (
    "Make it a library override (Object > Library Override > Make) to bake it here, or bake it in its own file with "
    "Result set to Mesh Cache, which plays here, too."
)
BAKED_THERE = (
    "Delete its bake in its own file, or make it local here (Object > Relations > Make Local > Selected Objects and "
    "Data)."
)
MESH_ELSEWHERE = marked("The mesh is linked: edit pins and maps in its own file")


def library_of(obj: Any) -> Any | None:
    """Return the library with the bake of an object. A bake that belongs to this file returns None."""
    return obj.override_library.reference.library if plays_its_library(obj) else obj.library


def plays_its_library(obj: Any) -> bool:
    """Return True if an object is a library override that plays the bake of its linked object."""
    reference = obj.override_library.reference if obj.override_library is not None else None
    if reference is None or reference.type != "MESH":
        return False
    own, there = obj.sinew.bake, reference.sinew.bake
    return bool(there.folder) and (own.folder, own.home) == (there.folder, there.home)


def is_linked(obj: Any) -> bool:
    """Return True if an object is linked, or is a library override that plays the linked bake."""
    return obj.library is not None or plays_its_library(obj)


def has_linked_mesh(obj: Any) -> bool:
    """Return True if the mesh of an object is linked or a library override.

    Shape keys and weights written to such a mesh are lost when the file is loaded again.
    """
    return obj.data is not None and (obj.data.library is not None or obj.data.override_library is not None)


def own_bodies(scene: Any) -> list[Any]:
    """Return the bodies of a scene that are baked in this file. Linked bodies are left out."""
    enabled = (obj for obj in scene.objects if obj.type == "MESH" and obj.sinew.enabled)
    return [obj for obj in enabled if not is_linked(obj)]


def linked_words(obj: Any) -> str:
    """Return the reason why an object from another file cannot be baked here. The text is empty if it can be."""
    if obj.library is not None:
        return f"“{obj.name}” is linked from another file. {REMEDY}"
    return (
        f"“{obj.name}” is a library override that plays the bake of its library. {BAKED_THERE}"
        if is_linked(obj)
        else ""
    )


def out_of_view(words: str, kind: type[SinewError] = MeshError) -> SinewError:
    """Return an error of type ``kind`` about an object that is not in the view layer. ``words`` describe the object."""
    return kind(f"{words} is not part of the view layer.", "Enable its collection in the Outliner.")


def is_in(layer: Any, obj: Any) -> bool:
    """Return True if a view layer contains an object.

    The answer is right even if a script has just linked the object, when Blender 5.2 has an outdated list of names.
    """
    _ = layer.objects.active
    return holds(layer.objects, obj)


def holds(objects: Any, obj: Any) -> bool:
    """Return True if ``objects``, a Blender collection of objects, contains ``obj``.

    A lookup by name is not enough: a linked object may have the same name.
    """
    found = objects.get(obj.name)
    return found == obj or (found is not None and any(each == obj for each in objects))
