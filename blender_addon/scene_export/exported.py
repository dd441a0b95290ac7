"""Export of baked objects to Alembic and USD by Blender's exporters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

MESHES = {"flatten": False, "uvs": True, "normals": True, "vcolors": True, "apply_subdiv": True}
"""Alembic export options for meshes."""
POSITIONS = {"export_animation": True, "export_shapekeys": False, "export_armatures": False, "export_hair": False}
"""USD export options: evaluated positions only. Shape keys and armatures would replace the positions."""


def export(objects: Sequence[Any], context: Any, path: Path, kind: str, frames: tuple[int, int]) -> None:
    """Export objects to the file ``path``, for all frames from ``frames[0]`` to ``frames[1]``.

    ``kind``: ALEMBIC or USD. Raises RuntimeError if the export fails.
    """
    if kind == "USD" and frames[0] < 0:  # USD exports the scene's frame range, which cannot be negative
        raise RuntimeError(f"USD has no negative frames, but the bake begins at frame {frames[0]}: choose Alembic.")
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
    """Return the USD export options that copy textures to a folder beside the file."""
    by_mode = "export_textures_mode" in bpy.ops.wm.usd_export.get_rna_type().properties  # since 4.4
    return {"export_textures_mode": "NEW"} if by_mode else {"export_textures": True}


@contextmanager
def _only(objects: Sequence[Any], context: Any, frames: tuple[int, int]) -> Iterator[None]:
    """Select only ``objects`` and set the scene's frame range within the context."""
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
