"""Service of live mode in the child process.

The service executes commands, answers with events and stores recorded frames.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Callable, Iterable

import numpy as np

from ...foundation import events
from ...foundation.errors import SettingsError, SinewError, StoreError, SubspaceError
from ...foundation.events import (
    Event,
    LiveFrame,
    OnEvent,
    Ready,
    Recorded,
    RequestRejected,
    StiffnessApplied,
    StoppedAfter,
    event_of,
)
from ...foundation.schema.settings import moduli
from ...foundation.schema.solver_kinds import SOLVER_KINDS
from ...jobs.job.job import Job
from ...jobs.store.frame_store import FrameStore
from ...jobs.store.store_lock import alone
from ...methods.subspaces.display_handles import DisplayHandles
from ...methods.subspaces.reduced_model import Subspace
from ...methods.subspaces.skinning import Coordinates
from ..preparation.prepare import Prepared, Stopped, prepare
from .compile_kernels import load_kernels, warm_up
from .fit_handles import keep_handles
from .live import Grab, LiveBody
from .single_body import Frame


@alone
def serve(
    job: Job,
    store: FrameStore,
    on_event: OnEvent,
    commands: Iterable[str],
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Prepare a job's body for live mode and execute commands.

    ``commands``: lines with one command each.

    The service ends after the last command, or when ``should_stop`` returns True. Raises SettingsError if the solver
    does not support live mode. Raises SinewError if the body cannot be prepared.
    """
    if not job.body.solver.kind.plays_live:
        quick = " or ".join(kind.label for kind in SOLVER_KINDS.values() if kind.plays_live)
        raise SettingsError("Live mode needs a reduced solver.", f"Choose {quick}.")
    warm_up(on_event, [job], live=True)
    load_kernels(job, live=True)
    longer, prepared = job.extended(), None
    with contextlib.suppress(Stopped):
        prepared = None if should_stop() else prepare(longer, store, on_event, should_stop)
    if prepared is not None:
        store.write_cached("display", display_arrays(longer, prepared), {})
        service = _Service(job, LiveBody(longer, prepared), prepared, store, on_event)
        service.ready()
        for line in commands:
            if should_stop():
                break
            service.answer(event_of(line))
    on_event(StoppedAfter())


def display_arrays(job: Job, prepared: Prepared) -> dict[str, np.ndarray]:
    """Return the arrays with which an interface draws a body, by name.

    There are n render vertices, h handles and K moduli of the body's materials (``settings.moduli``). Each render
    vertex lies in a tet, which blends the moduli.

    - ``rest`` (n,3) m, ``weights`` (n,h), ``centre`` (3,) and ``size`` (1,) are as in :mod:`subspaces.skinning`.
    - ``materials`` (n,K): weights of the moduli in the tet of each vertex.
    - ``log_stiffness`` (n,): base-10 logarithm of the blended Young's modulus, Pa.
    - ``eigenvalues`` (m,), 1/s², of the m modes of a subspace.

    A body in a subspace also has arrays for its c cubature points. Any other body has one handle with zero weights and
    no eigenvalues.

    - ``clusters`` (n,): cubature point per vertex.
    - ``points_rest`` (c,3) m, ``points_weights`` (c,h) and ``points_volume`` (c,) m³ of the cubature points.
    """
    embedding, rest = prepared.embedding, job.body.surface.positions
    parts_of_moduli = prepared.modulus_blend.weights[embedding.tet_indices]
    coordinates = Coordinates.around(rest)
    arrays = {
        "rest": rest,
        "weights": np.zeros((len(rest), 1), dtype=np.float32),
        "centre": coordinates.centre,
        "size": np.array([coordinates.size]),
        "log_stiffness": parts_of_moduli @ np.log10(moduli(job.body.materials)),
        "materials": parts_of_moduli.astype(np.float32),
        "eigenvalues": np.zeros(0),
    }
    return arrays if prepared.subspace is None else arrays | _subspace_arrays(prepared, prepared.subspace)


