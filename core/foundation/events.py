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
    """Base class of events; ``kind`` names the event in its line of JSON. Subclasses become frozen dataclasses."""

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind
        dataclass(frozen=True)(cls)


class Phase(Event, kind="phase"):
    """Progress ``done`` of ``total`` of a ``phase``: ``compile`` (percent of the compile time of all kernels; ``total``
    is reached once the kernels of this job are compiled), ``tetrahedralize`` by ``method``, ``materials``, ``subspace``
    (percent, with the name of its ``step``), ``simulate`` (frames) or ``handles`` (frames).
    """

    phase: str
    done: int
    total: int
    step: str = ""
    method: str = ""


class Mesh(Event, kind="mesh"):
    """The tet mesh of a body is built. ``tets`` to ``slowest`` are as in ``checks.advice.BodyFacts``; ``vertices``,
    ``components`` and the dihedral angles, degrees, as in ``mesh.quality.Quality``. ``outside`` counts surface vertices
    outside all tets, ``mass`` is in kg, ``volume`` in m³. ``of_resolution`` repeats the ``warnings`` about resolution
    and volume, worst first; ``is_thin``: some parts are thinner than a cell. ``points_warning`` is about too few
    cubature points, ``points_that_suffice`` a sufficient number, 0 if unknown. ``match`` summarizes the match of
    vibrations with a finer body, "" without; each of ``vibrations`` has the fields of ``match_report.Vibration``.
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
    """Bodies are baked together: the next events of preparation are about the body of index ``number``, from 0."""

    number: int


class ContactWarnings(Event, kind="contact_warnings"):
    """The bodies are prepared, before their first step. ``warnings`` list contact that differs from the settings;
    ``move`` is as in ``errors.OverlapError`` if a body begins inside a collider, else empty.
    """

    warnings: list[str]
    move: list[Any] = field(default_factory=list)


class FrameDone(Event, kind="frame"):
    """A frame is on disk and took ``seconds`` to compute; ``report`` is the solver's report of its last step."""

    frame: int
    seconds: float
    report: dict[str, Any]


class Done(Event, kind="done"):
    """The work is finished, with ``frames`` frames; ``unconverged`` lists frames with a step that did not converge."""

    frames: int
    unconverged: list[int]


class StoppedAfter(Event, kind="stopped"):
    """The work was stopped on request after this frame; None if before the first."""

    frame: int | None = None


class Failed(Event, kind="error"):
    """An error ended the work; ``code`` is its class name, ``move`` as in ``errors.OverlapError``, else empty."""

    code: str
    message: str
    remedy: str = ""
    move: list[Any] = field(default_factory=list)


class Ready(Event, kind="ready"):
    """Live mode: the body is prepared and at ``frame``, displayed as a :class:`LiveFrame`. ``modes`` and ``points`` are
    the numbers of modes and cubature points, 0 without a subspace.
    """

    frame: int
    modes: int
    points: int
    handles: str = ""
    positions: str = ""


class LiveFrame(Event, kind="live"):
    """Live mode: a frame of the body. A body in a subspace is displayed by its handles, affine displacements that
    skinning weights blend: ``handles`` (h,4,3) m in base64 of little-endian doubles. The display error is at most
    ``apart`` m at sampled vertices. Other bodies are displayed by the surface's ``positions`` (n,3) m in base64 of
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
    """Live mode: the new stiffness is applied. If ``stale``, the modes, or the match of vibrations, were computed for
    another distribution of stiffness and are not recomputed.
    """

    stale: bool


class Recorded(Event, kind="recorded"):
    """Live mode: a recording of ``frames`` frames has ended."""

    frames: int


class RequestRejected(Event, kind="rejected"):
    """Live mode: a request failed, and the body is unchanged."""

    code: str
    message: str
    remedy: str = ""


class Advance(Event, kind="advance"):
    """Request the next frame of live mode; the answer is a :class:`LiveFrame`. Grabs are springs that pull surface
    vertices: ``{"vertex": 12, "target": [x, y, z], "stiffness": 300.0}``, m and N/m. Requests are answered in order.
    """

    grabs: list[dict[str, Any]]


class Reset(Event, kind="reset"):
    """Request a reset of live mode to the first frame; the answer is a :class:`LiveFrame`."""


class Record(Event, kind="record"):
    """Request a reset to the first frame and a recording from there to the last frame or :class:`StopRecording`. If
    ``modes`` > 0, the recording is also stored as affine handles of that many skinning modes.
    """

    modes: int = 0


class StopRecording(Event, kind="stop_recording"):
    """Request the end of a recording; the answer is :class:`Recorded`."""


class SetStiffness(Event, kind="set_stiffness"):
    """Request a change of stiffness; the answer is :class:`StiffnessApplied`. ``youngs_modulus`` holds all moduli, Pa,
    as in ``settings.moduli``; ``vibrations`` the stiffness factor of each controlled vibration. An empty list restores
    the job's values.
    """

    youngs_modulus: list[float]
    vibrations: list[float] = field(default_factory=list)


KINDS = {event.kind: event for event in Event.__subclasses__()}
"""Classes of events by ``kind``."""

OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Ignore an event: a listener for callers that need none."""


def line_of(event: Event) -> str:
    """Return an event as one line of JSON, without the line break."""
    return json.dumps({"event": event.kind, **asdict(event)})


def event_of(line: str | bytes) -> Event | None:
    """Return the event that a line of JSON describes; None for any other line, such as output of a library."""
    try:
        about = json.loads(line)
        return KINDS[about.pop("event")](**about)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
