"""Detection of a needed restart: an update has installed other wheels than those that are loaded.

Compiled modules cannot be unloaded, so after an update the old ones stay in memory while their files are new.
"""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"

_needed = ""


def look(manifest: Path = MANIFEST) -> None:
    """Compare the loaded packages with the wheels installed by the extension's ``manifest``, and keep the message for
    :func:`needed`. Called when the extension is enabled; a checkout has no manifest, so nothing is compared.
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
    """Return the message that Blender must be restarted, with the reason; "" if no restart is needed."""
    return _needed


def _change(name: str) -> str:
    """Return a text about the package ``name`` if its loaded version differs from the installed one; "" if both are
    equal or it is not loaded.
    """
    module = sys.modules.get(name)
    loaded = getattr(module, "__version__", None)
    if loaded is None:
        return ""
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return f"{name} {loaded} is loaded and no longer installed"
    return "" if installed == loaded else f"{name} {loaded} is loaded, {installed} installed"
