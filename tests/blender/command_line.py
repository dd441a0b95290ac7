"""``python command_line.py bake scene.blend``: ``python -m sinew``, also where it is an extension."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import conftest  # noqa: F401 - mounts the repository, or enables the installed extension

if __name__ == "__main__":
    from sinew.blender_addon import register
    from sinew.blender_addon.command import leave, main

    leave(main(sys.argv[2:], sys.argv[1], register))
