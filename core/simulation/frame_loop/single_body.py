"""Time loop of one body without contact with other bodies; :func:`.group.simulate_group` steps several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...jobs.job.job import Job
from ...methods.model.state import State
from ...numerics.optimization.step_report import StepReport
from ..preparation.prepare import Prepared
from .stepper import Stepper


@dataclass(frozen=True)
class Frame:
    """Frame: its number, the state, and the reports of its substeps. ``pressure`` (n,) Pa is the contact pressure on
    its surface, if contact is possible.
    """

    number: int
    state: State
    reports: list[StepReport]
    pressure: np.ndarray | None = None


def simulate_body(
    job: Job,
    prepared: Prepared,
    start: tuple[int, State] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Frame]:
    """Yield frames from the job's first, or from after ``start`` (a frame and its state), to its last.

    The first frame is the job's initial state, the rest shape by default, without a step. Raises Stopped between steps.
    """
    stepper = Stepper(job, prepared)
    if start is None:
        number, state = job.frame_start, prepared.first_state()
        yield Frame(number, state, [])
    else:
        number, state = start
    for frame in range(number + 1, job.frame_end + 1):
        state, reports = stepper.advance(state, frame - job.frame_start, should_stop=should_stop)
        yield Frame(frame, state, reports)
