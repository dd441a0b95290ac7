"""Events of a running task, and requests to live mode. Between processes they are lines of JSON, which ``line_of``
writes and ``event_of`` reads; elsewhere they have these types.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Event:
    """Something that is told; ``kind`` is its name in a line, if it goes into one. What derives from it is a frozen
    dataclass.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind
        dataclass(frozen=True)(cls)


class Phase(Event, kind="phase"):
    """A part of the work has come as far as ``done`` of ``total``: ``compile`` (per cent of all kernels; ``total`` is
    what the work needs), ``tetrahedralize`` by a ``method``, ``materials``, ``subspace`` (in percent, at a ``step`` of
    it), ``simulate`` or ``handles``.
    """

    phase: str
    done: int
    total: int
    step: str = ""
    method: str = ""


class Mesh(Event, kind="mesh"):
    """The tetrahedra and the body they make: ``outside`` are vertices of the surface outside of all tets, angles are
    in degrees, ``mass`` in kg, ``volume`` in m³; ``tets``, ``cells_across``, ``size``, ``contrast``, ``thickness``,
    ``movement`` and ``slowest`` as advice goes by them (``advice.Facts``). Some of the ``warnings`` are
    ``of_resolution``, the worst first, and one is ``points_warning``, of too few cubature points, with the number that
    would do, 0 where that is unknown. ``match`` says in words how a subspace was matched with the full mesh, "" where
    it was not; ``vibrations`` are as ``eigenfit.about_match.Vibration``.
    """

    tets: int
    cells_across: int
    size: float
    contrast: float
    thickness: float
    movement: float | None
    slowest: float
    vertices: int
    outside: int
    components: int
    min_dihedral: float
    max_dihedral: float
    mass: float
    volume: float
    warnings: list[str]
    of_resolution: list[str]
    is_thin: bool
    points_warning: str = ""
    points_that_suffice: int = 0
    match: str = ""
    vibrations: list[list[float]] = field(default_factory=list)


class OfBody(Event, kind="body"):
    """The following events, until the frames, belong to this body of a group, counted from 0."""

    number: int


class ContactWarnings(Event, kind="meets"):
    """Bodies are about to be stepped; ``warnings`` of what of them does not meet as it looks, or is told to. ``move``:
    as of ``errors.OverlapError``, where a body begins in a collider.
    """

    warnings: list[str]
    move: list[Any] = field(default_factory=list)


class FrameDone(Event, kind="frame"):
    """A frame is safe on disk, after so many seconds; the report of its last step."""

    frame: int
    seconds: float
    report: dict[str, Any]


class Done(Event, kind="done"):
    """All is done, ``unconverged`` are frames of this run with a step that did not converge."""

    frames: int
    unconverged: list[int]


class StoppedAfter(Event, kind="stopped"):
    """Stopped as asked, after that frame on disk, or before the first."""

    frame: int | None = None


class Failed(Event, kind="error"):
    """An error has ended the work; ``code`` is its class. ``move``: as of ``errors.OverlapError``."""

    code: str
    message: str
    remedy: str = ""
    move: list[Any] = field(default_factory=list)


class Ready(Event, kind="ready"):
    """Live mode: the body is prepared, with so many modes and cubature points; shown as in :class:`LiveFrame`."""

    frame: int
    modes: int
    points: int
    handles: str = ""
    positions: str = ""


class LiveFrame(Event, kind="live"):
    """Live mode: a frame of the body. One in a subspace is shown by ``handles`` (h,4,3) m, base64 of little-endian
    doubles, ``apart`` m from where it is at most; any other by ``positions`` (n,3) m of its surface, base64 of
    little-endian floats.
    """

    frame: int
    handles: str
    iterations: int
    converged: bool
    seconds: float
    apart: float
    recording: bool = False
    positions: str = ""


class StiffnessApplied(Event, kind="stiffness"):
    """Live mode: the materials have another stiffness; ``stale``: the modes are of another distribution."""

    stale: bool


class Recorded(Event, kind="recorded"):
    """Live mode: a take has ended, with so many frames."""

    frames: int


class RequestRejected(Event, kind="halted"):
    """Live mode: what was asked could not be done, and the body stays as it was."""

    code: str
    message: str
    remedy: str = ""


class Advance(Event, kind="advance"):
    """Live mode is asked for a frame, with grabs ``{"vertex": 12, "target": [x, y, z], "stiffness": 300.0}``, m, N/m.
    What it is asked has one answer each, in their order: this a :class:`LiveFrame`.
    """

    grabs: list[dict[str, Any]]


class Reset(Event, kind="reset"):
    """Live mode is asked back to the first frame, which is a :class:`LiveFrame`."""


class Record(Event, kind="record"):
    """The same, to keep every frame until the last, or :class:`StopRecording`; with a number of modes as handles,
    too.
    """

    modes: int = 0


class StopRecording(Event, kind="stop_recording"):
    """Live mode is asked to end a take: :class:`Recorded`."""


class SetStiffness(Event, kind="set_stiffness"):
    """Live mode is asked for other moduli of the materials, Pa, and factors of the stiffness of vibrations; all of
    each, or none where they are keyed: :class:`StiffnessApplied`.
    """

    youngs_modulus: list[float]
    vibrations: list[float] = field(default_factory=list)


KINDS = {event.kind: event for event in Event.__subclasses__()}

OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Nobody watches."""


def line_of(event: Event) -> str:
    """An event as one line of JSON, without the line's end."""
    return json.dumps({"event": event.kind, **asdict(event)})


def event_of(line: str | bytes) -> Event | None:
    """The event that a line tells of; None where it is something else, as a library may print."""
    try:
        about = json.loads(line)
        return KINDS[about.pop("event")](**about)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
