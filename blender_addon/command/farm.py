"""``sinew farm``: job templates for render farms, by default in a folder beside the .blend.

The templates in ``farm_files`` are copied unchanged. A separate file has the parameter values of the .blend, so that
one template serves every shot.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
from pathlib import Path
from typing import Any

from ...core.foundation.errors import StoreError, refusing
from ...core.foundation.files.array_file import open_own
from ..blend_data.stored_paths import is_utf8, readable
from .console import ConsoleReporter, say
from .scenes import in_scene

TEMPLATES = Path(__file__).with_name("farm_files")


def main(options: argparse.Namespace, tell: ConsoleReporter) -> int:
    """Write the job templates into a folder, with the parameter values of an open .blend. Returns the exit code."""
    import bpy

    scene = Path(bpy.data.filepath) if bpy.data.filepath else None
    if not is_utf8(bpy.data.filepath):
        raise StoreError(
            f"The path {readable(bpy.data.filepath)} is not UTF-8.", "Rename the file or folder shown with “?”."
        )
    folder = Path(options.output) if options.output else (scene or Path.cwd() / "_").with_name("sinew_farm")
    folder = folder.absolute()
    with refusing(f"{folder} cannot be written", "Choose another folder with --output."):
        _copy_templates(folder, is_chosen=bool(options.output))
        if scene is not None:
            with in_scene(options, tell):
                _write_values(folder / "openjd", _render_values(scene, bpy.context.scene, options.scene), [])
                if options.wedge:
                    values = _wedge_values(scene, options)
                    _write_values(folder / "openjd_wedge", values, [values["Table"]])
    for line in _what_to_do(folder, scene, options.wedge):
        say(line)
    return 0


def _copy_templates(folder: Path, is_chosen: bool) -> None:
    """Copy the job templates into ``folder``; raise OSError if a link leads out of the folder.

    An untrusted project may contain such links. Only a folder that the user has chosen may itself be a link.
    """
    for source in sorted(path for path in TEMPLATES.rglob("*") if path.is_file()):
        target = folder / source.relative_to(TEMPLATES)
        top = folder if is_chosen else folder.parent
        if os.path.realpath(target.parent) != os.path.join(os.path.realpath(top), target.parent.relative_to(top)):
            raise OSError(errno.ELOOP, f"{target.parent} is a link out of the output folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_own(target, "wb") as file:
            file.write(source.read_bytes())


def _render_values(blend: Path, scene: Any, scene_name: str) -> dict[str, str]:
    """Return the parameter values of a job that bakes and renders.

    ``scene_name`` may be "" only for the active scene of the .blend.
    """
    step = f":{scene.frame_step}" if scene.frame_step > 1 else ""
    return {
        "SceneFile": str(blend),
        "SceneName": scene_name,
        "Frames": f"{scene.frame_start}-{scene.frame_end}{step}",
        "OutputDir": str(blend.parent / f"{blend.stem}_render"),
        "ImageName": f"{blend.stem}_####",
    }


def _wedge_values(blend: Path, options: argparse.Namespace) -> dict[str, str]:
    """Return the parameter values of a job that bakes the variants of a table. Raises SettingsError for a bad table."""
    from .wedge import checked_rows  # imported on demand: it bakes

    table = Path(options.wedge).absolute()
    return {
        "SceneFile": str(blend),
        "SceneName": options.scene,
        "Table": str(table),
        "Rows": f"1-{len(checked_rows(table))}",
        "OutputDir": str(blend.parent / f"{blend.stem}_wedge"),
    }


def _write_values(folder: Path, values: dict[str, str], inputs: list[str]) -> None:
    """Write an AWS Deadline Cloud job bundle's parameter values and list of needed files into ``folder``.

    ``inputs``: needed files besides those of the .blend. Raises StoreError if a path is not UTF-8.
    """
    import bpy

    listed = [{"name": name, "value": value} for name, value in values.items()]
    used = sorted(
        {*inputs, *(str(Path(path)) for path in bpy.utils.blend_paths(absolute=True, packed=False, local=False))}
    )
    if unclear := [path for path in used if not is_utf8(path)]:
        raise StoreError(f"The path {readable(unclear[0])} is not UTF-8.", "Rename that file or folder.")
    references = {
        "inputs": {"filenames": [path for path in used if os.path.isfile(path)], "directories": []},
        "outputs": {"directories": []},
        "referencedPaths": [],
    }
    _write(folder / "parameter_values.json", {"parameterValues": listed})
    _write(folder / "asset_references.json", {"assetReferences": references})


def _write(path: Path, content: dict[str, Any]) -> None:
    with open_own(path, "w") as file:
        file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _what_to_do(folder: Path, scene: Path | None, wedge: str | None) -> list[str]:
    lines = [f"wrote {folder}"]
    if scene is not None:
        bundle = folder / ("openjd_wedge" if wedge else "openjd")
        lines.append(f"AWS Deadline Cloud: deadline bundle submit {bundle}")
    lines.append(f"Open Job Description: openjd run {folder / 'openjd' / 'template.yaml'} --help")
    lines.append(f"Flamenco: copy {folder / 'flamenco'}/*.js into the folder scripts beside flamenco-manager")
    return lines
