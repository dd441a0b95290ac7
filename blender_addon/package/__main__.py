"""``python -m sinew scene.toml`` simulates without Blender; ``python -m sinew bake scene.blend`` bakes with the ``bpy``
wheel, ``python -m sinew report scene.blend`` says how that went; ``batch`` and ``farm`` are for many and for farms.
"""

from __future__ import annotations

import sys

WITH_BLENDER = ("bake", "report", "batch", "farm")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, of this process where no arguments are given; the exit code."""
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments[:1] == ["--version"]:
        from . import __version__

        print(f"sinew {__version__}")
        return 0
    if arguments and arguments[0] in WITH_BLENDER:
        from .blender_addon import command

        command.leave(command.main(arguments[1:], arguments[0]))
    if any(argument.endswith(".blend") for argument in arguments):
        print(f"usage: python -m sinew {{{','.join(WITH_BLENDER)}}} SCENE.blend [options]", file=sys.stderr)
        return 2
    from .core.cli import main as simulate

    return simulate(arguments)


if __name__ == "__main__":
    sys.exit(main())
