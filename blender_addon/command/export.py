"""``sinew bake --export``: the bodies as Alembic, USD, glTF or FBX files beside the .blend."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import SettingsError
from ..bake import baking, engine_export
from ..scene_export.engine.engine_copies import EngineForm
from .console import ConsoleReporter, say
from .file_dates import is_newer

FORMATS = {"abc": ("ALEMBIC", ".abc", "alembic"), "usd": ("USD", ".usdc", "usd")}
"""Format, file extension and build option in ``bpy.app``, by the value of ``--export``. Others are for game engines."""


def check_formats(words: Sequence[str]) -> None:
    """Raise SettingsError if this build of Blender cannot write a format in ``words``."""
    for word in words:
        if word not in FORMATS:
            engine_export.check_exporter(word.upper())
            continue
        kind, _, build_option = FORMATS[word]
        if not getattr(bpy.app, build_option).supported:
            raise SettingsError(
                f"This build of Blender cannot export {kind.capitalize()}.", "Use a Blender from blender.org."
            )


def export_bodies(
    bodies: Sequence[Any],
    words: Sequence[str],
    blend: Path,
    keep_current: bool,
    form: EngineForm,
    tell: ConsoleReporter,
) -> None:
    """Export all bodies to one file per format in ``words``, beside ``blend``.

    ``form``: form of the bodies in .glb and .fbx files. With ``keep_current``, a file newer than the .blend is kept.
    Raises SinewError if a file cannot be written.
    """
    for word in words:
        path = blend.with_suffix(FORMATS[word][1] if word in FORMATS else f".{word}")
        if keep_current and os.path.isfile(path) and is_newer(path, blend.stat().st_mtime_ns):
            say(f"kept {path}")
            continue
        if word in FORMATS:
            first, last = baking.export(bodies, bpy.context, path, FORMATS[word][0])
        else:
            sent = engine_export.send(bodies, bpy.context, path, word.upper(), form)
            first, last = sent.first, sent.last
            for warning in engine_export.warnings(bodies, bpy.context.scene, sent, form):
                tell.warn("", warning)
        say(f"exported frames {first}-{last} to {path}")
        tell.event("exported", path=str(path), first=first, last=last)
