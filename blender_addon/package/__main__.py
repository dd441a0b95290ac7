"""Command line of Sinew, with and without Blender.

``sinew scene.toml`` simulates without Blender. ``sinew bake scene.blend`` bakes with the ``bpy`` wheel, and ``sinew
report scene.blend`` reports on bakes. ``batch`` and ``farm`` are for many files and for render farms, ``wedge`` is for
variants of either kind of scene. ``python -P -m sinew`` is the same.

Without ``-P`` Python first looks for modules in the current folder, which may hold an untrusted .blend: a ``sinew.py``
there would run instead of this file. After the start, no module is imported from there.
"""

from __future__ import annotations

import os
import sys

WITH_BLENDER = ("bake", "report", "batch", "farm", "wedge")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, by default with the arguments of this process. Returns the exit code."""
    if arguments is None:
        _leave_current_folder()
        arguments = sys.argv[1:]
    if arguments[:1] == ["--version"]:
        from . import __version__

        print(f"sinew {__version__}")
        return 0
    if arguments[:1] == ["wedge"] and any(argument.endswith(".toml") for argument in arguments):
        from .core.api.wedge_command import main as wedge

        return wedge(arguments[1:])
    if arguments and arguments[0] in WITH_BLENDER:
        from .blender_addon import command, register

        command.leave(command.main(arguments[1:], arguments[0], register))
    if any(argument.endswith(".blend") for argument in arguments):
        print(f"usage: sinew {{{','.join(WITH_BLENDER)}}} SCENE.blend [options]", file=sys.stderr)
        return 2
    from .core.cli import main as simulate

    return simulate(arguments)


def _leave_current_folder() -> None:
    """Prevent imports from the folder in which ``python -m`` was started."""
    if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]):
        del sys.path[0]


if __name__ == "__main__":
    sys.exit(main())
