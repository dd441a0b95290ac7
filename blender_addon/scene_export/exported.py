"""Baked objects -> Alembic and USD, by Blender's exporters, which write what is evaluated at each frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

MESHES = {"flatten": False, "uvs": True, "normals": True, "vcolors": True, "apply_subdiv": True}
"""Alembic's options for meshes."""
POSITIONS = {"export_animation": True, "export_shapekeys": False, "export_armatures": False, "export_hair": False}
"""USD gets the evaluated positions, and no shape keys or armatures of its own, which would stand for them.
"""


def export(objects: Sequence[Any], context: Any, path: Path, kind: str, frames: tuple[int, int]) -> None:
    """Write objects to an ``ALEMBIC`` or ``USD`` file over frames, both included; RuntimeError where Blender cannot."""
    if kind == "USD" and frames[0] < 0:  # a scene's range begins there at least, and USD has no other
        raise RuntimeError(f"Blender writes USD from frame 0 on, and the bake begins at {frames[0]}: choose Alembic.")
    with _only(objects, context, frames):
        if kind == "ALEMBIC":
            span = {"start": frames[0], "end": frames[1]}
            bpy.ops.wm.alembic_export(
                filepath=str(path), selected=True, evaluation_mode="RENDER", as_background_job=False, **span, **MESHES
            )
        else:
            bpy.ops.wm.usd_export(
                filepath=str(path), selected_objects_only=True, evaluation_mode="RENDER", **POSITIONS, **_textures()
            )


def _textures() -> dict[str, Any]:
    """Options by which textures come into a folder beside the file: their paths in it hold after it is moved."""
    by_mode = "export_textures_mode" in bpy.ops.wm.usd_export.get_rna_type().properties  # since 4.4
    return {"export_textures_mode": "NEW"} if by_mode else {"export_textures": True}


@contextmanager
def _only(objects: Sequence[Any], context: Any, frames: tuple[int, int]) -> Iterator[None]:
    """Within it, just these objects are selected, and these frames are the scene's; the present one comes back, too."""
    layer, scene = context.view_layer, context.scene
    for obj in objects:
        if layer.objects.get(obj.name) != obj:
            raise RuntimeError(f"“{obj.name}” is not part of the view layer: enable its collection in the Outliner.")
    before, active = [obj for obj in layer.objects if obj.select_get()], layer.objects.active
    span, frame, part = (scene.frame_start, scene.frame_end), scene.frame_current, scene.frame_subframe
    try:
        scene.frame_start, scene.frame_end = frames
        for obj in layer.objects:
            obj.select_set(obj in objects)
        yield
    finally:
        for obj in layer.objects:
            obj.select_set(obj in before)
        layer.objects.active = active
        scene.frame_start, scene.frame_end = span
        scene.frame_set(frame, subframe=part)
