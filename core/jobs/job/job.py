"""Job: all input of one bake, as arrays and settings, independent of Blender.

An interface passes a job to the library. The job is split into jobs of one body each (:meth:`Job.alone`). The child
process reads these jobs from the folders of their frame stores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.errors import SettingsError, StoreError, named
from ...foundation.schema.declared_types import checked, coerce
from ...foundation.schema.field_metadata import field_spec, map_tracks
from ...foundation.schema.tracks import at_frames, extend, truncate
from .body import Body
from .fingerprints import LENGTHS, fingerprints_of
from .job_file import load_part, save_part

SLOWEST = 1e-6
"""Smallest frame rate, 1/s. The largest frame rate is 1 / SLOWEST."""

JOB_FORMAT = 10
LAST_FRAME = 1048574
"""Largest frame number in Blender; its negative is the smallest."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Bodies over a range of frames.

    Attributes
    ----------
    bodies : tuple of Body
        At least one body, each with a different name. Instead of a tuple, a single Body is accepted.
    frame_start, frame_end : int
        First and last frame. At ``frame_start`` each body is still, in its rest shape or its ``initial_shape``.
    pre_roll : int
        Number of first frames that are simulated but not shown by interfaces.
    frame_rate : float
        Frames per second.
    length_factor : float
        Factor by which an interface has multiplied all lengths. For display, the interface divides displacements by the
        factor.
    """

    bodies: tuple[Body, ...]
    frame_start: int = field_spec("", word="frame range", shown="shown_range", default=1)
    frame_end: int = field_spec("", word="frame range", shown="shown_range")
    pre_roll: int = field_spec("pre-roll", word="frame range", default=0)
    frame_rate: float = field_spec(word="frame range", default=24.0)
    length_factor: float = field_spec("", word=LENGTHS, default=1.0)

    def __post_init__(self) -> None:
        coerce(self, SettingsError, "Job")
        self._validate()
        bodies = []
        for body in self.bodies:
            with named(body.name, len(self.bodies) > 1):
                bodies.append(body.with_tracks(self.frame_count, self.frame_start))
        object.__setattr__(self, "bodies", tuple(bodies))

    @property
    def body(self) -> Body:
        """Body of a job with one body. Raises SettingsError if the job has several."""
        if len(self.bodies) > 1:
            raise SettingsError(f"The job has {len(self.bodies)} bodies.", "Take one of them: job.alone(0).")
        return self.bodies[0]

    @checked(SettingsError)
    def alone(self, k: int) -> Job:
        """Return a copy of the job with only the body at index ``k``, from 0."""
        if not 0 <= k < len(self.bodies):
            raise SettingsError(f"The job has no body {k}.", f"Give an index from 0 to {len(self.bodies) - 1}.")
        return replace(self, bodies=(self.bodies[k],))

    def with_body(self, **changed: Any) -> Job:
        """Return a copy of the job in which fields of the body are replaced.

        ``changed``: new values of the fields.

        Raises SettingsError if the job has several bodies.
        """
        return replace(self, bodies=(replace(self.body, **changed),))

    @property
    def frame_count(self) -> int:
        """Number of frames from the first to the last, both included."""
        return self.frame_end - self.frame_start + 1

    @property
    def first_shown(self) -> int:
        """Number of the first visible frame, after the pre-roll."""
        return self.frame_start + self.pre_roll

    @property
    def shown_range(self) -> str:
        """Numbers of the first and last visible frame as text: ``11-60``."""
        return f"{self.first_shown}-{self.frame_end}"

    @property
    def frame_matrices(self) -> np.ndarray:
        """Matrices (frames, 4, 4) from the body's object coordinates to world coordinates, at whole frames.

        Raises SettingsError if the job has several bodies.
        """
        return at_frames(self.body.object_to_world, self.frame_count)

    @property
    def time_step(self) -> float:
        """Length of a substep, s. Raises SettingsError if the job has several bodies."""
        return 1.0 / (self.frame_rate * self.body.solver.substeps)

    def _validate(self) -> None:
        if max(abs(self.frame_start), abs(self.frame_end)) > LAST_FRAME:
            raise SettingsError(
                f"The frame range is {self.frame_start}-{self.frame_end}.",
                f"Use frame numbers from {-LAST_FRAME} to {LAST_FRAME}.",
            )
        if self.frame_count < 1:
            raise SettingsError(
                f"The frame range {self.frame_start}-{self.frame_end} is empty.",
                "Set the end frame after the start frame.",
            )
        if not 0 <= self.pre_roll < self.frame_count:
            raise SettingsError(
                f"The pre-roll is {self.pre_roll} of {self.frame_count} frames.", "Leave at least one frame to show."
            )
        if not SLOWEST <= self.frame_rate <= 1.0 / SLOWEST:
            raise SettingsError(f"The frame rate is {self.frame_rate}.", "Set a positive frame rate, such as 24.")
        if not 0.0 < self.length_factor < np.inf:
            raise SettingsError(f"The simulation scale is {self.length_factor}.", "Give a positive number.")
        if not self.bodies:
            raise SettingsError("The job has no body.", "Give it at least one body.")
        names = [body.name for body in self.bodies]
        if len(set(names)) < len(names):
            raise SettingsError(f"Two bodies have the name “{max(names, key=names.count)}”.", "Rename one of them.")

    def check(self) -> None:
        """Check quickly that the job can be simulated. Raises a SinewError if it cannot."""
        for body in self.bodies:
            with named(body.name, len(self.bodies) > 1):
                body.check()

    # -- identity -----------------------------------------------------------------------------------------------------

    def fingerprints(self, *words: str) -> dict[str, str]:
        """Return the SHA-256, in hexadecimal, per named part of the job.

        ``words``: names of the parts, such as "pins"; all parts by default.

        Equal jobs have equal fingerprints.
        """
        return fingerprints_of(self, *words)

    def until(self, frame_end: int) -> Job:
        """Return a copy of the job that ends at the frame ``frame_end``."""
        count = frame_end - self.frame_start + 1
        return map_tracks(self, lambda track: truncate(track, self.frame_count, count), frame_end=frame_end)

    def extended(self) -> Job:
        """Return a copy of the job with one more frame, which repeats the last frame."""
        return map_tracks(self, lambda track: extend(track, self.frame_count), frame_end=self.frame_end + 1)

    # -- to and from a file ---------------------------------------------------------------------------------------

    @checked(StoreError)
    def save(self, path: Path | str) -> None:
        """Write the job to one ``.npz`` file. Raises StoreError if the file cannot be written."""
        save_part(path, self, JOB_FORMAT)

    @classmethod
    @checked(StoreError)
    def load(cls, path: Path | str) -> Job:
        """Return the job in a file that :meth:`save` wrote. Raises StoreError for any other file."""
        return load_part(path, cls, JOB_FORMAT)
