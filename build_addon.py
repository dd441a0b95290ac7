"""Command line of the repository: ``python build_addon.py SUBCOMMAND``; ``--help`` lists the subcommands.

It needs only Python 3.11 or newer. Subcommands install the pinned packages that they need into virtual environments of
the repository. Their code is in ``building/``; this file contains only the dispatch and :func:`mount`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent
_PARTS = ROOT / "building"


def _load(name: str, init: Path, search: list[Path]) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(path) for path in search])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def mount() -> ModuleType:
    """Make this checkout importable as the package ``sinew`` in this process, without building anything.

    ``sinew.core`` is then ``core/``, ``sinew.ui`` is ``ui/`` and so on, as in the extension zip.
    """
    package = ROOT / "blender_addon" / "package"
    return _load("sinew", package / "__init__.py", [ROOT, package])


def load_building() -> ModuleType:
    """Return the modules of ``building/`` as the package ``sinew_building``. They are not part of ``sinew``, since they
    run without its dependencies."""
    return _load("sinew_building", _PARTS / "__init__.py", [_PARTS])


def main(arguments: list[str]) -> int:
    """Run one subcommand; return the exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the message for older Pythons
        print(f"build_addon.py needs Python 3.11 or newer, this is {sys.version.split()[0]}.", file=sys.stderr)
        return 2
    load_building()
    from sinew_building import command_line

    return command_line.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
