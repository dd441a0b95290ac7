"""``sinew batch``: many .blend files, each baked and rendered by a Blender process of its own.

Each process finds from its .blend and frames what is left to do, so the same command resumes after a stop or failure.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ...core.foundation.errors import StoreError
from ...core.foundation.files.array_file import open_own
from ...core.foundation.process.child_process import NO_CONSOLE
from ...core.foundation.process.stop_signals import stop_signals
from ..blend_data.names import PACKAGE
from ..cache.frame_folders import CACHE
from . import FAILED, NOTHING_TO_BAKE
from .console import ConsoleReporter, say

POLL = 0.1
TAIL = 12
"""Number of last output lines printed for each failed file."""
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class Task:
    """One .blend and the Blender process that bakes it.

    ``words``: the command of Sinew with its options. ``log``: name of the log file, by default that of the .blend.
    ``found``: True if the user named the file's folder, not the file. ``outcome``: at the end ``done``, ``failed``,
    ``stopped`` or ``no body``. ``said``: last lines of output. ``last_message``: last line printed by Sinew.
    ``is_stopping``: True if the process was asked to end early. ``retries``: number of times that the process is
    started again if it dies. ``seconds``: run time of the process, once it has ended.
    """

    path: Path
    name: str
    found: bool = False
    words: list[str] = field(default_factory=list)
    log: str = ""
    is_stopping: bool = False
    retries: int = 0
    outcome: str = ""
    last_message: str = ""
    seconds: float = 0.0
    said: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))
    process: subprocess.Popen[str] | None = None
    reader: threading.Thread | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def has_died(self) -> bool:
        """True if the process ended without an outcome and without an error message, as in a crash."""
        return self.outcome == "failed" and not self.last_message.startswith("error: ")


def main(options: argparse.Namespace, tell: ConsoleReporter) -> int:
    """Bake the .blend files named in ``options``, and report the outcomes. Returns the exit code."""
    tasks = find_tasks(options.files)
    if not tasks:
        raise StoreError(
            f"There is no .blend in {', '.join(options.files)}.", "Name .blend files, or folders that contain them."
        )
    words = _bake_words(options)
    for task in tasks:
        task.words = words
    return run_tasks(tasks, options, "files")


def run_tasks(tasks: list[Task], options: argparse.Namespace, noun: str) -> int:
    """Run each task in its own Blender process, and report the outcomes. Returns the exit code.

    ``noun``: word for the tasks in the report.
    """
    runner = _Runner(options)
    with stop_signals() as caught:
        runner.work(tasks, caught)
    _tell(tasks, caught, noun)
    if caught:
        return 128 + caught[0]
    return FAILED if any(_is_failure(task) for task in tasks) else 0


def _bake_words(options: argparse.Namespace) -> list[str]:
    """Return the command that bakes a .blend."""
    given = ["bake"] if options.fresh else ["bake", "--update"]
    given += ["--render"] if options.render else []
    given += [f"--frames={options.frames[0]}-{options.frames[1]}"] if options.frames else []
    given += [f"--solver={options.solver}"] if options.solver else []
    given += [f"--result={options.result}"] if options.result else []
    given += [f"--export={word}" for word in options.export]
    given += [f"--engine-form={options.engine_form}"] if options.engine_form != "targets" else []
    given += [f"--engine-count={options.engine_count}"] if options.engine_count else []
    given += [f"--scene={options.scene}"] if options.scene else []
    return [*given, *(["--dry-run"] if options.dry_run else [])]


def find_tasks(names: list[str]) -> list[Task]:
    """Return one task per .blend file.

    ``names``: paths of .blend files, or of folders that contain .blend files at any depth.
    """
    found: dict[Path, bool] = {}
    for name in names:
        path = Path(os.path.realpath(name))
        inside = sorted(_blends_under(path)) if os.path.isdir(path) else []
        for blend in inside or ([] if os.path.isdir(path) else [path]):
            found[blend] = found.get(blend, True) and os.path.isdir(path)
    common = os.path.commonpath([path.parent for path in found]) if _same_drive(found) else ""
    return [
        Task(path, os.path.relpath(path, common) if common else str(path), in_folder)
        for path, in_folder in found.items()
    ]


def _blends_under(folder: Path) -> list[Path]:
    blends = []
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != CACHE]
        blends += [
            Path(directory, name) for name in names if name.lower().endswith(".blend") and not name.startswith(".")
        ]
    return blends


def _same_drive(paths: dict[Path, bool]) -> bool:
    return len({path.drive for path in paths}) == 1


class _Runner:
    """Runner of tasks in Blender processes, at most ``options.jobs`` at once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._blender = options.blender or _own_blender()
        self._logs = Path(options.logs).absolute() if options.logs else None
        share = str(max(1, (os.cpu_count() or 1) // options.jobs))
        threads = {name: share for name in THREADS} if options.jobs > 1 else {}
        self._environment = {**threads, **os.environ, **({} if self._blender else _isolated())}
        self._share = share

    def work(self, tasks: list[Task], caught: list[signal.Signals]) -> None:
        """Run all tasks. Stop when ``caught`` holds a signal. Afterwards, no child process is running."""
        waiting, running = deque(tasks), []
        signals = 0
        try:
            while running or (waiting and not caught):
                while waiting and len(running) < self._options.jobs and not caught:
                    running += self._start(waiting.popleft())
                if len(caught) > signals:
                    signals = len(caught)
                    _ask_to_end(running, at_once=signals > 1)
                for task in [task for task in running if _has_ended(task)]:
                    running.remove(task)
                    if task.has_died and task.retries:
                        say(f"{task.name}: {task.last_message} Trying once more.")
                        task.retries, task.outcome = task.retries - 1, ""
                        task.said.clear()
                        waiting.append(task)
                time.sleep(POLL if running else 0.0)
        finally:
            _ask_to_end(running, at_once=True)
            for task in running:
                task.process.wait()

    def _start(self, task: Task) -> list[Task]:
        """Start the process of a task; return [task], or [] if the file is unusable."""
        if not os.path.isfile(task.path) or task.path.suffix.lower() != ".blend":
            task.outcome = "failed"
            task.last_message = "There is no such file." if not os.path.isfile(task.path) else "It is not a .blend."
            return []
        command = self.command(task)
        task.seconds = -time.monotonic()
        try:
            log = self._open_log(task)
            task.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=self._environment,
                creationflags=NO_CONSOLE,
            )
        except OSError as error:
            path = error.filename or command[0]
            raise StoreError(
                f"{path} cannot be used ({error.strerror or error}).", "Check --blender and --logs."
            ) from error
        task.reader = threading.Thread(target=_read, args=(task, log), daemon=True, name=f"sinew batch {task.name}")
        task.reader.start()
        say(f"{task.name}: started")
        return [task]

    def command(self, task: Task) -> list[str]:
        """Return the command line of a task."""
        options, path, (command, *given) = self._options, str(task.path), task.words
        if not self._blender:
            python = ["--enable-autoexec"] if options.enable_autoexec else []
            return [sys.executable, "-m", PACKAGE, command, path, *python, *given]
        python = "--enable-autoexec" if options.enable_autoexec else "--disable-autoexec"
        threads = ["--threads", self._share] if options.jobs > 1 else []
        head = [self._blender, "--background", *threads, python, path]
        return [*head, "--command", "sinew", command, *given]

    def _open_log(self, task: Task) -> IO[str]:
        if self._logs is None:
            return open(os.devnull, "w", encoding="utf-8")
        self._logs.mkdir(parents=True, exist_ok=True)
        # Shots in different folders may have the same name.
        unique = hashlib.sha256(os.fsencode(task.path)).hexdigest()[:8]
        path = self._logs / f"{task.log or task.path.stem}-{unique}.log"
        log = open_own(path, "a" if task.process else "w")  # a retry keeps the output of the process that died
        log.reconfigure(line_buffering=True)
        return log


def _isolated() -> dict[str, str]:
    """Return environment variables that keep Python from importing modules from the current folder."""
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    absolute = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
    return {"PYTHONPATH": absolute, "PYTHONSAFEPATH": "1"}


def _own_blender() -> str:
    """Return the path of the running Blender, or "" for ``sinew`` on the ``bpy`` wheel."""
    import bpy

    if not bpy.app.binary_path and PACKAGE != "sinew":
        raise StoreError(
            "This is Blender's Python module, without a Blender to start.", "Name a Blender with --blender."
        )
    return bpy.app.binary_path


def _read(task: Task, log: IO[str]) -> None:
    """Log and print the output of a task's process."""
    with log:
        for line in task.process.stdout:
            log.write(line)
            _hear(task, line.rstrip())


def _hear(task: Task, text: str) -> None:
    if text:
        task.said.append(text)
    if text.startswith("sinew: "):
        task.last_message = text.removeprefix("sinew: ")
        if "warning: " in text:
            task.warnings.append(task.last_message)
        say(f"{task.name}: {task.last_message}")


def _has_ended(task: Task) -> bool:
    """Return True if a task's process has ended, and record the outcome."""
    code = task.process.poll()
    if code is None:
        return False
    task.reader.join()
    task.process.stdout.close()
    task.seconds += time.monotonic()
    if code == 0:
        task.outcome = "done"
    elif code == NOTHING_TO_BAKE:
        task.outcome = "no body"
    elif task.is_stopping or code in _stop_codes():  # on Windows a stopped process has exit code 1
        task.outcome = "stopped"
    else:
        task.outcome = "failed"
        if task.has_died:
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            task.last_message = f"Blender ended {how}." + (f" Its last output: {task.said[-1]}" if task.said else "")
    return True


def _stop_codes() -> set[int]:
    numbers = (signal.SIGINT, signal.SIGTERM)
    return {sign for number in numbers for sign in (128 + number, -number)}


def _ask_to_end(running: list[Task], at_once: bool) -> None:
    """Ask child processes to end after their current step, or kill them ``at_once``."""
    if running and not at_once:
        say(f"stopping {len(running)} Blender processes; interrupt again to end them at once")
    for task in running:
        if task.process.poll() is None:
            task.is_stopping = True
            task.process.kill() if at_once else task.process.terminate()


def _is_failure(task: Task) -> bool:
    return task.outcome == "failed" or (task.outcome == "no body" and not task.found)


def _tell(tasks: list[Task], caught: list[signal.Signals], noun: str) -> None:
    """Report the outcome of each task, failures last."""
    counts = [f"{sum(task.outcome == kind for task in tasks)} {kind}" for kind in ("done", "failed", "no body")]
    left = [task for task in tasks if task.outcome in ("", "stopped")]
    say(f"{len(tasks)} {noun}: {', '.join(counts)}" + (f", {len(left)} left" if left else ""))
    for task in sorted(tasks, key=_is_failure):
        outcome = task.outcome or "not started"
        say(f"  {outcome:9} {max(0.0, task.seconds):5.0f} s  {task.name}: {task.last_message.removeprefix('error: ')}")
        for warning in dict.fromkeys(task.warnings):
            say(f"      {warning}")
        if task.outcome == "failed" and len(task.said) > 1:
            for line in task.said:
                print(f"          | {line}", file=sys.stderr)
    if caught:
        say(f"stopped by {caught[0].name}; run the same command again to continue")
