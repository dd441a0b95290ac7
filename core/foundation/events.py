"""Events that a running task reports, and requests to live mode.

Processes exchange events as lines of JSON: ``line_of`` writes a line, ``event_of`` reads the line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Event:
    """Base class of events. Subclasses become frozen dataclasses.

    ``kind``: name of the event in its line of JSON.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind
        dataclass(frozen=True)(cls)


class Phase(Event, kind="phase"):
    """Progress of a task: ``done`` of ``total`` units of a ``phase``.

    The phases and their units are
    ``compile``: percent of the compile time of all kernels; ``total`` is reached once this job's kernels are compiled
    ``tetrahedralize``: one unit for the whole phase; ``method`` is the name of the mesher
    ``materials``: one unit for the whole phase
    ``subspace``: percent; ``step`` is the name of the current step
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
    """Event of a bake of several bodies: the following preparation events concern one body.

    ``number``: index of that body, from 0.
    """

    number: int


class ContactWarnings(Event, kind="contact_warnings"):
    """Event reported by a bake before the first step, with warnings about contact.

    ``warnings``: texts on bodies that begin in colliders, inexact collision surfaces, fast colliders, and contact pairs
        without effect.
    ``move``: as in ``errors.OverlapError`` if a body begins inside a collider; else empty.
    """

    warnings: list[str]
    move: list[Any] = field(default_factory=list)


class FrameDone(Event, kind="frame"):
    """Event reported by a task: a frame is on disk.

    ``seconds``: computing time of the frame, s.
    ``report``: the solver's report of the frame's last step.
    """

    frame: int
    seconds: float
    report: dict[str, Any]


class Done(Event, kind="done"):
    """Event reported by a task: the work is finished.

    ``frames``: number of frames.
    ``unconverged``: numbers of the frames with a step that did not converge.
    """

    frames: int
    unconverged: list[int]


class StoppedAfter(Event, kind="stopped"):
    """Event reported by a task: the task stopped on request, or after the last requested frame.

    ``frame``: last finished frame, or None without one.
    """

    frame: int | None = None


class Failed(Event, kind="error"):
    """Event reported by a task: an error ended the task.

    ``code``: class name of the error.
    ``move``: as in ``errors.OverlapError``; empty for other errors.
    """

    code: str
    message: str
    remedy: str = ""
    move: list[Any] = field(default_factory=list)


class Ready(Event, kind="ready"):
    """Event of live mode: the body is prepared and displayed at ``frame``.

    ``modes``, ``points``: numbers of modes and cubature points; 0 without a subspace.
    ``handles``, ``positions``: as in :class:`LiveFrame`.
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
    """Event of live mode: the new stiffness is applied. Modes and the match of vibrations are not recomputed.

    ``stale``: True if the modes or the match belong to a different distribution of stiffness over the body.
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
    """Request the next frame of live mode; the answer is a :class:`LiveFrame`. Requests are answered in order.

    ``grabs``: springs that pull surface vertices, ``{"vertex": 12, "target": [x, y, z], "stiffness": 300.0}``, m and
        N/m.
    """

    grabs: list[dict[str, Any]]


class Reset(Event, kind="reset"):
    """Request a reset of live mode to the first frame; the answer is a :class:`LiveFrame`."""


class Record(Event, kind="record"):
    """Request a recording of live mode.

    The recording begins at the first frame after a reset. It ends at the last frame or at a :class:`StopRecording`.
    ``modes``: requested number of skinning modes. If not 0, the recording is also stored as handles: affine maps per
        frame, blended by skinning weights.
    """

    modes: int = 0


class StopRecording(Event, kind="stop_recording"):
    """Request the end of a recording; the answer is :class:`Recorded`."""


class SetStiffness(Event, kind="set_stiffness"):
    """Request a change of stiffness or activation in live mode; the answer is :class:`StiffnessApplied`.

    ``youngs_modulus``: all moduli, Pa, in the order of ``settings.moduli``; empty for the job's values.
    ``vibrations``: stiffness factor per controlled vibration; empty for the job's values.
    ``activation``: activation per muscle, 0 to 1; empty for the job's values.
    """

    youngs_modulus: list[float]
    vibrations: list[float] = field(default_factory=list)
    activation: list[float] = field(default_factory=list)


KINDS = {event.kind: event for event in Event.__subclasses__()}
"""Classes of events by ``kind``."""

OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Ignore an event. Callers without interest in events pass this listener."""


def line_of(event: Event) -> str:
    """Return an event as one line of JSON, without the line break."""
    return json.dumps({"event": event.kind, **asdict(event)})


def event_of(line: str | bytes) -> Event | None:
    """Return the event that a line of JSON describes, or None for any other line."""
    try:
        about = json.loads(line)
        return KINDS[about.pop("event")](**about)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
