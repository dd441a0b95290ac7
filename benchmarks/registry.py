"""Registry of the benchmarks: finds them, runs their cases, prints the rows.

A benchmark is a module of this folder, or a folder of modules that have cases; names are written with ``-`` for ``_``.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

from ..core.foundation.process.process_memory import keep_freed

_NOT_BENCHMARKS = set(
    "registry bodies creatures crossings meetings measures pictures processes rotation_aware_admm dense_energies "
    "resolutions released match_acceptance published_acceptance skin_measures thin_bodies".split()
)


@dataclass(frozen=True)
class Row:
    """One measured value.

    ``value`` is a number, or a text, such as a checksum. ``bar`` is the bound as text (``"<= 1e-8"``), or "" for a
    value without one; ``holds`` is True if the value is within it, None without a bar.
    """

    case: str
    metric: str
    value: float | str
    unit: str = ""
    bar: str = ""
    holds: bool | None = None


@dataclass(frozen=True)
class Case:
    """A named measurement: ``run()`` yields its rows."""

    name: str
    run: Callable[[], Iterable[Row]]


def row(
    case: str,
    metric: str,
    value: float | str,
    unit: str = "",
    at_most: float | None = None,
    at_least: float | None = None,
) -> Row:
    """Return a row, with at most one bar."""
    if at_most is not None:
        return Row(case, metric, value, unit, f"<= {at_most:g}", bool(value <= at_most))
    if at_least is not None:
        return Row(case, metric, value, unit, f">= {at_least:g}", bool(value >= at_least))
    return Row(case, metric, value, unit)


def names() -> list[str]:
    """Return the names of all benchmarks, as for the command line."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name.replace("_", "-") for module in found if module.name not in _NOT_BENCHMARKS)


def load(name: str) -> ModuleType:
    """Return the module or folder of a benchmark."""
    return importlib.import_module(f".{name.replace('-', '_')}", __package__)


def chained(package: ModuleType, data: Path | None) -> Iterator[Case]:
    """Yield the cases of every module of a folder that has some, sorted by name."""
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        module = importlib.import_module(f".{found.name}", package.__name__)
        yield from getattr(module, "cases", lambda _data: ())(data)


def show_list() -> int:
    """Print every benchmark with the first line of its docstring; return 0."""
    for name in names():
        print(f"{name:16} {(load(name).__doc__ or '').strip().splitlines()[0]}")
    return 0


def run(name: str, pattern: str, data: Path | None, json_path: Path | None) -> int:
    """Run a benchmark's cases; return 0 if every bar holds, 1 if one does not, 2 if nothing matches."""
    if name not in names():
        print(f"There is no benchmark {name}; choose from: {', '.join(names())}.", file=sys.stderr)
        return 2
    chosen = [case for case in load(name).cases(data) if fnmatch(case.name, pattern)]
    if not chosen:
        print(f"No case of {name} matches {pattern}.", file=sys.stderr)
        return 2
    keep_freed()  # as the process of a bake does
    rows: list[Row] = []
    print(f"{'case':28} {'metric':44} {'value':>16} {'unit':8} {'bar':14} holds")
    for case in chosen:
        for measured in case.run():
            rows.append(measured)
            print(_line(measured), flush=True)
    if json_path:
        json_path.parent.mkdir(parents=True, exist_ok=True)
        json_path.write_text(json.dumps([asdict(measured) for measured in rows], indent=1) + "\n")
    return 1 if any(measured.holds is False for measured in rows) else 0


def _line(r: Row) -> str:
    holds = "" if r.holds is None else ("yes" if r.holds else "NO")
    value = r.value if isinstance(r.value, str) else f"{r.value:.6g}"
    return f"{r.case:28} {r.metric:44} {value:>16} {r.unit:8} {r.bar:14} {holds}"
