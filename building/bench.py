"""``build_addon.py bench``: runs ``benchmarks/registry.py`` in the main environment."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

from . import environments
from .project import ROOT


def run(options: argparse.Namespace) -> int:
    """Run or list benchmarks; return the exit code."""
    if Path(sys.prefix).resolve() != environments.folder("main").resolve():
        python = environments.ensure("main")
        return subprocess.run([str(python), str(ROOT / "build_addon.py"), *sys.argv[1:]]).returncode
    # The main script of this process is build_addon.py.
    sys.modules["__main__"].mount()
    registry = importlib.import_module("sinew.benchmarks.registry")
    if options.list or not options.name:
        return registry.show_list()
    data = Path(options.data) if options.data else ROOT.parent / "shared" / "data"
    if options.data and not data.is_dir():
        print(f"build_addon.py bench: {data} is not a folder.", file=sys.stderr)
        return 2
    return registry.run(
        options.name, options.case, data if data.is_dir() else None, Path(options.json) if options.json else None
    )
