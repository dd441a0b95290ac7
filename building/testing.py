"""Runner of all tests in parts, two parts at a time on two cores.

The parts are the tests in the main environment, the tests of the built zip in each bpy version, and those with windowed
Blenders, whose screenshots and clicks more load would disturb.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import environments, extension_zip, profile, project, windowed
from .project import OUT, ROOT, BuildError

LOGS = OUT / "test"

KERNELS = OUT / "kernels"
"""Folder of compiled kernels. Parts with the same Python version share them, and later runs use them again."""

LANES = 2

FREED = "165"
"""Byte with which glibc fills freed memory, so that Blender code that reads it fails reproducibly."""

NOTHING = "no test was selected"

LONG = [f"tests/gui/test_{name}.py" for name in ("bake", "live", "newcomer", "tour")]
"""Windowed tests that together take about as long as all other windowed tests."""

WINDOWED = {
    "gui": ("trixie", ["tests/gui", *(f"--ignore={path}" for path in LONG)]),
    "gui-long": ("trixie", LONG),
    "gui-sid": ("sid", ["tests/gui/test_tour.py", "tests/gui/test_fluid_flow.py"]),
}
"""Parts with a windowed Blender. Each value holds the Debian release of that Blender, and the part's pytest arguments.
"""

ROUNDING = "rounding"
"""Part that repeats the tests that are most sensitive to rounding in BLAS. The repetitions use the kernels that
OpenBLAS has for other processors, which round differently.
"""

ROUNDING_TESTS = [
    "tests/core/linear_solvers",
    "tests/core/eigenfit/test_stretch_potential.py",
    "tests/core/eigenfit/test_motion.py",
    "tests/core/eigenfit/test_units.py",
]

BLAS_KERNELS = [("SkylakeX", 1), ("Haswell", 2), ("Prescott", 1)]
"""OpenBLAS kernels and numbers of threads to test. Each kernel is tested once. The part ``main`` tests the kernels of
this processor with all its threads.
"""

# Bytes on disk, measured and rounded up: an environment with its download cache, and the output of the tests.
ENVIRONMENT_SIZE, RUN_SIZE = 2 * 10**9, 3 * 10**9


LAST = ("gui", "gui-long", "bpy-4.2", "bpy-5.0", ROUNDING, "gui-sid")
"""Parts that start after all others. The longest come first, so that both lanes end at about the same time."""


@dataclass
class Outcome:
    """Result of one part of the tests: numbers of tests, duration, and a note for the summary."""

    part: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    note: str = ""


def parts() -> list[str]:
    """Return all parts, in the order of the summary."""
    tested = [name for name in project.environment_names() if project.environment(name).tests]
    return [*tested, ROUNDING, *WINDOWED]


def run(only: list[str] | None, arguments: list[str]) -> int:
    """Run all parts, or those in ``only``, and print a summary; return 1 if a test failed or none passed, else 0."""
    unknown = set(only or ()) - set(parts())
    if unknown:
        raise BuildError(f"unknown part {', '.join(sorted(unknown))}.\nChoose from {', '.join(parts())}.")
    chosen = [part for part in parts() if not only or part in only]
    _check_disk(chosen)
    LOGS.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(LANES) as lanes:
        zipped = lanes.submit(extension_zip.build) if chosen != ["main"] else None
        running = {
            part: lanes.submit(_timed, part, partial(_run_part, part, zipped, arguments))
            for part in sorted(chosen, key=lambda part: LAST.index(part) if part in LAST else -1)
        }
    return _summary([running[part].result() for part in chosen])


def _check_disk(chosen: list[str]) -> None:
    """Raise BuildError if the disk is too full for the parts ``chosen``. On a full disk, Blender would install the
    extension without its files and report no error, and the tests would fail for no visible reason.
    """
    wanted = {"main", *chosen} & set(project.environment_names())
    missing = [name for name in wanted if not environments.folder(name).is_dir()]
    need = RUN_SIZE + ENVIRONMENT_SIZE * len(missing)
    for place in (ROOT, Path(tempfile.gettempdir())):
        if (free := shutil.disk_usage(place).free) < need:
            raise BuildError(
                f"The tests need about {need / 1e9:.0f} GB on disk, and {place} has {free / 1e9:.1f} GB left.\n"
                "Free some, or set TMPDIR to a folder on a larger disk."
            )


def _run_part(part: str, zipped: Future[Path] | None, arguments: list[str]) -> Outcome:
    if zipped is None or part == "main":
        return _main(arguments, is_alone=zipped is None)
    if part == ROUNDING:
        return _rounding(arguments)
    if part in WINDOWED:
        return _windowed(part, zipped, arguments)
    return _bare(part, zipped.result(), arguments)


def _windowed(part: str, zipped: Future[Path], arguments: list[str]) -> Outcome:
    release, tests = WINDOWED[part]
    place = windowed.find(release)
    if place is None:
        words = f"run build_addon.py get-blender --release {release} (root)"
        words += " or set SINEW_BLENDER" if release == windowed.RELEASE else ""
        return Outcome(part, skipped=1, note=f"skipped: no windowed Blender; {words}")
    archive = zipped.result()
    if place.is_dir() and (python := windowed.python_of(place)) not in project.extension()["pythons"]:
        archive = extension_zip.build(python)
    variables = {"SINEW_BLENDER": str(place), "SINEW_ZIP": str(archive)}
    return _pytest(part, tests, arguments, {**os.environ, **variables})


def _timed(part: str, step: Callable[[], Outcome]) -> Outcome:
    start = time.monotonic()
    try:
        outcome = step()
    except BuildError as error:
        outcome = Outcome(part, failed=1, note=str(error))
    outcome.seconds = time.monotonic() - start
    return outcome


def narrowed(own: list[str], arguments: list[str]) -> list[str] | None:
    """Return the pytest arguments for a part whose tests are ``own``.

    If ``arguments`` name tests (files, folders, ``FILE::TEST``), only the named tests that belong to the part are
    passed on; return None if no named test belongs to it.
    """
    before = [None, *arguments]
    named = [_test_path(each) if last not in ("-k", "-m") else None for last, each in zip(before, arguments)]
    rest = [each for each, path in zip(arguments, named) if path is None]
    if len(rest) == len(arguments):
        return [*own, *rest]
    common = []
    for each, path in zip(arguments, named):
        for folder in own if path is not None else ():
            if path.is_relative_to(ROOT / folder):
                common.append(str(path) + "".join(each.partition("::")[1:]))
            elif (ROOT / folder).is_relative_to(path):
                common.append(folder)
    return [*common, *rest] if common else None


def _test_path(argument: str) -> Path | None:
    """Return the path of the test file or folder that a pytest argument names, relative to the working directory or to
    the repository; None if it names none.
    """
    place = argument.partition("::")[0]
    paths = ((base / place).resolve() for base in (Path.cwd(), ROOT)) if place and place[0] != "-" else ()
    return next((path for path in paths if path.exists() and path.is_relative_to(ROOT / "tests")), None)


def _main(arguments: list[str], is_alone: bool) -> Outcome:
    """Run the part ``main`` and return its outcome. If there are pytest ``arguments``, or if no other part is run, the
    part has all tests that need no window. If not, the part has the tests that ``pyproject.toml`` lists for it.
    """
    return _pytest(
        "main",
        ["tests"] if arguments or is_alone else list(project.environment("main").tests),
        ["--ignore=tests/gui", *arguments],
        {"SINEW_KERNEL_CACHE": str(KERNELS), **os.environ},
        live=True,
    )


def _rounding(arguments: list[str]) -> Outcome:
    """Repeat numerical tests with OpenBLAS's kernels for other processors, whose rounding differs; return the sum of
    the outcomes.
    """
    whole = Outcome(ROUNDING)
    for kernel, threads in BLAS_KERNELS:
        if kernel == "SkylakeX" and not _has_avx512():
            whole.note = "without SkylakeX: this processor has no AVX-512"
            continue
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
        variables = {"SINEW_KERNEL_CACHE": str(KERNELS), **os.environ, **limits, "OPENBLAS_CORETYPE": kernel}
        outcome = _pytest(ROUNDING, ROUNDING_TESTS, arguments, variables, f"{ROUNDING}-{kernel}-{threads}")
        whole.passed += outcome.passed
        whole.failed += outcome.failed
        whole.skipped += outcome.skipped
        whole.note = whole.note or outcome.note
    return whole


def _has_avx512() -> bool:
    """Return True if OpenBLAS's SkylakeX kernels run on this processor; False if unknown (not Linux)."""
    cpu = Path("/proc/cpuinfo")
    return cpu.is_file() and "avx512f" in cpu.read_text()


