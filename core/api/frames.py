"""Frames of a job, simulated one after another and cached in a folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..cli import words_of
from ..foundation.errors import SettingsError, refusing
from ..foundation.events import Event
from ..foundation.schema.declared_types import checked
from ..jobs.job.groups import grouped_jobs
from ..jobs.job.job import Job
from ..jobs.store.frame_store import FrameStore
from ..simulation.frame_loop.bake import bake_frames, folder_names, stores_in
from ..simulation.preparation.prepare import Prepared
from .picture import draw
from .solid import Solid

OnWords = Callable[[str], object]


@dataclass(frozen=True)
class Frame:
    """State of a body at a frame.

    Attributes
    ----------
    name : str
        Name of the body.
    number : int
        Number of the frame.
    time : float
        Time since the job's first frame, s.
    progress : float
        Fraction of the job's frames up to and including this one: ``k / n`` at the k-th of n frames.
    positions : (s,3) float64, m
        Positions of the body's surface vertices; pinned vertices are at the targets of their pins.
    vertices : (n,3) float64, m
        Positions of the tet vertices, to pass to the methods of ``solid``.
    pressure : (s,) float32 or None
        Contact pressure at the surface vertices, Pa: force over area. None without contact.
    iterations : int
        Total number of solver iterations of all substeps; 0 for the first frame.
    converged : bool
        True if the solver converged in every substep.
    solid : Solid
        Tetrahedra and materials of the body.
    bodies : dict of Frame
        All bodies of the job at this frame, by name.
    """

    name: str
    number: int
    time: float
    progress: float
    positions: np.ndarray
    vertices: np.ndarray
    pressure: np.ndarray | None
    iterations: int
    converged: bool
    solid: Solid
    bodies: dict[str, Frame] = field(default_factory=dict, repr=False, compare=False)

    @checked(SettingsError)
    def picture(self, path: Path | str, colour: str = "von_mises", title: str | None = None) -> None:
        """Draw all bodies into an image file with Matplotlib, without a window.

        ``path``: a .png, .svg or .pdf file. ``colour``: the quantity shown, ``von_mises``, ``energy_density`` or
        ``displacement``. Raises SettingsError if Matplotlib is not installed or ``colour`` is not one of these
        quantities. Raises StoreError if the file cannot be written.
        """
        draw(path, [(each.solid, each.vertices) for each in self.bodies.values()], colour, title)


@checked(SettingsError)
def simulate(job: Job, cache: Path | str | None = None, tell: OnWords | None = None) -> Iterator[Frame]:
    """Yield the frames of a job's first body as they are computed.

    ``Frame.bodies`` has all bodies. Frames of the pre-roll are left out. Raises StoreError if the folder ``cache``
    belongs to another job: then delete the folder or name another.

    Parameters
    ----------
    job : Job
    cache : folder, optional
        Folder that stores the frames. Stored frames are read, and the simulation continues after them, bitwise
        identical to an uninterrupted one. The loop may be left, or the process ended, at any time. Without ``cache``,
        frames are stored in a temporary folder during the loop.
    tell : function, optional
        Function called with each line of text on the progress and with warnings, for example ``print``.
    """
    job.check()
    folder_names(job)
    return _frames(job, None if cache is None else Path(cache), tell or (lambda _words: None))


def _frames(job: Job, cache: Path | None, tell: OnWords) -> Iterator[Frame]:
    def on_event(event: Event) -> None:
        for words in words_of(event, job.frame_end):
            tell(words)

    with ExitStack() as held:
        with refusing("No temporary folder can be made", "Name a folder: cache=FOLDER."):
            folder = cache or Path(held.enter_context(tempfile.TemporaryDirectory(prefix="sinew-")))
        runs = [held.enter_context(closing(_of_group(group, folder, on_event))) for group in grouped_jobs(job)]
        for together in zip(*runs, strict=True):
            bodies = {frame.name: frame for frames in together for frame in frames}
            for frame in bodies.values():
                frame.bodies.update({body.name: bodies[body.name] for body in job.bodies})
            yield bodies[job.bodies[0].name]


def _of_group(jobs: Sequence[Job], folder: Path, on_event: Callable[[Event], None]) -> Iterator[list[Frame]]:
    """Yield the frames of several jobs simulated together: a list per frame, with one ``Frame`` per job."""
    stores, goes_on = stores_in(folder, jobs, resume=True)
    number, prepared = jobs[0].first_shown, []
    with closing(bake_frames(jobs, stores, on_event, resume=goes_on, with_vertices=True, is_warm=True)) as steps:
        for last, prepared in steps:
            while last is not None and number <= last:
                yield [_frame(*each, number) for each in zip(jobs, stores, prepared)]
                number += 1


def _frame(job: Job, store: FrameStore, prepared: Prepared, number: int) -> Frame:
    at, body, reports = number - job.frame_start, job.body, store.about(number)["reports"]
    positions = store.read(number)
    return Frame(
        body.name,
        number,
        at / job.frame_rate,
        (at + 1) / job.frame_count,
        positions,
        positions if body.tets is not None else store.vertices(number),
        store.pressure(number),
        sum(report.get("iterations", 0) for report in reports),
        all(report.get("converged", True) for report in reports),
        Solid(prepared.model_at(job, at), body.surface, prepared.embedding),
    )
