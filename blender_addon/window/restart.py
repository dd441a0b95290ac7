"""Check whether an update has installed other wheels than those loaded, so that Blender must restart.

Compiled modules cannot be unloaded: after an update the old modules stay in memory, although their files are new.
"""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"

_needed = ""


def look(manifest: Path = MANIFEST) -> None:
    """Compare the loaded packages with the wheels listed in the extension's ``manifest``, for :func:`needed`.

    Without a manifest, as in a checkout, nothing is compared.
    """
    global _needed
    _needed = ""
    if not manifest.is_file():
        return
    files = tomllib.loads(manifest.read_text(encoding="utf-8")).get("wheels", [])
    changed = [
        words for name in sorted({Path(file).name.partition("-")[0] for file in files}) if (words := _change(name))
    ]
    if changed:
        _needed = f"Restart Blender to finish the update: {', '.join(changed)}"
        print(f"Sinew: {_needed}")


def needed() -> str:
    """Return the reason why Blender must be restarted. The text is empty if no restart is needed."""
    return _needed


def _change(name: str) -> str:
    """Return a text about a package whose loaded version differs from the installed one, or ""."""
    module = sys.modules.get(name)
    loaded = getattr(module, "__version__", None)
    if loaded is None:
        return ""
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return f"{name} {loaded} is loaded and no longer installed"
    return "" if installed == loaded else f"{name} {loaded} is loaded, {installed} installed"
