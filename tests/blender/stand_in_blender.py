"""``python stand_in_blender.py --background ...``: what farms use of Blender's command line, by the ``bpy`` wheel.
Arguments count in their order, as Blender's do.

With ``STAND_IN_CRASH`` in a .blend's name it dies as Blender does when it crashes.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path

import command_line  # noqa: F401 - mounts the repository, or enables the installed extension


def main(arguments: list[str]) -> int:
    import bpy
    from sinew.blender_addon import command, registration

    if not registration.is_registered():
        registration.register()
    scripts, render, waiting = False, {}, list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word in ("--enable-autoexec", "-y", "--disable-autoexec"):
            scripts = word != "--disable-autoexec"
        elif word in ("--background", "-b", "--factory-startup"):
            continue
        elif word in ("--threads", "--python-exit-code"):
            waiting.pop(0)
        elif word == "--command":
            assert waiting.pop(0) == "sinew"
            return command.run(waiting)
        elif word == "--python":
            sys.argv = [sys.argv[0], *arguments]
            runpy.run_path(waiting.pop(0), run_name="__main__")
        elif word == "--":
            break
        elif word in ("--render-output", "--render-format"):
            render[word] = waiting.pop(0)
        elif word == "--render-frame":
            scene = bpy.context.scene
            scene.render.filepath = render["--render-output"]
            scene.render.image_settings.file_format = render["--render-format"]
            first, _, last = waiting.pop(0).partition("..")
            scene.frame_start, scene.frame_end, scene.frame_step = int(first), int(last or first), 1
            bpy.ops.render.render(animation=True)
        else:
            assert word.endswith(".blend"), f"the stand-in does not know {word}"
            if "STAND_IN_CRASH" in word:
                print("Writing: crash.txt", flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
            if Path(word).is_file():
                bpy.ops.wm.open_mainfile(filepath=word, use_scripts=scripts)
    return 0


if __name__ == "__main__":
    from sinew.blender_addon.command import leave

    leave(main(sys.argv[1:]))
