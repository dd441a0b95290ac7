"""Results of a wedge: one record per variant in its folder, and a table of all of them."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.errors import StoreError, refusing
from ...foundation.files.array_file import open_regular, whole_file
from ..results.bake_report import read_report, write_report
from ..store.frame_store import FrameStore
from .wedge_table import Row

RECORD, PICTURE, TABLE, SHEET = "variant.json", "picture.png", "results.csv", "contact_sheet.png"
DONE, FAILED, STARTED = "done", "failed", "started"
_MEASURES = {
    "steps": "steps",
    "converged_steps": "converged steps",
    "iterations": "iterations",
    "seconds": "seconds",
    "largest_displacement": "largest displacement (m)",
    "contacts": "contacts",
    "nearest": "nearest (m)",
}
"""Columns of the table, by the keys of :func:`measured`."""


def variant_folder(folder: Path, row: Row) -> Path:
    """Create and return the folder of a variant. Raises StoreError if it is a link, or cannot be written."""
    own = folder / row.name
    with refusing(f"The folder {own} cannot be written", "Choose another output folder."):
        own.mkdir(parents=True, exist_ok=True)
    if os.path.realpath(own) != os.path.join(os.path.realpath(folder), row.name):
        raise StoreError(f"{own} is a link out of the output folder.", "Delete the link.")
    return own


def read_record(folder: Path, row: Row, fingerprint: str) -> dict[str, Any]:
    """Return the record of a variant, or {} if there is none of the same scene and settings."""
    record = any_record(folder / row.name)
    return record if record.get("fingerprint") == fingerprint else {}


def any_record(own: Path) -> dict[str, Any]:
    """Return the record in the folder of a variant, or {}."""
    try:
        with open_regular(own / RECORD) as file:
            record = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def write_record(folder: Path, row: Row, fingerprint: str, outcome: str, reason: str = "", **others: Any) -> None:
    """Write the record of a variant into its folder."""
    record = {"fingerprint": fingerprint, "outcome": outcome, "reason": reason, **others}
    with whole_file(variant_folder(folder, row) / RECORD) as file:
        file.write(json.dumps(record, indent=1).encode())


def measured(stores: Mapping[str, FrameStore]) -> dict[str, dict[str, Any]]:
    """Return numbers from the frames of each body, by name: the keys of ``_MEASURES``."""
    return {name: _measured(store) for name, store in stores.items()}


def _measured(store: FrameStore) -> dict[str, Any]:
    numbers, report, scale = store.frames(), read_report(store), store.job().length_factor
    rest = store.read(numbers[0])
    reached = (np.linalg.norm(store.read(frame) - rest, axis=1).max() for frame in numbers)
    steps = [step for frame in numbers for step in store.about(frame)["reports"]]
    return {
        "steps": len(steps),
        "converged_steps": sum(step.get("converged") is True for step in steps),
        "iterations": sum(frame.iterations for frame in report.frames),
        "seconds": round(report.seconds, 3),
        "largest_displacement": float(max(reached)) / scale,
        "contacts": max((frame.contacts for frame in report.frames), default=0),
        "nearest": min((frame.nearest / scale for frame in report.frames if frame.contacts), default=None),
    }


def results(folder: Path, rows: Sequence[Row], fingerprints: Sequence[str]) -> list[dict[str, Any]]:
    """Return the results of the variants: one dict per variant, and per body where it has several."""
    found = []
    for row, fingerprint in zip(rows, fingerprints):
        record = read_record(folder, row, fingerprint) or {"outcome": "not baked"}
        words = record["outcome"] if record["outcome"] != STARTED else "not finished"
        about = {"name": row.name, **row.settings, "outcome": words, "reason": record.get("reason", "")}
        bodies = record.get("bodies") or {"": {}}
        found += [about | {"body": body} | {key: of.get(key) for key in _MEASURES} for body, of in bodies.items()]
    return found


def cells_of(folder: Path, found: Sequence[dict[str, Any]]) -> list[tuple[str, Path]]:
    """Return the label and the picture of each variant, for a contact sheet. ``found``: the results."""
    words = {each["name"]: each["outcome"] for each in found}
    return [(name if word == DONE else f"{name}: {word}", folder / name / PICTURE) for name, word in words.items()]


def undone_words(found: Sequence[dict[str, Any]]) -> str:
    """Return a sentence with the variants that are not done, and the reasons, or "". ``found``: the results."""
    undone = {each["name"]: f"{each['outcome']}. {each['reason']}".strip() for each in found if each["outcome"] != DONE}
    said = " ".join(f"“{name}”: {words}" for name, words in undone.items())
    return f"{len(undone)} of {len({each['name'] for each in found})} variants are not done. {said}" if undone else ""


def write_results(folder: Path, rows: Sequence[Row], fingerprints: Sequence[str]) -> list[dict[str, Any]]:
    """Write the table of results, and return the results."""
    found = results(folder, rows, fingerprints)
    columns = dict.fromkeys(column for row in rows for column in row.settings)
    keys = {"name": "name", **{each: each for each in (*columns, "outcome", "body")}, **_MEASURES, "reason": "reason"}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(keys.values())
    writer.writerows([each.get(key) for key in keys] for each in found)
    write_report(folder / TABLE, text.getvalue())
    return found