def _bare(part: str, archive: Path, arguments: list[str]) -> Outcome:
    plan = project.environment(part)
    if environments.find_python(plan.python) is None:
        return Outcome(part, skipped=1, note=f"skipped: no Python {plan.python} on this machine")
    environments.ensure(part)
    place = OUT / "profiles" / part
    variables = {**profile.install(part, archive, place), "SINEW_KERNEL_CACHE": str(KERNELS)}
    own = ["tests/blender"] if arguments else list(plan.tests)
    variables = {"MALLOC_PERTURB_": FREED, **variables, "SINEW_PACKAGE": profile.package_name()}
    outcome = _pytest(part, own, arguments, variables)
    if not outcome.failed:
        shutil.rmtree(place, ignore_errors=True)  # hundreds of megabytes, needed only after a failure
    return outcome


def _pytest(
    part: str, own: list[str], arguments: list[str], variables: dict[str, str], log_name: str = "", live: bool = False
) -> Outcome:
    """Run tests of a part in the part's Python environment, and return the outcome. ``own`` lists all tests of the
    part; the pytest ``arguments`` select some of them. ``variables`` are environment variables of the run.

    If ``live``, print the output at once. If not, write the output to the log ``log_name`` (by default the part's
    name), and print the log at the end.
    """
    chosen = narrowed(own, arguments)
    if chosen is None:
        return Outcome(part, note=NOTHING)
    python = environments.ensure("main" if part in WINDOWED or part == ROUNDING else part)
    name = log_name or part
    report, log = LOGS / f"{name}.xml", LOGS / f"{name}.log"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", f"--junitxml={report}", "-p", "no:cacheprovider", *chosen]
    if live:
        code = subprocess.run(command, cwd=ROOT, env=variables).returncode
    else:
        with log.open("w") as handle:
            code = subprocess.run(command, cwd=ROOT, env=variables, stdout=handle, stderr=subprocess.STDOUT).returncode
        print(f"\n--- {name} ---\n{log.read_text(errors='replace')}", flush=True)
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
        outcome.note = NOTHING
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
