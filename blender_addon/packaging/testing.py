"""All tests: the main environment, then the built zip under bare bpy of several versions, then the windowed Blender.

Two lanes run side by side, for two cores: the main environment, and everything that needs the zip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import environments, extension_zip, profile, project, windowed
from .project import OUT, ROOT, BuildError

LOGS = OUT / "test"

# Bytes on disk, measured and rounded up: an environment with its download cache, and what the tests themselves write.
ENVIRONMENT_SIZE, RUN_SIZE = 2 * 10**9, 3 * 10**9


@dataclass
class Outcome:
    """What became of one part."""

    part: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    note: str = ""


def parts() -> list[str]:
    """Every part, in the order of the summary."""
    return [*project.environment_names(), "gui"]


def run(only: list[str] | None, arguments: list[str]) -> int:
    """Run the parts (all, or these) and print one summary; non-zero when anything failed."""
    unknown = set(only or ()) - set(parts())
    if unknown:
        raise BuildError(f"unknown part {', '.join(sorted(unknown))}.\nChoose from {', '.join(parts())}.")
    chosen = [part for part in parts() if not only or part in only]
    _check_disk(chosen)
    LOGS.mkdir(parents=True, exist_ok=True)
    environments.ensure("main")
    outcomes: dict[str, Outcome] = {}
    lane = threading.Thread(target=_zip_lane, args=([p for p in chosen if p != "main"], arguments, outcomes))
    lane.start()
    if "main" in chosen:
        outcomes["main"] = _timed("main", lambda: _main(arguments))
    lane.join()
    return _summary([outcomes[part] for part in chosen])


def _check_disk(chosen: list[str]) -> None:
    """Say before anything is done that the disk is too full: Blender installs an extension there without a word, and
    without its files."""
    wanted = {"main", *chosen} & set(project.environment_names())
    missing = [name for name in wanted if not environments.folder(name).is_dir()]
    need = RUN_SIZE + ENVIRONMENT_SIZE * len(missing)
    for place in (ROOT, Path(tempfile.gettempdir())):
        if (free := shutil.disk_usage(place).free) < need:
            raise BuildError(
                f"The tests need about {need / 1e9:.0f} GB on disk, and {place} has {free / 1e9:.1f} GB left.\n"
                "Free some, or set TMPDIR to a folder on a larger disk."
            )


def _zip_lane(chosen: list[str], arguments: list[str], outcomes: dict[str, Outcome]) -> None:
    if not chosen:
        return
    try:
        archive = extension_zip.build()
    except BuildError as error:
        for part in chosen:
            outcomes[part] = Outcome(part, failed=1, note=f"no zip: {error}")
        return
    for part in chosen:
        step = _gui if part == "gui" else _bare
        outcomes[part] = _timed(part, lambda part=part, step=step: step(part, archive, arguments))


def _timed(part: str, step: Callable[[], Outcome]) -> Outcome:
    start = time.monotonic()
    try:
        outcome = step()
    except BuildError as error:
        outcome = Outcome(part, failed=1, note=str(error))
    outcome.seconds = time.monotonic() - start
    return outcome


def _main(arguments: list[str]) -> Outcome:
    command = ["tests", "--ignore=tests/gui", *arguments]
    # Shares the kernel cache between runs, but with nobody else's.
    return _pytest("main", command, {**os.environ, "SINEW_KERNEL_CACHE": str(OUT / "kernels")}, live=True)


def _bare(part: str, archive: Path, arguments: list[str]) -> Outcome:
    plan = project.environment(part)
    if environments.find_python(plan.python) is None:
        return Outcome(part, skipped=1, note=f"skipped: no Python {plan.python} on this machine")
    environments.ensure(part)
    place = OUT / "profiles" / part
    variables = profile.install(part, archive, place)
    outcome = _pytest(part, ["tests/blender", *arguments], {**variables, "SINEW_PACKAGE": profile.package_name()})
    if not outcome.failed:
        shutil.rmtree(place, ignore_errors=True)  # hundreds of megabytes that only a failure makes worth a look
    return outcome


def _gui(part: str, archive: Path, arguments: list[str]) -> Outcome:
    place = windowed.find()
    if place is None:
        return Outcome(
            part,
            skipped=1,
            note="skipped: no windowed Blender; run build_addon.py get-blender (root) or set SINEW_BLENDER",
        )
    return _pytest(
        part, ["tests/gui", *arguments], {**os.environ, "SINEW_BLENDER": str(place), "SINEW_ZIP": str(archive)}
    )


def _pytest(part: str, arguments: list[str], variables: dict[str, str], live: bool = False) -> Outcome:
    """Run pytest in the part's environment; its output is shown as it comes, or whole at the end."""
    python = environments.python_of("main" if part == "gui" else part)
    report, log = LOGS / f"{part}.xml", LOGS / f"{part}.log"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", f"--junitxml={report}", "-p", "no:cacheprovider", *arguments]
    if live:
        code = subprocess.run(command, cwd=ROOT, env=variables).returncode
    else:
        with log.open("w") as handle:
            code = subprocess.run(command, cwd=ROOT, env=variables, stdout=handle, stderr=subprocess.STDOUT).returncode
        print(f"\n--- {part} ---\n{log.read_text(errors='replace')}", flush=True)
    return _count(part, report, code)


def _count(part: str, report: Path, code: int) -> Outcome:
    outcome = Outcome(part)
    if report.is_file():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped", 0))
            outcome.failed += bad
            outcome.skipped += skipped
            outcome.passed += int(suite.get("tests", 0)) - bad - skipped
    if code not in (0, 5) and outcome.failed == 0:
        # A crash, an interrupt or a usage error leaves no failure in the report.
        outcome.failed = 1
        outcome.note = f"pytest ended with exit code {code}"
    elif code == 5:
        outcome.note = "no test was selected"
    return outcome


def _summary(outcomes: list[Outcome]) -> int:
    print("\n" + "=" * 72)
    for o in outcomes:
        counts = f"{o.passed:5} passed {o.failed:3} failed {o.skipped:3} skipped"
        print(f"{o.part:8} {counts}  {o.seconds:6.0f} s" + (f"  {o.note}" if o.note else ""))
    passed, failed, skipped = (sum(getattr(o, key) for o in outcomes) for key in ("passed", "failed", "skipped"))
    print("=" * 72)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not passed else 0
