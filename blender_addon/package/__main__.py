"""``python -m sinew scene.toml`` simulates without Blender; ``python -m sinew bake scene.blend`` bakes with the ``bpy``
wheel, ``python -m sinew report scene.blend`` says how that went.
"""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Run the command line; the exit code."""
    if arguments[:1] in (["bake"], ["report"]):
        from .blender_addon import command

        command.leave(command.main(arguments[1:], arguments[0]))
    if any(argument.endswith(".blend") for argument in arguments):
        print("usage: python -m sinew {bake,report} SCENE.blend [options]", file=sys.stderr)
        return 2
    from .core.cli import main as simulate

    return simulate(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
