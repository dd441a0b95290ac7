"""Live mode as the child process serves it: commands in, events out (``core/events.py``), frames into the store while
recording.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Callable, Iterable

import numpy as np

from .. import events
from ..body.prepare import Prepared, Stopped, prepare
from ..errors import SettingsError, SinewError, StoreError
from ..events import Event, Halted, LiveFrame, OnEvent, Ready, Recorded, Stiffened, StoppedAfter, event_of
from ..job.job import Job
from ..settings import moduli
from ..solver_kinds import SOLVER_KINDS
from ..store.frame_store import FrameStore
from ..store.store_lock import alone
from ..subspaces.display_handles import DisplayHandles
from .handles_of_frames import keep_handles
from .live import Grab, LiveBody
from .run import Frame
from .warm_up import load_kernels, warm_up


@alone
def serve(
    job: Job,
    store: FrameStore,
    on_event: OnEvent,
    commands: Iterable[str],
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Prepare a job's body and answer commands, a line each, until they end or ``should_stop``. SettingsError when its
    solver knows no subspace; named errors when the body cannot be prepared.
    """
    if not job.body.solver.kind.plays_live:
        quick = " or ".join(kind.label for kind in SOLVER_KINDS.values() if kind.plays_live)
        raise SettingsError("Live mode needs a solver of a subspace.", f"Choose {quick}.")
    warm_up(on_event)
    load_kernels(job)
    longer, prepared = job.prolonged(), None
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
    """What a body in a subspace is drawn with: n vertices of the render surface, h handles, c cubature points.

    ``rest`` (n,3) m, ``weights`` (n,h), ``centre`` (3,), ``size`` (1,) as in :mod:`subspaces.skinning`;
    ``log_stiffness`` (n,), as painted, of the tet around each vertex, to the base 10, Pa; ``materials`` (n,K) the
    parts of the K moduli of the materials there; ``clusters`` (n,) its cluster; ``points_rest`` (c,3),
    ``points_weights`` (c,h), ``points_volume`` (c,) m³; ``eigenvalues`` (m,) 1/s².
    """
    subspace, embedding, mesh = prepared.subspace, prepared.embedding, prepared.model.mesh
    skinning, parts = subspace.model.skinning, subspace.parts
    corners = mesh.tets[parts.tets]
    parts_of_moduli = prepared.modulus_weights[embedding.tet_indices]
    return {
        "rest": job.body.surface.positions,
        "weights": skinning.weights_at(embedding).astype(np.float32),
        "centre": skinning.coordinates.centre,
        "size": np.array([skinning.coordinates.size]),
        "log_stiffness": parts_of_moduli @ np.log10(moduli(job.body.materials)),
        "materials": parts_of_moduli.astype(np.float32),
        "clusters": parts.clusters[embedding.tet_indices].astype(np.int32),
        "points_rest": mesh.rest_positions[corners].mean(axis=1),
        "points_weights": skinning.weights[corners].mean(axis=1).astype(np.float32),
        "points_volume": parts.volumes,
        "eigenvalues": parts.eigenvalues,
    }


class _Service:
    def __init__(self, job: Job, body: LiveBody, prepared: Prepared, store: FrameStore, on_event: OnEvent) -> None:
        self._job, self._body, self._prepared = job, body, prepared
        self._store, self._on_event = store, on_event
        self._shown = DisplayHandles(prepared.subspace, prepared.embedding)
        self._recording = self._keeps_handles = False

    def ready(self) -> None:
        """Say so, and what is there."""
        parts, first = self._prepared.subspace.parts, self._body.reset()
        self._on_event(Ready(first.number, len(parts.eigenvalues), len(parts.tets), self._handles(first)))

    def _handles(self, frame: Frame) -> str:
        handles = self._shown.of(frame.state.positions)
        return base64.b64encode(handles.astype("<f8").tobytes()).decode()

    def answer(self, command: Event | None) -> None:
        """Carry out one command; a failed step is told and leaves the body as it was. StoreError when a frame of a take
        cannot be kept: those that follow would be taken for it.
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
                case events.Record(handles):
                    self._store.keep_until(None)
                    self._recording, self._keeps_handles = True, handles
                    self._tell(self._body.reset(), began)
                case events.StopRecording():
                    self._end_recording()
                case events.SetStiffness(youngs_moduli, vibrations):
                    self._on_event(Stiffened(self._body.set_stiffness(youngs_moduli, vibrations)))
                case _:
                    raise SettingsError("Live mode does not know the command.", "Update both halves of Sinew.")
        except StoreError:
            raise
        except SinewError as error:
            self._on_event(Halted(error.code, error.message, error.remedy))

    def _tell(self, frame: Frame, began: float) -> None:
        handles = self._handles(frame)
        seconds = time.perf_counter() - began
        if self._recording:
            surface = self._prepared.surface(frame.state.positions, frame.number - self._job.frame_start)
            self._store.write(frame.number, surface, frame.state, frame.reports, seconds)
        self._on_event(
            LiveFrame(
                frame=frame.number,
                handles=handles,
                iterations=sum(report.iterations for report in frame.reports),
                converged=all(report.converged for report in frame.reports),
                seconds=seconds,
                apart=self._shown.apart(frame.state.positions),
                recording=self._recording,
            )
        )
        if self._recording and frame.number >= self._job.frame_end:
            self._end_recording()

    def _end_recording(self) -> None:
        self._recording = False
        if self._keeps_handles:
            keep_handles(self._job, self._store, 0, self._prepared)
        self._on_event(Recorded(len(self._store.frames())))
