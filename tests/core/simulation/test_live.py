"""Live mode: what is played is what is baked, commands are answered, and nothing of the body is lost by a bad one."""

import base64
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import SettingsError, SpringError, StoreError
from sinew.core.foundation.events import Advance, Record, Reset, SetStiffness, StoppedAfter, StopRecording, line_of
from sinew.core.jobs.store.cached_handles import cached_handles
from sinew.core.jobs.store.cached_subspace import CachedSubspace
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.subspaces.reduced_model import subspace_of
from sinew.core.methods.subspaces.skinning import Coordinates, skinned
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.live import Grab, LiveBody, take_springs
from sinew.core.simulation.frame_loop.live_service import serve
from sinew.core.simulation.preparation import prepare as preparation
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, rising_plate, shaken_bar

FRAMES = 8


def job_of(frames=FRAMES, **settings):
    settings = {"solver": "subspace_mixed_fem", "modes": 4, "cubature_points": 60, **settings}
    return shaken_bar(frames, **settings).with_body(colliders=(rising_plate(frames),))


def grabs_of(job):
    """Two vertices pulled about: one let go and grabbed again, both at once for a while."""
    X = job.body.surface.positions
    far, near = int(np.argmax(X[:, 0])), int(np.argmin(np.abs(X[:, 0] - 0.2)))
    frames = [[] for _ in range(FRAMES)]
    for k in (1, 2, 5, 6):
        frames[k].append(Grab(far, X[far] + [0.0, 0.02 * k, 0.01 * k], 40.0 + k))
    for k in (2, 3):
        frames[k].append(Grab(near, X[near] + [0.0, 0.0, 0.03], 80.0))
    return frames[: job.frame_count]


def played(job, frames):
    longer = job.extended()
    prepared = prepare(longer)
    body = LiveBody(longer, prepared)
    states = [body.reset(), *(body.advance(grabs) for grabs in frames[1:])]
    last = job.frame_count - 1
    return [prepared.surface(frame.state.positions, min(k, last)) for k, frame in enumerate(states)]


@pytest.mark.parametrize(
    ("settings", "stretch"),
    [
        ({}, 1.0),
        ({"substeps": 3, "integrator": "bdf2"}, 1.2),
        ({"solver": "subspace_fem"}, 1.2),
        ({"substeps": 2, "integrator": "theta_midpoint"}, 1.0),
    ],
)
def test_a_take_bakes_to_the_same_positions(settings, stretch):
    job = job_of(**settings)
    if stretch != 1.0:
        job = job.with_body(initial_shape=job.body.surface.positions * [stretch, 1.0, 1.0])
    frames = grabs_of(job)
    live = played(job, frames)
    assert np.ptp(live[0][:, 0]) == pytest.approx(0.4 * stretch, rel=0.01)
    again = baked(job.with_body(springs=take_springs(frames, job.body.first_positions)))
    assert len(live) == len(again) == FRAMES
    assert max(np.abs(a - b).max() for a, b in zip(live, again, strict=True)) <= 1e-12
    plain = baked(job)
    assert max(np.abs(a - b).max() for a, b in zip(live, plain, strict=True)) > 0.01, "grabs do something"


def test_after_the_last_frame_it_goes_on_and_rests():
    job = job_of(3, mass_damping=20.0).with_body(colliders=())
    X = job.body.surface.positions
    ends = played(job, [[]] * 120)
    assert len(ends) == 120
    assert np.abs(ends[-1] - ends[-2]).max() <= 1e-6
    pins = job.body.pinned_vertices
    assert np.abs(ends[-1][pins] - job.body.pin_positions[-1]).max() <= 1e-12
    assert np.abs(ends[-1] - X).max() > 1e-3