def _subspace_arrays(prepared: Prepared, subspace: Subspace) -> dict[str, np.ndarray]:
    embedding, mesh = prepared.embedding, prepared.model.mesh
    skinning, parts = subspace.model.skinning, subspace.parts
    elements = prepared.model.elements
    first = np.unique(elements.of_tet, return_index=True)[1]
    corners = mesh.tets[first[parts.elements]]
    return {
        "weights": skinning.weights_at(embedding).astype(np.float32),
        "centre": skinning.coordinates.centre,
        "size": np.array([skinning.coordinates.size]),
        "clusters": parts.clusters[elements.of_tet[embedding.tet_indices]].astype(np.int32),
        "points_rest": mesh.rest_positions[corners].mean(axis=1),
        "points_weights": skinning.weights[corners].mean(axis=1).astype(np.float32),
        "points_volume": parts.volumes,
        "eigenvalues": parts.eigenvalues,
    }


class _Service:
    def __init__(self, job: Job, body: LiveBody, prepared: Prepared, store: FrameStore, on_event: OnEvent) -> None:
        self._job, self._body, self._prepared = job, body, prepared
        self._store, self._on_event = store, on_event
        self._shown = DisplayHandles(prepared.subspace, prepared.embedding) if prepared.subspace else None
        self._recording, self._modes = False, 0

    def ready(self) -> None:
        """Reset the body to the first frame and send the ready event."""
        subspace, first = self._prepared.subspace, self._body.reset()
        count = (len(subspace.parts.eigenvalues), len(subspace.parts.elements)) if subspace else (0, 0)
        self._on_event(Ready(first.number, *count, **self._shape(first)))

    def _shape(self, frame: Frame) -> dict[str, str]:
        """Return the displayed shape of a frame in base 64: ``handles`` (64-bit) or ``positions`` (32-bit)."""
        if self._shown is not None:
            handles = self._shown.of(frame.state.positions).astype("<f8")
            return {"handles": base64.b64encode(handles.tobytes()).decode()}
        surface = self._surface(frame).astype("<f4")
        return {"handles": "", "positions": base64.b64encode(surface.tobytes()).decode()}

    def _surface(self, frame: Frame) -> np.ndarray:
        last = min(frame.number, self._job.frame_end)
        return self._prepared.surface(frame.state.positions, last - self._job.frame_start)

    def answer(self, command: Event | None) -> None:
        """Execute one command, and send its errors as events.

        Raises StoreError if a frame cannot be stored while recording, since the recording would lack that frame.
        """
        began = time.perf_counter()
        try:
            match command:
                case events.Advance(grabs):
                    made = [Grab(g["vertex"], np.array(g["target"], dtype=np.float64), g["stiffness"]) for g in grabs]
                    self._tell(self._body.advance(made), began)
                case events.Reset():
                    self._recording = False
                    self._tell(self._body.reset(), began)
                case events.Record(modes):
                    self._store.keep_until(None)
                    self._recording, self._modes = True, modes
                    self._tell(self._body.reset(), began)
                case events.StopRecording():
                    self._end_recording()
                case events.SetStiffness(youngs_moduli, vibrations, activation):
                    self._on_event(StiffnessApplied(self._body.set_stiffness(youngs_moduli, vibrations, activation)))
                case _:
                    raise SettingsError(
                        "Live mode received an unknown command.", "Update Sinew's add-on and library together."
                    )
        except StoreError:
            raise
        except SinewError as error:
            self._on_event(RequestRejected(error.code, error.message, error.remedy))

    def _tell(self, frame: Frame, began: float) -> None:
        shape = self._shape(frame)
        seconds = time.perf_counter() - began
        if self._recording:
            self._store.write(frame.number, self._surface(frame), frame.state, frame.reports, seconds)
        self._on_event(
            LiveFrame(
                frame=frame.number,
                **shape,
                iterations=sum(report.iterations for report in frame.reports),
                converged=all(report.converged for report in frame.reports),
                seconds=seconds,
                apart=self._shown.max_difference(frame.state.positions) if self._shown else 0.0,
                recording=self._recording,
            )
        )
        if self._recording and frame.number >= self._job.frame_end:
            self._end_recording()

    def _end_recording(self) -> None:
        self._recording = False
        if self._modes:
            with contextlib.suppress(SubspaceError):  # the add-on uses shape keys instead, and its panel says so
                keep_handles(self._job, self._store, self._modes, self._prepared)
        self._on_event(Recorded(len(self._store.frames())))
