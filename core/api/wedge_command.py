"""``sinew wedge SCENE.toml TABLE.csv --out FOLDER``: variants of a scene file, one per row of a table."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..foundation.errors import SinewError, StoreError, system_words
from ..foundation.process.process_memory import keep_freed
from ..jobs.wedges.wedge_options import add_options
from ..jobs.wedges.wedge_results import DONE, FAILED, SHEET, TABLE, undone_words
from ..jobs.wedges.wedge_table import chosen
from .sweeps import Sweep, run_sweep


def main(arguments: list[str]) -> int:
    """Run the command. Return the exit code: 0 if all variants are done, 1 otherwise, 3 if stopped and resumable."""
    parser = argparse.ArgumentParser(prog="sinew wedge", description="Simulate variants of a scene file.")
    parser.add_argument("scene", type=Path, metavar="SCENE.toml", help="scene file; it is not changed")
    add_options(parser)
    options = parser.parse_args(arguments)
    keep_freed()
    try:
        variants = Sweep(options.scene, options.table, options.out)
        rows = chosen(variants.rows, *options.rows) if options.rows else variants.rows
        if options.jobs > 1:  # the processes share the processor
            os.environ.setdefault("NUMBA_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // options.jobs)))
        if not options.collect:
            run_sweep(variants, rows, options.jobs if options.jobs > 1 else None, _print)
        if not options.rows:
            undone = undone_words(variants.collect(_print))
            _print(f"wrote {options.out / TABLE} and {SHEET}")
            if undone:
                raise StoreError(undone, "")
        fine = (DONE, FAILED) if options.record_failures else (DONE,)
        return 1 if variants.unfinished(rows, fine) else 0
    except (SinewError, OSError) as error:
        print(f"sinew: {error if isinstance(error, SinewError) else system_words(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _print("stopped; the same command continues after the last complete frames")
        return 3


def _print(words: str) -> None:
    print(f"sinew: {words}", file=sys.stderr, flush=True)
