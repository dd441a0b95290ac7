"""Live mode: a body stepped frame by frame with interactive grabs.

A grab is a spring of rest length zero from a vertex of the surface to a target. Targets and stiffnesses are
interpolated linearly between frames, like those of a bake's springs. Before the grab, the target is the vertex's first
position. After the release, the last target remains. The stiffness is zero before the grab and after the release. A
take, which is a recorded live session, therefore equals a bake with the springs of :func:`take_springs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...foundation.errors import SettingsError, SpringError
from ...foundation.schema.settings import moduli
from ...jobs.job.body import VIBRATION_STIFFNESS
from ...jobs.job.environment import Spring
from ...jobs.job.job import Job
from ...mechanics.forces.springs import Springs
from ..preparation.loads import lerp
from ..preparation.prepare import Prepared
from .body_timeline import InteractiveChange
from .single_body import Frame
from .stepper import Stepper

SAME_STIFFNESS = 1e-6
"""Largest relative spread of the tets' stiffness factors at which the vibration modes count as unchanged.

A factor is the ratio by which the stiffness of a tet has changed.
"""


class Grab(NamedTuple):
    """Spring from a vertex of the surface to a target.

    ``target`` (3,), m: position of the target.
    ``stiffness``, N/m.
    """

    vertex: int
    target: np.ndarray
    stiffness: float


class LiveBody:
    """Body that is stepped interactively, also beyond the last frame of its job.

    Steps beyond the last frame repeat the interval between the last two frames of ``job``. :meth:`Job.extended` adds a
    copy of the last frame, so pins, colliders and fields are at rest in that interval.

    Parameters
    ----------
    job : the body's job, made one frame longer by :meth:`Job.extended`
    prepared : the body prepared from that longer job
    """

    def __init__(self, job: Job, prepared: Prepared) -> None:
        # Ties act in bakes only. The body would be pushed away from what it is tied to.
        tied = [k for k, each in enumerate(job.body.colliders) if each.name in {tie.other for tie in job.body.ties}]
        prepared = replace(prepared, loads=prepared.loads.without(tied))
        self._job, self._prepared = job, prepared
        self._stepper, self._by_hand = Stepper(job, prepared), InteractiveChange()
        self._points: dict[int, object] = {}
        self.reset()

    def reset(self) -> Frame:
        """Reset the body to its first frame, at zero velocity and without grabs, and return that frame."""
        self._grabs: dict[int, Grab] = {}
        self._frame = Frame(self._job.frame_start, self._prepared.first_state(), [])
        return self._frame

    def advance(self, grabs: Sequence[Grab]) -> Frame:
        """Step the body to the next frame while springs pull at it, and return that frame.

        ``grabs``: these springs.

        Raises
        ------
        SpringError
            A grab's vertex does not exist.
        SinewError
            The step failed. The state of the body is unchanged.
        """
        before, now = self._grabs, self._renewed(grabs)
        number, last = self._frame.number + 1, self._job.frame_end
        at = min(number, last) - self._job.frame_start
        pulls = self._pulls(before, now)
        state, reports = self._stepper.advance(self._frame.state, at, pulls, by_hand=self._by_hand)
        self._grabs, self._frame = now, Frame(number, state, reports)
        return self._frame

    def set_stiffness(
        self,
        youngs_moduli: Sequence[float] = (),
        vibrations: Sequence[float] = (),
        activation: Sequence[float] = (),
    ) -> bool:
        """Set the stiffness of the materials and of the controlled vibrations, and the activation of the muscles.

        ``youngs_moduli``, Pa: in the order of ``settings.moduli``.
        ``vibrations``: factors on the stiffness of the controlled vibrations.
        ``activation``: activation of each muscle, 0 to 1.

        An empty sequence restores the keyed values. Elastic forces change at once. The stiffness of contact does not
        change.

        Return True if the subspace or the matched vibrations become approximate, since they were computed for another
        distribution of stiffness. Raises SettingsError if a value is out of range.
        """
        body, unbounded = self._job.body, np.finfo(np.float64)
        stiffness = _change(
            moduli(body.materials),
            youngs_moduli,
            (unbounded.tiny, unbounded.max),
            SettingsError("The stiffness of a material is not positive.", "Set a stiffness over 0 Pa."),
        )
        factors = () if body.vibration_stiffness is None else body.vibration_stiffness[0]
        wrong = SettingsError("The stiffness factor of a vibration is out of range.", "Set it from 0.1 to 10.")
        if (muscles := self._prepared.loads.muscles) is not None:
            muscles.set_activation(activation)
        self._by_hand = InteractiveChange(stiffness, _change(factors, vibrations, VIBRATION_STIFFNESS, wrong))
        if self._prepared.subspace is None and self._prepared.matching is None:
            return False
        scale = self._prepared.at_elastic_points(self._prepared.scale(stiffness))
        return bool(np.ptp(scale) > SAME_STIFFNESS * scale.max())

    def _renewed(self, grabs: Sequence[Grab]) -> dict[int, Grab]:
        now = {vertex: grab._replace(stiffness=0.0) for vertex, grab in self._grabs.items()}
        for grab in grabs:
            if not 0 <= grab.vertex < len(self._job.body.surface.positions):
                raise SpringError(f"There is no vertex {grab.vertex} to grab.", "Grab a vertex of the body.")
            now[grab.vertex] = grab
        return now

    def _pulls(self, before: dict[int, Grab], now: dict[int, Grab]) -> Callable[[float], list[Springs]]:
        grabbed = []
        for vertex, grab in now.items():
            was = before.get(vertex) or Grab(vertex, self._job.body.first_positions[vertex], 0.0)
            if was.stiffness or grab.stiffness:
                grabbed.append((self._points_at(vertex), was, grab))

        def pulls(part: float) -> list[Springs]:
            return [
                Springs(
                    points,
                    np.array([lerp(was.stiffness, grab.stiffness, part)]),
                    lerp(was.target, grab.target, part)[None],
                )
                for points, was, grab in grabbed
            ]

        return pulls

    def _points_at(self, vertex: int) -> object:
        if vertex not in self._points:
            held = self._prepared.embedding.take(np.array([vertex]))
            self._points[vertex] = self._prepared.space.points(held)
        return self._points[vertex]


def _change(
    old: Sequence[float], new: Sequence[float], bounds: tuple[float, float], wrong: SettingsError
) -> np.ndarray:
    """Return the natural logarithms (k,) of the ratios of new to old values, or raise ``wrong``."""
    if not len(new):
        return np.zeros(len(old))
    values, (least, most) = np.array(new, dtype=np.float64), bounds
    if values.shape != (len(old),) or not ((values >= least) & (values <= most)).all():
        raise wrong
    return np.log(values / old)


def take_springs(frames: Sequence[Sequence[Grab]], first_positions: np.ndarray) -> tuple[Spring, ...]:
    """Return the springs with which a bake repeats a take (recorded live session).

    There is one spring per grabbed vertex. Springs act in the step that leads to a frame. No step leads to the first
    frame, so the grabs of the first frame are ignored.

    ``frames``: grabs of each frame.
    ``first_positions`` (n,3), m: surface vertices at the first frame.
    """
    vertices = dict.fromkeys(grab.vertex for grabs in frames[1:] for grab in grabs)
    springs = []
    for vertex in vertices:
        targets = np.tile(first_positions[vertex], (len(frames), 1, 1))
        stiffness = np.zeros(len(frames))
        for k, grabs in enumerate(frames[1:], start=1):
            targets[k] = targets[k - 1]
            for grab in (grab for grab in grabs if grab.vertex == vertex):
                targets[k], stiffness[k] = grab.target, grab.stiffness
        springs.append(Spring(f"Grab {vertex}", np.array([vertex]), np.ones(1), targets, stiffness))
    return tuple(springs)
