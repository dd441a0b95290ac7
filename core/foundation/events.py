"""Events that a running task reports, and requests that live mode receives. Processes exchange them as lines of JSON:
``line_of`` writes a line, ``event_of`` reads it.
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
    """Progress of a task: ``done`` of ``total`` units of a ``phase``.

    The phases and their units are
    ``compile``: percent of the compile time of all kernels; ``total`` is reached once this job's kernels are compiled
    ``tetrahedralize``: the whole phase is one unit; ``method`` is the name of the mesher
    ``materials``: the whole phase is one unit
    ``subspace``: percent; the current ``step`` is named
    ``simulate``: frames
    ``handles``: frames
    """

    phase: str
    done: int
    total: int
    step: str = ""
    method: str = ""


class Mesh(Event, kind="mesh"):
    """Event reported by a task: the tet mesh of a body has been built.

    Attributes
    ----------
    tets, vertices, components : numbers of tets, tet vertices and face-connected components
    cells_across : number of lattice cells along the longest side
    size : m, length of the longest side at rest
    contrast : ratio of the largest to the smallest Young's modulus
    thickness : m, median thickness of the parts less than two cells thick; 0 if there are none
    movement : m, or None if only one frame is known
        Largest displacement per frame of a pin or collider vertex, after subtraction of that vertex's mean displacement
        per frame.
    slowest : Hz, estimated lowest vibration frequency, 0 if unknown
    outside : number of surface vertices outside all tets
    min_dihedral, max_dihedral : degrees, extreme angles between the faces of a tet
    mass : kg
    volume : m³
    warnings : texts for the user
    of_resolution : warnings about resolution and volume, worst first; they are also in ``warnings``
    is_thin : some parts of the body are thinner than a cell
    points_warning : warning about too few cubature points; "" if there is none
    points_that_suffice : sufficient number of cubature points, 0 if unknown
    match : summary of the match of vibrations to a finer body; "" without a match
    vibrations : three numbers per vibration (``match_report.Vibration``)
        Frequency without a match, Hz; frequency of the paired vibration of the finer body, Hz, 0 without a pair;
        fraction of the mode's squared mass norm that lies in the span of the finer body's modes.
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
    """Event of a bake of several bodies: the preparation events that follow concern the body with the index ``number``,
    from 0.
    """

    number: int


class ContactWarnings(Event, kind="contact_warnings"):
    """Event reported by a bake: all bodies are prepared, and no step was made yet. ``warnings`` are texts about
    contact: bodies that begin in colliders, inexact collision surfaces, fast colliders, and contact pairs without
    effect. ``move`` is as in ``errors.OverlapError`` if a body begins inside a collider, else empty.
    """

    warnings: list[str]
    move: list[Any] = field(default_factory=list)


class FrameDone(Event, kind="frame"):
    """Event reported by a task: a frame is on disk. The computation took ``seconds``. ``report`` is the solver's report
    of the frame's last step.
    """

    frame: int
    seconds: float
    report: dict[str, Any]


class Done(Event, kind="done"):
    """Event reported by a task: the work is finished, with ``frames`` frames. ``unconverged`` lists the frames with a
    step that did not converge.
    """

    frames: int
    unconverged: list[int]


class StoppedAfter(Event, kind="stopped"):
    """Event reported by a task: the task stopped on request, or after the last requested frame. ``frame`` is the last
    finished frame. ``frame`` is None if no frame is finished, or if the task computes no frames.
    """

    frame: int | None = None


class Failed(Event, kind="error"):
    """Event reported by a task: an error ended the task. ``code`` is the class name of the error. ``move`` is as in
    ``errors.OverlapError``, and empty for other errors.
    """

    code: str
    message: str
    remedy: str = ""
    move: list[Any] = field(default_factory=list)


class Ready(Event, kind="ready"):
    """Event of live mode: the body is prepared and displayed at ``frame``. ``modes`` and ``points`` are the numbers of
    modes and cubature points, 0 without a subspace. ``handles`` and ``positions`` are as in :class:`LiveFrame`.
    """

    frame: int
    modes: int
    points: int
    handles: str = ""
    positions: str = ""


class LiveFrame(Event, kind="live"):
    """Event of live mode: a frame of the body.

    Attributes
    ----------
    handles : displayed shape of a body in a subspace; "" for other bodies
        Affine displacements (h,4,3), m, which skinning weights blend. Encoded in base64 of little-endian doubles.
    positions : displayed shape of other bodies; "" for a body in a subspace
        Positions (n,3), m, of the surface vertices. Encoded in base64 of little-endian floats.
    apart : m, largest difference between displayed and simulated positions at sampled vertices of a body in a subspace;
        0 for other bodies
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
    """Event of live mode: the new stiffness is applied, but modes and the match of vibrations are not recomputed.
    ``stale`` is True if the modes or the match belong to a different distribution of stiffness over the body.
    """

    stale: bool


class Recorded(Event, kind="recorded"):
    """Event of live mode: a recording of ``frames`` frames has ended."""

    frames: int


class RequestRejected(Event, kind="rejected"):
    """Event of live mode: a request failed, and the body is unchanged."""

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
    """Request a recording of live mode, which begins at the first frame after a reset and ends at the last frame or at
    a :class:`StopRecording`. If ``modes`` is not 0, the recording is also stored as handles: affine maps per frame,
    blended by skinning weights. ``modes`` is the requested number of skinning modes.
    """

    modes: int = 0


class StopRecording(Event, kind="stop_recording"):
    """Request the end of a recording; the answer is :class:`Recorded`."""


class SetStiffness(Event, kind="set_stiffness"):
    """Request a change of stiffness in live mode; the answer is :class:`StiffnessApplied`. ``youngs_modulus`` lists all
    moduli, Pa, in the order of ``settings.moduli``; ``vibrations`` lists the stiffness factor per controlled vibration.
    Either list restores the job's values if it is empty.
    """

    youngs_modulus: list[float]
    vibrations: list[float] = field(default_factory=list)


KINDS = {event.kind: event for event in Event.__subclasses__()}
"""Classes of events by ``kind``."""

OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Ignore an event. This is a listener for callers that do not need events."""


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
