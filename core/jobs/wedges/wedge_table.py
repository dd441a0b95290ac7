"""Wedge tables: one variant of a scene per row, and one setting per column.

    name,Flesh.youngs_modulus,solver.substeps
    soft,1e4,2
    stiff,1e6,

An empty cell leaves the scene's own value. Without the column ``name``, or with an empty cell in it, the name is made
of the values. The separator is a comma, a semicolon or a tab.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...foundation.errors import SettingsError, SinewError
from ...foundation.files.array_file import open_regular
from ...foundation.files.file_names import check_names
from ...foundation.files.text_file import text_of
from ...foundation.schema.setting_fields import shown
from .setting_names import Names, check_value, targets_of

NAME = "name"


@dataclass(frozen=True)
class Row:
    """Variant of a scene. ``number``: number of the row, from 1 below the heading. ``settings``: values by column."""

    number: int
    name: str
    settings: dict[str, Any]


def read_table(path: Path, names: Names, apply: Callable[[dict[str, Any]], None]) -> list[Row]:
    """Return the rows of a CSV file, checked as by :func:`rows_of`."""
    try:
        with open_regular(path) as file:
            text = text_of(file.read())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SettingsError(f"The table {path} cannot be read ({reason}).", "Save it as CSV.") from error
    heading = text.partition("\n")[0]
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=heading.count)))
    columns = [cell.strip() for cell in lines[0]] if lines else []
    for k, column in enumerate(columns):
        if not column or column in columns[:k]:
            problem = "appears twice" if column else "has no heading"
            raise SettingsError(f"The heading of {path.name}: column {k + 1} {problem}.", "Name a setting above it.")
    rows = []
    for number, cells in enumerate((line for line in lines[1:] if any(map(str.strip, line))), start=1):
        if len(cells) > len(columns):
            raise SettingsError(
                f"Row {number} of {path.name} has {len(cells)} cells for {len(columns)} columns.", "Quote its commas."
            )
        values = {column: cell.strip() for column, cell in zip(columns, cells) if cell.strip()}
        rows.append({column: cell if column == NAME else _value(cell) for column, cell in values.items()})
    with _prefixed(f"The heading of {path.name}: "):
        _check_columns([column for column in columns if column != NAME], names)
    with _prefixed(f"{path.name}: "):
        return rows_of(rows, names, apply)


def rows_of(rows: Sequence[Mapping[str, Any]], names: Names, apply: Callable[[dict[str, Any]], None]) -> list[Row]:
    """Return the variants that mappings from columns to values describe.

    ``names``: names of the scene's settings. ``apply``: function that checks the settings of a variant together. Raises
    SettingsError, with the row and the column, for an unknown column or a wrong value.
    """
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, Mapping) for row in rows):
        raise SettingsError(f"The rows are {shown(rows)}.", 'Give a list of dicts, such as [{"solver.substeps": 2}].')
    if not rows:
        raise SettingsError("The table has no rows.", "Add a row of values for each variant.")
    found = []
    for number, row in enumerate(rows, start=1):
        settings = {str(column): value for column, value in row.items() if column != NAME}
        name = str(row.get(NAME) or _name_of(settings))
        with _prefixed(f"Row {number} (“{name}”): "):
            _check_columns(settings, names)
            for column, value in settings.items():
                with _prefixed(f"column “{column}”: "):
                    for target in names[column]:
                        check_value(target, value)
            apply(settings)
        found.append(Row(number, name, settings))
    check_names([row.name for row in found], "variant")
    return found


def chosen(rows: Sequence[Row], first: int, last: int) -> list[Row]:
    """Return the rows ``first`` to ``last``. Raises SettingsError if one of them does not exist."""
    if not 1 <= first <= last <= len(rows):
        raise SettingsError(
            f"The table has no rows {first}-{last}.", f"Its {len(rows)} rows are counted from 1, below the heading."
        )
    return list(rows[first - 1 : last])


def _check_columns(columns: Sequence[str] | Mapping[str, Any], names: Names) -> None:
    for k, column in enumerate(columns):
        with _prefixed(f"column {k + 1}, “{column:.80}”, "):
            targets_of(names, column)


def _name_of(settings: Mapping[str, Any]) -> str:
    words = (f"{column.rpartition('.')[2]}-{value}" for column, value in settings.items())
    return re.sub(r"[^\w.+-]+", "_", "_".join(words)).strip("_.") or "unchanged"


def _value(cell: str) -> Any:
    """Return the value that the text of a cell stands for: a number, a switch, a list or the text."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    try:
        return tomllib.loads(f"value = {cell}")["value"] if cell.startswith("[") else cell
    except tomllib.TOMLDecodeError:
        return cell


@contextmanager
def _prefixed(words: str) -> Iterator[None]:
    """Context that prefixes the messages of SinewErrors."""
    try:
        yield
    except SinewError as error:
        raise type(error)(f"{words}{error.message}", error.remedy) from error
