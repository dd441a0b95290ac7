"""``sinew bake --render``: rendering of the scene's frames, with the scene's own settings.

Blender renders into a temporary folder inside the output folder, from which complete images are moved. So a killed
process leaves no partial images in the output folder. An image newer than the .blend is up to date.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import RenderError, refusing
from .file_dates import is_newer

PARTIAL = ".sinew-rendering"
"""Name of the folder of unfinished images, beside the finished images."""


def render_frames(say: Callable[[str], None], caught: list[signal.Signals], keep_current: bool) -> None:
    """Render the scene's frame range.

    ``say`` prints one line per frame. Rendering stops after a frame once ``caught`` holds a signal. With
    ``keep_current``, frames with images newer than the .blend are skipped. Raises RenderError if a frame cannot be
    rendered.
    """
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1, scene.frame_step)
    if scene.render.is_movie_format:
        frames = frames[:1]  # one file for all frames
    saved = os.stat(bpy.data.filepath).st_mtime_ns
    before, began, kept = scene.frame_current, time.monotonic(), 0
    try:
        for k, frame in enumerate(frames, start=1):
            if caught:
                return
            images = _images(scene, frame)
            if _there(images, scene, saved if keep_current else None):
                kept += 1
                continue
            _render(scene, frame, images[0].parent)
            elapsed = time.monotonic() - began
            left = elapsed / (k - kept) * (len(frames) - k)
            say(f"rendered {images[0]} ({k}/{len(frames)}) elapsed {elapsed:.0f} s, remaining {left:.0f} s")
    finally:
        scene.frame_set(before)
    say(f"rendered {len(frames) - kept}, kept {kept} of {len(frames)} in {images[0].parent}")


def _images(scene: Any, frame: int) -> list[Path]:
    """Return the paths of a frame's images, one per view."""
    render = scene.render
    views = [view.name for view in render.views if view.use] if render.use_multiview else [""]
    # The path may contain an invalid template.
    with refusing("The output path is not valid", "Correct it under Output Properties.", RenderError, RuntimeError):
        return [Path(bpy.path.abspath(render.frame_path(frame=frame, view=view))) for view in views]


def _there(images: list[Path], scene: Any, newer_than: int | None) -> bool:
    """Return True if a frame need not be rendered; ``newer_than`` is in ns since 1970."""
    if not all(os.path.isfile(image) for image in images):
        return False
    if not scene.render.use_overwrite:
        return True
    return newer_than is not None and all(is_newer(image, newer_than) for image in images)


def _render(scene: Any, frame: int, folder: Path) -> None:
    render = scene.render
    with _partial(folder) as partial, _output(render):
        name = Path(render.frame_path(frame=frame)).name
        remedy = "Render it in Blender for details."
        with refusing(f"Frame {frame} cannot be rendered", remedy, RenderError, (RuntimeError, OSError)):
            if render.is_movie_format:
                render.filepath = str(partial / Path(bpy.path.abspath(render.filepath)).name)
                bpy.ops.render.render(animation=True)
            else:
                scene.frame_set(frame)
                render.filepath = str(partial / name)
                bpy.ops.render.render(write_still=True)
        made = sorted(partial.iterdir())
        if not made:
            raise RenderError(f"Blender wrote no image of frame {frame}.", "Check the output settings of the scene.")
        with refusing(f"The images of frame {frame} cannot be moved to {folder}", "Free disk space.", RenderError):
            for image in made:
                image.replace(folder / image.name)


@contextmanager
def _partial(folder: Path) -> Iterator[Path]:
    """Create a folder for unfinished images within the context."""
    partial = folder / PARTIAL
    remedy = "Choose another output folder under Output Properties."
    with refusing(f"The folder {folder} cannot be written", remedy, RenderError):
        shutil.rmtree(partial, ignore_errors=True)  # left by a killed render
        partial.mkdir(parents=True)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _output(render: Any) -> Iterator[None]:
    before = render.filepath
    try:
        yield
    finally:
        render.filepath = before
