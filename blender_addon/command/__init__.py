"""``sinew`` on the command line: ``bake``, ``report``, ``batch`` and ``farm``, without a window.

``blender -b scene.blend --command sinew bake ...`` calls :func:`run`. ``sinew bake scene.blend`` (the ``bpy`` wheel)
calls :func:`main`. Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 nothing to bake in this .blend, 128 + the
signal's number if a signal stopped it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from ... import __version__
from ...core.foundation.errors import SinewError, StoreError, refusing, system_words
from .console import ConsoleReporter
from .options import COMMANDS, parser

FAILED, WRONG_USAGE, NOTHING_TO_BAKE = 1, 2, 3


class NothingToBake(StoreError):
    """Error for a scene without bodies. Its exit code 3 lets a script tell this case from a failure."""


def main(arguments: list[str], command: str = "bake", register: Callable[[], None] | None = None) -> int:
    """Run ``sinew COMMAND scene.blend [options]``. Returns the exit code.

    ``register`` is called before the file is opened, to register the add-on.
    """
    return _do(command, arguments, True, register)


def run(arguments: list[str]) -> int:
    """Run ``blender -b scene.blend --command sinew COMMAND [options]``. Returns the exit code."""
    if arguments[:1] == ["--version"]:
        print(f"sinew {__version__}")
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        if arguments and not arguments[0].startswith("-"):
            print(
                f"sinew: there is no command “{arguments[0]}”; the commands are: {', '.join(COMMANDS)}", file=sys.stderr
            )
        print(f"usage: blender -b scene.blend --command sinew {{{','.join(COMMANDS)}}} [options]", file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else WRONG_USAGE
    return _do(arguments[0], arguments[1:], False, None)


def leave(code: int) -> NoReturn:
    """Exit the process with the exit ``code``, without the teardown of the ``bpy`` module.

    In Blender 4.2 the teardown crashes after a stopped bake, and the crash changes the exit code.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _do(command: str, arguments: list[str], with_scene: bool, register: Callable[[], None] | None) -> int:
    """Run a command, report the outcome and return the exit code."""
    try:
        options = parser(command, with_scene).parse_args(arguments)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    tell = ConsoleReporter.of(options)
    try:
        if getattr(options, "blend", None):
            _open(options.blend, options.enable_autoexec, register)
        # Imported on demand: `batch` needs no Blender.
        code = importlib.import_module(f".{command}", __package__).main(options, tell)
    except (SinewError, OSError) as error:
        tell.refuse(error if isinstance(error, SinewError) else StoreError(system_words(error)))
        code = NOTHING_TO_BAKE if isinstance(error, NothingToBake) else FAILED
    tell.event("end", exit_code=code)
    return code


def _open(blend: str, enable_autoexec: bool, register: Callable[[], None] | None) -> None:
    import bpy

    if register is not None:
        register()
    if not os.path.isfile(blend):
        raise StoreError(f"There is no file {blend:.200}.", "Check the path of the .blend.")
    with refusing(f"{blend} cannot be opened", "Open it in Blender for details.", of=RuntimeError):
        bpy.ops.wm.open_mainfile(filepath=os.path.realpath(blend), load_ui=False, use_scripts=enable_autoexec)
