"""Live mode as the child process serves it: commands in, events out, frames into the store while recording.

Commands, one JSON object a line:

    {"do":"advance","grabs":[{"vertex":12,"target":[x,y,z],"stiffness":300.0}]}     one frame on
    {"do":"reset"}                                      back to the first frame
    {"do":"record","handles":false}                     reset, and keep every frame until the last; as handles, too
    {"do":"stop_recording"}
    {"do":"stiffness","youngs_modulus":[...]}           all moduli of the materials, Pa

Every ``advance`` and ``reset`` is answered by a ``live`` event, the others by one of their own; ``contract.md`` lists
them.
"""

from __future__ import annotations

import base64
import contextlib
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import SettingsError, SinewError, StoreError
from ..materials.lame import youngs_modulus
from ..solvers.registry import in_subspace
from ..subspaces.shown_handles import ShownHandles
from .frame_store import FrameStore
from .handles_of_frames import keep_handles
from .job import Job
from .live import Grab, LiveBody
from .prepare import OnEvent, Prepared, Stopped, prepare
from .run import Frame
from .store_lock import alone
from .warm_up import load_kernels, warm_up


@alone
def serve(
    job: Job,
    store: FrameStore,
    on_event: OnEvent,
    commands: Iterable[str],
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Prepare a job's body and answer commands until they end or ``should_stop``. SettingsError when its solver knows
    no subspace; named errors when the body cannot be prepared.
    """
    if not in_subspace(job.solver):
        raise SettingsError("Live mode needs a solver of a subspace.", "Choose Subspace Mixed FEM or Subspace FEM.")
    warm_up(on_event)
    load_kernels(job)
    longer, prepared = job.prolonged(), None
    with contextlib.suppress(Stopped):
        prepared = None if should_stop() else prepare(longer, store, on_event, should_stop)
    if prepared is not None:
        store.keep("display", display_arrays(longer, prepared), {})
        service = _Service(job, LiveBody(longer, prepared), prepared, store, on_event)
        service.ready()
        for line in commands:
            if should_stop():
                break
            service.answer(json.loads(line))
    on_event({"event": "stopped", "frame": None})


def display_arrays(job: Job, prepared: Prepared) -> dict[str, np.ndarray]:
    """What a body in a subspace is drawn with: n vertices of the render surface, h handles, c cubature points.

    ``rest`` (n,3) m, ``weights`` (n,h), ``centre`` (3,), ``size`` (1,) as in :mod:`subspaces.skinning`;
    ``log_stiffness`` (n,) of the tet around each vertex, to the base 10, Pa; ``materials`` (n,K) the parts of the K
    moduli of the materials there; ``clusters`` (n,) its cluster; ``points_rest`` (c,3), ``points_weights`` (c,h),
    ``points_volume`` (c,) m³; ``eigenvalues`` (m,) 1/s².
    """
    subspace, embedding, mesh = prepared.subspace, prepared.embedding, prepared.model.mesh
    skinning, parts = subspace.model.skinning, subspace.parts
    corners = mesh.tets[parts.tets]
    E = youngs_modulus(*prepared.model.elastic.parameters.T)
    return {
        "rest": job.surface.positions,
        "weights": skinning.weights_at(embedding).astype(np.float32),
        "centre": skinning.coordinates.centre,
        "size": np.array([skinning.coordinates.size]),
        "log_stiffness": np.log10(E[embedding.tet_indices]),
        "materials": prepared.modulus_weights[embedding.tet_indices].astype(np.float32),
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
        self._shown = ShownHandles(prepared.subspace, prepared.embedding)
        self._recording = self._keeps_handles = False

    def ready(self) -> None:
        """Say so, and what is there."""
        parts, first = self._prepared.subspace.parts, self._body.reset()
        told = {"modes": len(parts.eigenvalues), "points": len(parts.tets), "handles": self._handles(first)}
        self._on_event({"event": "ready", "frame": first.number, **told})

    def _handles(self, frame: Frame) -> str:
        handles = self._shown.of(frame.state.positions)
        return base64.b64encode(handles.astype("<f8").tobytes()).decode()

    def answer(self, command: dict[str, Any]) -> None:
        """Carry out one command; a failed step is told and leaves the body as it was. StoreError when a frame of a take
        cannot be kept: those that follow would be taken for it.
        """
        began = time.perf_counter()
        try:
            match command["do"]:
                case "advance":
                    grabs = [
                        Grab(g["vertex"], np.array(g["target"], dtype=np.float64), g["stiffness"])
                        for g in command["grabs"]
                    ]
                    self._tell(self._body.advance(grabs), began)
                case "reset":
                    self._recording = False
                    self._tell(self._body.reset(), began)
                case "record":
                    self._store.keep_until(None)
                    self._recording, self._keeps_handles = True, bool(command.get("handles"))
                    self._tell(self._body.reset(), began)
                case "stop_recording":
                    self._end_recording()
                case "stiffness":
                    stale = self._body.set_stiffness(command["youngs_modulus"])
                    self._on_event({"event": "stiffness", "stale": stale})
                case other:
                    raise SettingsError(f"Live mode knows no command {other!r}.", "Update both halves of Sinew.")
        except StoreError:
            raise
        except SinewError as error:
            told = {"code": error.code, "message": error.message, "remedy": error.remedy}
            self._on_event({"event": "halted", **told})

    def _tell(self, frame: Frame, began: float) -> None:
        handles = self._handles(frame)
        seconds = time.perf_counter() - began
        if self._recording:
            surface = self._prepared.surface(frame.state.positions, frame.number - self._job.frame_start)
            self._store.write(frame.number, surface, frame.state, frame.reports, seconds)
        self._on_event(
            {
                "event": "live",
                "frame": frame.number,
                "handles": handles,
                "iterations": sum(report.iterations for report in frame.reports),
                "converged": all(report.converged for report in frame.reports),
                "seconds": seconds,
                "apart": self._shown.apart(frame.state.positions),
                "recording": self._recording,
            }
        )
        if self._recording and frame.number >= self._job.frame_end:
            self._end_recording()

    def _end_recording(self) -> None:
        self._recording = False
        if self._keeps_handles:
            keep_handles(self._job, self._store, 0, self._prepared)
        self._on_event({"event": "recorded", "frames": len(self._store.frames())})