def test_stiffness_changes_while_it_runs(monkeypatch):
    """The same as a body that had that stiffness from the start, in the same modes."""
    job = job_of().with_body(colliders=())
    E = [material.youngs_modulus for material in job.body.materials]
    longer = job.extended()
    body = LiveBody(longer, prepared := prepare(longer))
    assert not body.set_stiffness([2 * e for e in E])
    live = [prepared.surface(body.advance([]).state.positions, k) for k in (1, 2, 3)]
    parts = prepared.subspace.parts
    monkeypatch.setattr(
        preparation, "cached_subspace", lambda model, *_others: CachedSubspace(subspace_of(model, parts), 1.0, 0)
    )
    stiffer = job.with_body(
        materials=tuple(replace(m, youngs_modulus=2 * m.youngs_modulus) for m in job.body.materials)
    )
    other = played(stiffer, [[]] * 4)[1:]
    # The moduli differ by their round-off, 3e-15, which the condition of the contrast of 2e4 multiplies by up to 3e6.
    assert max(np.abs(a - b).max() for a, b in zip(live, other, strict=True)) <= 1e-7 * job.body.surface.size
    assert body.set_stiffness([2 * E[0], E[1]])
    with pytest.raises(SettingsError):
        body.set_stiffness([0.0, 1.0])
    with pytest.raises(SpringError):
        body.advance([Grab(10**6, np.zeros(3), 1.0)])


def test_commands_are_answered_and_recorded(tmp_path):
    job = job_of(4)
    store = FrameStore.create(tmp_path / "live", job)
    frames, events = grabs_of(job), []
    commands = [Advance([{"vertex": 10**6, "target": [0, 0, 0], "stiffness": 1.0}]), Advance([]), Record()]
    for grabs in frames[1:]:
        grabs = [{"vertex": g.vertex, "target": list(g.target), "stiffness": g.stiffness} for g in grabs]
        commands.append(Advance(grabs))
    lines = [*map(line_of, commands), '{"event": "jump"}', line_of(Reset())]
    serve(job, store, events.append, lines)
    (ready,) = (event for event in events if event.kind == "ready")
    assert not np.frombuffer(base64.b64decode(ready.handles), "<f8").any(), "it begins at rest"
    assert [event.kind for event in events if event.kind not in ("phase", "mesh")] == (
        ["ready", "rejected", "live", "live", *["live"] * 3, "recorded", "rejected", "live", "stopped"]
    )
    assert store.frames() == [1, 2, 3, 4]
    shown = store.read_cached("display")[0]
    last = [event for event in events if event.kind == "live"][-2]
    handles = np.frombuffer(base64.b64decode(last.handles), "<f8").reshape(-1, 4, 3)
    parts = shown["materials"]
    assert parts.shape == (len(job.body.surface.positions), 2) and np.abs(parts.sum(axis=1) - 1.0).max() <= 1e-6
    blended = parts @ np.log10([material.youngs_modulus for material in job.body.materials])
    assert np.abs(blended - shown["log_stiffness"]).max() <= 1e-5, "what is drawn when a material becomes stiffer"
    drawn = skinned(shown["rest"], shown["weights"], Coordinates(shown["centre"], float(shown["size"][0])), handles)
    at_tets = prepare(job).surface(store.last_state(1)[1].positions)
    beside = np.linalg.norm(drawn - at_tets, axis=1).max()
    assert last.apart == pytest.approx(beside, rel=1e-3, abs=1e-6 * job.body.surface.size)
    assert np.linalg.norm(drawn - store.read(4), axis=1).max() <= 0.01 * job.body.surface.size

    final = job.with_body(springs=take_springs(frames, job.body.surface.positions))
    kept = FrameStore.create(tmp_path / "bake", final)
    kept.take_over(store)
    assert kept.outdated_by(final) == [] and kept.read_cached("subspace") and kept.read_cached("display") is None
    taken = [kept.read(frame) for frame in kept.frames()]
    fresh = FrameStore.create(tmp_path / "again", final)
    assert bake(final, fresh) == "done"
    assert max(np.abs(a - fresh.read(1 + k)).max() for k, a in enumerate(taken)) <= 1e-12
    last = kept.read(4)
    kept.keep_until(3)
    assert bake(final, kept, resume=True) == "done", "a take can be resumed"
    assert np.abs(kept.read(4) - last).max() <= 1e-12


