"""Time loop of one body without IPC contact.

:func:`.group.simulate_group` steps bodies in contact.
"""

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
    """Simulated frame of a body: its number, its state and the reports of its substeps.

    ``pressure`` (n,), Pa: contact pressure at the surface vertices. None for the first frame, and without IPC contact.
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
    """Yield the simulated frames of a body.

    The first frame is the initial state, by default the rest shape. No step leads to it. Raises Stopped between steps
    if ``should_stop`` returns True.

    ``start``: a frame number with the state at that frame, or None. Only later frames are simulated. With None, all
    frames are.
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
