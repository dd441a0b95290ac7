"""Pictures of variants: a still of each .blend, and a contact sheet of them, both rendered by Blender."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import RenderError, refusing
from ...core.foundation.files.array_file import whole_files
from ..blend_data.temporary_scene import remove_scene

WIDTH, LABEL = 320, 24
"""Width of a picture, and height of its label, pixels."""


def render_still(path: Path, frame: int) -> None:
    """Render a frame of the active scene, small. Raises RenderError if that fails, as without a camera."""
    scene = bpy.context.scene
    if scene.camera is None:
        raise RenderError("The scene has no camera.", "Add one for the pictures of the variants.")
    scene.render.resolution_percentage = max(1, min(100, 100 * WIDTH // scene.render.resolution_x))
    scene.frame_set(frame)
    _render(scene, path)


def make_sheet(path: Path, cells: Sequence[tuple[str, Path]]) -> None:
    """Make a contact sheet of pictures. ``cells``: label and picture of each; a missing picture stays grey."""
    pictures = [_pixels(picture) if os.path.isfile(picture) else None for _label, picture in cells]
    height = max((len(picture) for picture in pictures if picture is not None), default=WIDTH // 2)
    across = math.ceil(math.sqrt(len(cells)))
    down = math.ceil(len(cells) / across)
    sheet = np.full((down * (height + LABEL), across * WIDTH, 4), (0.2, 0.2, 0.2, 1.0), dtype=np.float32)
    scene = _label_scene()
    with refusing(f"{path} cannot be written", "Free disk space."), whole_files(path.parent) as folder:
        for k, ((label, _path), picture) in enumerate(zip(cells, pictures)):
            row, column = divmod(k, across)
            low, left = (down - 1 - row) * (height + LABEL), column * WIDTH  # Blender's rows begin at the bottom
            scene.render.stamp_note_text = label
            _render(scene, folder / path.name)
            sheet[low : low + LABEL, left : left + WIDTH] = _pixels(folder / path.name)
            if picture is not None:
                sheet[low + LABEL : low + LABEL + len(picture), left : left + WIDTH] = picture
        image = bpy.data.images.new(path.name, sheet.shape[1], sheet.shape[0])
        image.pixels.foreach_set(sheet.ravel())
        image.filepath_raw, image.file_format = str(folder / path.name), "PNG"
        image.save()
        bpy.data.images.remove(image)
    remove_scene(scene)


def _label_scene() -> Any:
    """Return an empty scene, whose picture is the text of its stamp."""
    scene = bpy.data.scenes.new("Label")
    scene.camera = bpy.data.objects.new("Label", bpy.data.cameras.new("Label"))
    scene.collection.objects.link(scene.camera)
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
    render.resolution_x, render.resolution_y, render.resolution_percentage = WIDTH, LABEL, 100
    for name in (name for name in dir(render) if name.startswith("use_stamp_")):
        setattr(render, name, name == "use_stamp_note")
    render.use_stamp, render.stamp_font_size = True, 12
    return scene


def _render(scene: Any, path: Path) -> None:
    render = scene.render
    if hasattr(render.image_settings, "media_type"):  # from Blender 5.0 on
        render.image_settings.media_type = "IMAGE"
    render.image_settings.file_format, render.use_multiview = "PNG", False
    render.filepath = str(path)
    remedy = "Render it in Blender for details."
    with refusing(f"{path} cannot be rendered", remedy, RenderError, (RuntimeError, OSError)):
        bpy.ops.render.render(scene=scene.name, write_still=True)


def _pixels(path: Path) -> np.ndarray:
    """Return the pixels of a picture (height, WIDTH, 4), from the bottom row on, scaled to WIDTH."""
    image = bpy.data.images.load(str(path))
    try:
        if image.size[0] != WIDTH:
            image.scale(WIDTH, max(1, round(image.size[1] * WIDTH / max(1, image.size[0]))))
        pixels = np.empty(4 * image.size[0] * image.size[1], dtype=np.float32)
        image.pixels.foreach_get(pixels)
        return pixels.reshape(image.size[1], image.size[0], 4)
    finally:
        bpy.data.images.remove(image)
