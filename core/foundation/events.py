"""Events of a running task, and requests to live mode. Between processes they are lines of JSON, written by ``line_of``
and read by ``event_of``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Event:
    """Base of events; ``kind`` is its name in a JSON line, if it is sent as one. Subclasses are frozen dataclasses."""

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind
        dataclass(frozen=True)(cls)


class Phase(Event, kind="phase"):
    """Progress of a phase, ``done`` of ``total``: ``compile`` (percent of all kernels; ``total`` is the part needed),
    ``tetrahedralize`` with a ``method``, ``materials``, ``subspace`` (percent, at a ``step``), ``simulate`` or
    ``handles``.
    """

    phase: str
    done: int
    total: int
    step: str = ""
    method: str = ""


class Mesh(Event, kind="mesh"):
    """The tetrahedra and the body made of them: ``outside`` counts surface vertices outside all tets, angles are in
    degrees, ``mass`` in kg, ``volume`` in m³; ``tets``, ``cells_across``, ``size``, ``contrast``, ``thickness``,
    ``movement`` and ``slowest`` as in ``advice.Facts``. Some ``warnings`` are ``of_resolution``, worst first;
    ``points_warning`` reports too few cubature points, ``points_that_suffice`` a sufficient number, 0 if unknown.
    ``match`` describes the matching of a subspace with the full mesh, "" without; ``vibrations`` are as
    ``eigenfit.match_report.Vibration``.
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
    """Bodies are about to be stepped; ``warnings`` of contact that differs from the settings. ``move``: as in
    ``errors.OverlapError``, if a body begins inside a collider.
    """

    warnings: list[str]
    move: list[Any] = field(default_factory=list)


class FrameDone(Event, kind="frame"):
    """A frame is on disk, after this many seconds; ``report`` is that of its last step."""

    frame: int
    seconds: float
    report: dict[str, Any]


class Done(Event, kind="done"):
    """The work is finished; ``unconverged`` are frames of this run with a step that did not converge."""

    frames: int
    unconverged: list[int]


class StoppedAfter(Event, kind="stopped"):
    """The work was stopped on request after this frame, or before the first."""

    frame: int | None = None


class Failed(Event, kind="error"):
    """An error ended the work; ``code`` is its class. ``move``: as in ``errors.OverlapError``."""

    code: str
    message: str
    remedy: str = ""
    move: list[Any] = field(default_factory=list)


class Ready(Event, kind="ready"):
    """Live mode: the body is prepared, with this many modes and cubature points; displayed as :class:`LiveFrame`."""

    frame: int
    modes: int
    points: int
    handles: str = ""
    positions: str = ""


class LiveFrame(Event, kind="live"):
    """Live mode: a frame of the body. A body in a subspace is displayed by ``handles`` (h,4,3) m, base64 of
    little-endian doubles, with an error of at most ``apart`` m; others by the ``positions`` (n,3) m of the surface,
    base64 of little-endian floats.
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
    """Live mode: the new stiffness is applied; ``stale``: the modes belong to another stiffness distribution."""

    stale: bool


class Recorded(Event, kind="recorded"):
    """Live mode: a recording has ended, with this many frames."""

    frames: int


class RequestRejected(Event, kind="halted"):
    """Live mode: a request failed, and the body is unchanged."""

    code: str
    message: str
    remedy: str = ""


class Advance(Event, kind="advance"):
    """Request a frame of live mode, with grabs ``{"vertex": 12, "target": [x, y, z], "stiffness": 300.0}``, m, N/m.
    Each request has one answer, in order: here a :class:`LiveFrame`.
    """

    grabs: list[dict[str, Any]]


class Reset(Event, kind="reset"):
    """Request a reset of live mode to the first frame, answered by a :class:`LiveFrame`."""


class Record(Event, kind="record"):
    """Request a reset and a recording of all frames until the last or :class:`StopRecording`, also as handles if
    ``modes`` > 0.
    """

    modes: int = 0


class StopRecording(Event, kind="stop_recording"):
    """Request the end of a recording: :class:`Recorded`."""


class SetStiffness(Event, kind="set_stiffness"):
    """Request new moduli of the materials, Pa, and stiffness factors of vibrations; all of each, or none if they are
    animated: :class:`StiffnessApplied`.
    """

    youngs_modulus: list[float]
    vibrations: list[float] = field(default_factory=list)


KINDS = {event.kind: event for event in Event.__subclasses__()}

OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Do nothing: a listener that ignores events."""


def line_of(event: Event) -> str:
    """Return an event as one line of JSON, without line break."""
    return json.dumps({"event": event.kind, **asdict(event)})


def event_of(line: str | bytes) -> Event | None:
    """Return the event of a line; None for other lines, for example printed by a library."""
    try:
        about = json.loads(line)
        return KINDS[about.pop("event")](**about)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
