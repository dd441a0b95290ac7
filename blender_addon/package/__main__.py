"""``python -m sinew scene.toml`` simulates without Blender; ``python -m sinew bake scene.blend`` bakes with the ``bpy``
wheel.
"""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Run the command line; the exit code."""
    if arguments[:1] == ["bake"]:
        from .blender_addon.command import main as bake

        return bake(arguments[1:])
    if any(argument.endswith(".blend") for argument in arguments):
        print("usage: python -m sinew bake SCENE.blend [options]", file=sys.stderr)
        return 2
    from .core.cli import main as simulate

    return simulate(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
