"""Reference of [SMS25]: projected Newton with Cholesky, stopped by the largest vertex velocity, compared with ours.

Its rule is ``|d| / (h |V|) < 1e-3 m/s``, which loosens with the number of vertices; here the farthest vertex is used.
It is our stop rule by acceleration, with the tolerance over h.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..meetings import watch
from ..pictures import Bars, draw
from ..registry import Case, Row, row
from .scenes import SCENES

H, STEPS, SLOWEST = 0.01, 60, 1e-3
IN_SPEED = {"stop_rule": "acceleration", "acceleration_tolerance": SLOWEST / H}
WAYS: dict[str, dict[str, Any]] = {
    "reference": {"solver": "newton", "linear_solver": "cholmod", **IN_SPEED},
    "Mixed FEM": {"solver": "mixed_fem"},
    "Mixed FEM, the reference's stop": {"solver": "mixed_fem", "linear_solver": "cholmod", **IN_SPEED},
    "Newton": {"solver": "newton"},
}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per scene, steps of 10 ms."""
    for name in SCENES:
        yield Case(f"reference_{name}", partial(_compared, name))


def _compared(name: str) -> Iterable[Row]:
    """Compare the methods by processor time, since others may use the machine."""
    warm_up(ignore)
    case, its, seconds = f"reference_{name}", {}, {}
    for words, chosen in WAYS.items():
        seen = watch(SCENES[name](H, STEPS), STEPS, H, **chosen)
        its[words], seconds[words] = float(seen.iterations.mean()), sum(seen.processor)
        unsettled = sum(not report.converged for report in seen.reports)
        yield row(case, f"frames with a crossing, {words}", seen.crossed, "", at_most=0)
        yield row(case, f"steps that did not settle, {words}", unsettled)
        yield row(case, f"iterations a step, {words}", its[words])
        yield row(case, f"most iterations, {words}", int(seen.iterations.max()))
        yield row(case, f"ms a step, {words}", 1e3 * seen.seconds / STEPS, "ms")
        yield row(case, f"processor ms a step, {words}", 1e3 * sum(seen.processor) / STEPS, "ms")
    first = "reference"
    for words in list(WAYS)[1:]:
        yield row(case, f"iterations of the reference over {words}'s", its[first] / its[words])
        yield row(case, f"processor time of the reference over {words}'s", seconds[first] / seconds[words])
    series = {"iterations a step": list(its.values()), "processor seconds": list(seconds.values())}
    draw("contact", case, [Bars(name, "", list(WAYS), series)])
