"""Baked objects -> Alembic and USD, by Blender's exporters, which write what is evaluated at each frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy


def export_alembic(objects: Sequence[Any], context: Any, path: Path, frames: tuple[int, int]) -> None:
    """Write objects over frames, both included; RuntimeError where Blender cannot."""
    with _only(objects, context):
        bpy.ops.wm.alembic_export(
            filepath=str(path),
            start=frames[0],
            end=frames[1],
            selected=True,
            flatten=False,
            uvs=True,
            normals=True,
            vcolors=True,
            apply_subdiv=True,
            evaluation_mode="RENDER",
            as_background_job=False,
        )


def export_usd(objects: Sequence[Any], context: Any, path: Path, frames: tuple[int, int]) -> None:
    """The same. Without shape keys and armatures of USD's own: they would stand for the positions, which absolute keys
    and simulated deformations are not.
    """
    scene = context.scene
    before = scene.frame_start, scene.frame_end
    try:
        scene.frame_start, scene.frame_end = frames
        with _only(objects, context):
            bpy.ops.wm.usd_export(
                filepath=str(path),
                selected_objects_only=True,
                export_animation=True,
                export_shapekeys=False,
                export_armatures=False,
                export_hair=False,
                evaluation_mode="RENDER",
            )
    finally:
        scene.frame_start, scene.frame_end = before


@contextmanager
def _only(objects: Sequence[Any], context: Any) -> Iterator[None]:
    """Within it, just these objects are selected; the present frame comes back, too."""
    layer, scene = context.view_layer, context.scene
    for obj in objects:
        if layer.objects.get(obj.name) != obj:
            raise RuntimeError(f"“{obj.name}” is not part of the view layer: enable its collection in the Outliner.")
    before, active = [obj for obj in layer.objects if obj.select_get()], layer.objects.active
    frame, part = scene.frame_current, scene.frame_subframe
    try:
        for obj in layer.objects:
            obj.select_set(obj in objects)
        yield
    finally:
        for obj in layer.objects:
            obj.select_set(obj in before)
        layer.objects.active = active
        scene.frame_set(frame, subframe=part)
