"""Options of ``sinew wedge``, for scene files and for .blend files."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a wedge of any scene."""
    parser.add_argument("table", type=Path, metavar="TABLE.csv", help="one variant per row, one setting per column")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the variants, results.csv and the pictures"
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="variants baked at once (default: 1)")
    words = "exit code 0 for a variant that fails with a reason; --collect then gives it"
    parser.add_argument("--record-failures", action="store_true", help=words)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--row", "--rows", dest="rows", type=_rows, metavar="N or A-B", help="only these rows, from 1 below the heading"
    )
    which.add_argument("--collect", action="store_true", help="only write the table and the contact sheet")


def _rows(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return positive(first), positive(last or first)


def positive(text: str) -> int:
    """Return the whole number above 0 that an option's text stands for."""
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number such as 2")
    return int(text)
