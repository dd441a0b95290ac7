"""``sinew report``: reports on the bakes of a .blend."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...core.foundation.errors import SinewError
from ...core.jobs.results.bake_report import BakeReport, csv_of, write_report
from ..bake import baking
from .bodies import all_in_one, bodies_of_scene, check_loaded
from .console import ConsoleReporter, say
from .scenes import in_scene


def main(options: argparse.Namespace, tell: ConsoleReporter) -> int:
    """Print or write the report of each body. Returns the exit code.

    A body without a bake does not stop the reports of other bodies.
    """
    check_loaded()
    with in_scene(options, tell):
        return _report_scene(options)


def _report_scene(options: argparse.Namespace) -> int:
    reports: dict[str, BakeReport] = {}
    bodies, refused = bodies_of_scene(options.object), []
    for obj in bodies:
        try:
            reports[obj.name] = baking.report_of(obj)
        except SinewError as error:
            refused.append(error)
    text = _text(reports, options)
    if options.output is None:
        print(text, end="", flush=True)
    else:
        write_report(Path(options.output), text)
        say(f"wrote {options.output}")
    if refused:
        raise all_in_one(refused, len(bodies))
    return 0


def _text(reports: dict[str, BakeReport], options: argparse.Namespace) -> str:
    if options.csv:
        return csv_of(reports)
    if options.json:
        lines = [line for name, report in reports.items() for line in _objects(name, report)]
        return "".join(json.dumps(line) + "\n" for line in lines)
    return "\n".join(f"{name}\n\n{report.table()}" for name, report in reports.items())


def _objects(name: str, report: BakeReport) -> Iterator[dict[str, Any]]:
    """Yield a body's report as JSON objects: one for the bake, then one per frame."""
    about = asdict(report)
    frames = about.pop("frames")
    yield {"event": "report", "body": name, **about, "unconverged": report.unconverged, "seconds": report.seconds}
    yield from ({"event": "frame", "body": name, **frame} for frame in frames)
