"""``sinew wedge``: variants of a .blend, one per row of a table of settings, each baked in its own folder.

A variant is a copy of the .blend with the settings of its row, in ``FOLDER/NAME``. The source file never changes. One
row is baked in this process, several in a Blender process each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import RenderError, SinewError, StoreError, refusing
from ...core.foundation.files.digest import digest
from ...core.jobs.wedges.wedge_results import (
    DONE,
    FAILED,
    PICTURE,
    SHEET,
    STARTED,
    TABLE,
    any_record,
    cells_of,
    measured,
    read_record,
    undone_words,
    variant_folder,
    write_record,
    write_results,
)
from ...core.jobs.wedges.wedge_table import Row, chosen, read_table
from ..bake import baking
from . import FAILED as FAILED_CODE
from . import bake
from .batch import Task, run_tasks
from .bodies import bodies_of_scene, check_loaded
from .console import ConsoleReporter, say
from .contact_sheet import make_sheet, render_still
from .file_dates import is_newer
from .options import parser
from .scenes import in_scene
from .wedge_properties import applied, names_of_bodies


def main(options: argparse.Namespace, tell: ConsoleReporter) -> int:
    """Bake the variants that ``options`` ask for, and collect their results. Returns the exit code."""
    check_loaded()
    source, folder = Path(bpy.data.filepath), Path(options.out).absolute()
    with in_scene(options, tell):
        rows = checked_rows(options.table)
    prints = _fingerprints(source, rows, options)
    asked = chosen(rows, *options.rows) if options.rows else rows
    code = 0
    if options.rows and len(asked) == 1:
        return _bake_row(asked[0], prints[asked[0].number - 1], folder, options, tell)
    if not options.collect:
        code = _bake_rows(source, asked, prints, folder, options)
    if not options.rows and code in (0, FAILED_CODE):
        found = write_results(folder, rows, prints)
        make_sheet(folder / SHEET, cells_of(folder, found))
        say(f"wrote {folder / TABLE} and {SHEET}")
        if undone := undone_words(found):
            raise StoreError(undone, "")
    return code


def checked_rows(table: Path) -> list[Row]:
    """Return the rows of a table of settings of the active scene's bodies. Raises SettingsError for a bad table."""
    bodies = bodies_of_scene(None)
    names = names_of_bodies(bodies)

    def check(settings: dict[str, Any]) -> None:
        with applied(bodies, names, settings):
            pass

    return read_table(table, names, check)


def _fingerprints(source: Path, rows: Sequence[Row], options: argparse.Namespace) -> list[str]:
    """Return the fingerprint of the .blend, the options and the settings of each row."""
    with open(source, "rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    settings = (json.dumps([row.settings, options.frames, options.scene], sort_keys=True) for row in rows)
    return [digest(content, each) for each in settings]


def _bake_rows(
    source: Path, rows: Sequence[Row], prints: Sequence[str], folder: Path, options: argparse.Namespace
) -> int:
    """Bake variants, each in its own Blender process, which is started once more if it dies. Returns the exit code.

    A second death is recorded as a failure of the variant.
    """
    shared = [str(options.table.absolute()), f"--out={folder}"]
    shared += [f"--frames={options.frames[0]}-{options.frames[1]}"] if options.frames else []
    shared += [f"--scene={options.scene}"] if options.scene else []
    shared += ["--record-failures"] if options.record_failures else []
    tasks = [
        Task(source, row.name, words=["wedge", *shared, f"--row={row.number}"], log=row.name, retries=1) for row in rows
    ]
    code = run_tasks(tasks, options, "variants")
    for row, task in zip(rows, tasks):
        fingerprint = prints[row.number - 1]
        is_started = read_record(folder, row, fingerprint).get("outcome") == STARTED
        if task.has_died or task.outcome == "failed" and is_started:
            write_record(folder, row, fingerprint, FAILED, task.last_message)
    return code


def _bake_row(row: Row, fingerprint: str, folder: Path, options: argparse.Namespace, tell: ConsoleReporter) -> int:
    """Bake one variant in this process, or resume its bake, and record the outcome. Returns the exit code."""
    blend = variant_folder(folder, row) / Path(bpy.data.filepath).name
    if not os.path.isfile(blend) or os.path.islink(blend) or not read_record(folder, row, fingerprint):
        _save_variant(blend, row, fingerprint, folder, options, tell)
    trust = {"use_scripts": True} if options.enable_autoexec else {}  # by default, as Blender was started
    bpy.ops.wm.open_mainfile(filepath=str(blend), load_ui=False, **trust)
    words = ["--update", f"--scene={options.scene}"]
    words += [f"--frames={options.frames[0]}-{options.frames[1]}"] if options.frames else []
    try:
        code = bake.main(parser("bake", False).parse_args(words), tell)
    except SinewError as error:
        write_record(folder, row, fingerprint, FAILED, str(error))
        if not options.record_failures:
            raise
        say(f"{row.name}: failed. {error}")
        return 0
    if code == 0:
        with in_scene(options, tell):
            stores = {obj.name: baking.open_store(obj) for obj in bodies_of_scene(None)}
            write_record(folder, row, fingerprint, DONE, bodies=measured(stores))
            _render_picture(blend, max(store.frames()[-1] for store in stores.values()), tell)
    return code


def _save_variant(
    blend: Path, row: Row, fingerprint: str, folder: Path, options: argparse.Namespace, tell: ConsoleReporter
) -> None:
    """Save a copy of the open .blend with the settings of a row as ``blend``."""
    if os.path.lexists(blend):
        if not any_record(blend.parent) or os.path.samefile(blend, bpy.data.filepath):
            raise StoreError(f"{blend} is not from a wedge.", "Choose another output folder.")
        blend.unlink()  # with a record of this row, the file has the settings of this row
    write_record(folder, row, fingerprint, STARTED)
    with in_scene(options, tell):
        bodies = bodies_of_scene(None)
        for obj in bodies:  # frames of the source must not count as the variant's
            obj.sinew.bake.folder, obj.sinew.bake.status = "", "NONE"
        with applied(bodies, names_of_bodies(bodies), row.settings):
            with refusing(f"{blend} cannot be saved", "Choose another output folder.", of=RuntimeError):
                bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True, relative_remap=True)


def _render_picture(blend: Path, frame: int, tell: ConsoleReporter) -> None:
    path = blend.with_name(PICTURE)
    if os.path.isfile(path) and is_newer(path, blend.stat().st_mtime_ns):
        return
    try:
        render_still(path, frame)
    except RenderError as error:
        tell.warn("", f"The variant has no picture. {error}")