def test_a_take_that_cannot_be_kept_ends(tmp_path, monkeypatch):
    """A frame that is missing in the middle would shift all grabs after it."""
    job, events = job_of(4), []
    store = FrameStore.create(tmp_path, job)
    write = store.write

    def full(number, *rest):
        if number == 2:
            raise StoreError("frame_000002.sinew cannot be written (No space left on device).", "Free disk space.")
        write(number, *rest)

    monkeypatch.setattr(store, "write", full)
    commands = (Record(), Advance([]), Advance([]), StopRecording())
    with pytest.raises(StoreError, match="No space"):
        serve(job, store, events.append, map(line_of, commands))
    assert store.frames() == [1] and not any(event.kind in ("recorded", "rejected") for event in events)


def test_live_mode_needs_a_subspace_or_nodes(tmp_path):
    job = shaken_bar(3)
    with pytest.raises(SettingsError, match="needs a reduced solver"):
        serve(job, FrameStore.create(tmp_path, job), lambda event: None, [])


def carried_bar(nodes, frames=FRAMES, solver="conjac"):
    """The bar with nodes along its upper edge."""
    job = shaken_bar(frames, solver=solver)
    X = job.body.surface.positions
    found = [int(np.argmin(np.linalg.norm(X - [x, 0.05, 0.1], axis=1))) for x in (0.4, 0.2)[:nodes]]
    return job.with_body(dynamic_nodes=np.array(found, dtype=np.int32))


@pytest.mark.parametrize(("solver", "nodes"), [("conjac", 0), ("conjac", 2), ("conjac_published", 2)])
def test_what_nodes_carry_is_played_as_it_is_baked(solver, nodes):
    job = carried_bar(nodes, solver=solver)
    frames = grabs_of(job)
    live = played(job, frames)
    again = baked(job.with_body(springs=take_springs(frames, job.body.first_positions)))
    assert max(np.abs(a - b).max() for a, b in zip(live, again, strict=True)) <= 1e-12
    plain = baked(job)
    assert max(np.abs(a - b).max() for a, b in zip(live, plain, strict=True)) > 0.01, "grabs do something"


def test_what_nodes_carry_is_shown_by_its_surface(tmp_path):
    job, told = carried_bar(2, 4), []
    store, tip = FrameStore.create(tmp_path, job), int(np.argmax(job.body.surface.positions[:, 0]))
    grab = {"vertex": tip, "target": [0.4, 0.1, 0.2], "stiffness": 40.0}
    stiffer = SetStiffness([2.0 * material.youngs_modulus for material in job.body.materials[::-1]])
    commands = Advance([]), Record(3), *[Advance([grab])] * 3, stiffer, Advance([]), Advance([])
    serve(job, store, told.append, map(line_of, commands))
    ready, *frames = (each for each in told if each.kind in ("ready", "live"))
    assert (ready.modes, ready.points, ready.handles) == (0, 0, "")
    shown = [np.frombuffer(base64.b64decode(each.positions), "<f4").reshape(-1, 3) for each in (ready, *frames)]
    X = job.body.surface.positions
    assert np.abs(shown[0] - X).max() < 1e-7 and len(shown) == 8, "beyond the last frame, too"
    assert not any(each.handles or each.apart for each in frames)
    kept = [store.read(frame) for frame in store.frames()]
    assert len(kept) == 4 and max(np.abs(a - b).max() for a, b in zip(shown[2:6], kept, strict=True)) < 1e-7
    assert np.abs(kept[3] - kept[0]).max() > 0.01
    assert [each.stale for each in told if each.kind == "stiffness"] == [False], "there are no modes"
    arrays = store.read_cached("display")[0]
    assert arrays["weights"].shape == (len(X), 1) and not arrays["weights"].any()
    assert cached_handles(job, store, 3) is not None and cached_handles(job, store, 4) is None


def test_stopped_while_the_modes_are_found_it_keeps_nothing(tmp_path):
    job = job_of(4)
    store, events = FrameStore.create(tmp_path / "live", job), []
    serve(job, store, events.append, iter(()), lambda: any(getattr(e, "phase", "") == "subspace" for e in events))
    assert events[-1] == StoppedAfter(None)
    assert not any(event.kind == "ready" for event in events)
    assert store.read_cached("subspace") is None and store.read_cached("display") is None
