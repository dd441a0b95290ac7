"""``sinew bake --export``: the bodies as Alembic or USD files beside the .blend."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import SettingsError
from ..bake import baking
from .console import ConsoleReporter, say
from .file_dates import is_newer

FORMATS = {"abc": ("ALEMBIC", ".abc", "alembic"), "usd": ("USD", ".usdc", "usd")}
"""Format, file extension and build option in ``bpy.app``, by the value of ``--export``."""


def check_formats(words: Sequence[str]) -> None:
    """Raise SettingsError if this build of Blender cannot write a format in ``words`` (``abc``, ``usd``)."""
    for word in words:
        kind, _, build_option = FORMATS[word]
        if not getattr(bpy.app, build_option).supported:
            raise SettingsError(
                f"This build of Blender cannot export {kind.capitalize()}.", "Use a Blender from blender.org."
            )


def export_bodies(
    bodies: Sequence[Any], words: Sequence[str], blend: Path, keep_current: bool, tell: ConsoleReporter
) -> None:
    """Export all bodies to one file per format in ``words`` (``abc``, ``usd``), beside ``blend``.

    With ``keep_current``, a file newer than the .blend is kept. Raises StoreError if a file cannot be written.
    """
    for word in words:
        kind, ending, _ = FORMATS[word]
        path = blend.with_suffix(ending)
        if keep_current and os.path.isfile(path) and is_newer(path, blend.stat().st_mtime_ns):
            say(f"kept {path}")
            continue
        first, last = baking.export(bodies, bpy.context, path, kind)
        say(f"exported frames {first}-{last} to {path}")
        tell.event("exported", path=str(path), first=first, last=last)
