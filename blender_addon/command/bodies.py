"""Selection of the objects that a command works on."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.foundation.errors import SinewError, StoreError
from ..bake import bake_queue
from ..objects.linked import is_linked
from . import NothingToBake


def check_loaded() -> None:
    """Raise StoreError if no .blend is loaded. Blender opens its default scene if the file is missing."""
    if not bpy.data.filepath:
        raise StoreError("No .blend is loaded.", "Check the path of the .blend on the command line.")


def bodies_of_scene(name: str | None) -> list[Any]:
    """Return the scene's bodies in baking order.

    Each body follows its colliders and its vertex parent. Linked bodies are left out. If ``name`` is not None, only the
    body with this name is returned. Raises StoreError if the scene has no body, or if no object ``name`` has Sinew
    enabled.
    """
    scene = bpy.context.scene
    if name is None:
        bodies = bake_queue.bodies_of(scene)
        if not bodies:
            if any(obj.type == "MESH" and obj.sinew.enabled for obj in scene.objects):
                raise NothingToBake("All bodies of the scene are linked from other files.", "Bake them there.")
            raise NothingToBake("No object of the scene has Sinew enabled.", "Enable it in the Physics tab and save.")
        return bodies
    named = [obj for obj in scene.objects if obj.name == name]
    obj = min(named, key=is_linked, default=None)  # a linked object may have the name of a local one
    if obj is None:
        names = ", ".join(o.name for o in scene.objects) or "none"
        raise StoreError(f"The scene has no object “{name}”.", f"It has {names}.")
    if not obj.sinew.enabled:
        raise StoreError(f"“{name}” does not have Sinew enabled.", "Enable it in the Physics tab and save.")
    return [obj]


def all_in_one(refused: list[SinewError], total: int) -> SinewError:
    """Return one error with the messages of all errors in ``refused``, out of ``total`` bodies.

    A single error is returned unchanged.
    """
    if len(refused) == 1:
        return refused[0]
    return SinewError(f"{len(refused)} of {total} bodies failed. " + " ".join(str(error) for error in refused), "")
