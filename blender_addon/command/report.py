"""``sinew report``: what is known of the bakes of a .blend."""

from __future__ import annotations

import argparse

from .. import baking
from .bodies import bodies_of_scene


def main(options: argparse.Namespace) -> int:
    """Print it; the exit code."""
    for obj in bodies_of_scene(options.object):
        report = baking.report_of(obj)
        if options.csv:
            print(report.as_csv(), end="")
        else:
            print(f"{obj.name}\n\n{report.table()}")
    return 0
