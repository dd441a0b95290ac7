"""Frames as handles: the best fit, by a subspace solver's own weights or others, found anew when frames are others."""

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import SubspaceError
from sinew.core.foundation.events import Advance, Record, line_of
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.jobs.store.cached_handles import cached_handles
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop import fit_handles
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.fit_handles import find_handles, mode_count
from sinew.core.simulation.frame_loop.live_service import serve
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import free_box, shaken_bar

FRAMES = 4


def moving_object(frames):
    """An object that turns, travels and stretches, (frames,4,4)."""
    matrices = np.tile(np.eye(4), (frames, 1, 1))
    for k in range(frames):
        c, s = np.cos(0.4 * k), np.sin(0.4 * k)
        matrices[k, :3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]) @ np.diag([0.5, -2.0, 1.0 + 0.1 * k])
        matrices[k, :3, 3] = 0.3 * k, -0.2, 0.1 * k
    return matrices


NEAR = 1.5e-3
"""Sizes of the body: handles lack what puts pinned vertices at their targets, three hundredths of a cell (1.17e-3)."""


def baked(job, folder, modes):
    store = FrameStore.create(folder, job)
    events = []
    assert bake(job, store, on_event=events.append, modes=modes) == "done"
    return store, events


@pytest.fixture(scope="module")
def bar():
    return shaken_bar(FRAMES, "subspace_mixed_fem", modes=6, cubature_points=60).with_body(
        object_to_world=moving_object(FRAMES)
    )


@pytest.fixture(scope="module")
def bar_store(bar, tmp_path_factory):
    return baked(bar, tmp_path_factory.mktemp("bar") / "store", 1)[0]


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    job = shaken_bar(FRAMES)
    return job, baked(job, tmp_path_factory.mktemp("full") / "store", 0)[0]


def positions(job, found, k):
    """World positions of the k-th frame by handles, in the arithmetic of 64 bits."""
    to_world = job.body.object_to_world[found.frames[k] - job.frame_start]
    matrix = job.body.object_to_world[0]
    rest = np.linalg.solve(matrix[:3, :3], (job.body.surface.positions - matrix[:3, 3]).T).T
    c = np.column_stack([(rest - found.centre) / found.size, np.ones(len(rest))])
    w = np.column_stack([np.ones(len(rest)), found.weights])
    return (rest + np.einsum("nk,nc,kci->ni", w, c, found.handles[k])) @ to_world[:3, :3].T + to_world[:3, 3]


def test_a_subspace_solver_has_weights_of_its_own(bar, bar_store):
    """Its surface follows its tets, which handles do nearly."""
    found = cached_handles(bar, bar_store, 1)
    assert found.frames.tolist() == bar_store.frames() == list(range(1, FRAMES + 1))
    assert not found.handles[0].any() or np.abs(found.handles[0]).max() < 1e-12
    assert np.array_equal(np.abs(found.weights).max(axis=0), np.ones(7)), "6 modes and a pin handle"
    size = bar.body.surface.size
    for k, frame in enumerate(bar_store.frames()):
        off = np.linalg.norm(positions(bar, found, k) - bar_store.read(frame), axis=1)
        assert off.max() < NEAR * size
        assert found.errors[k] == pytest.approx((np.sqrt(np.mean(off**2)), off.max()), rel=1e-3, abs=1e-9 * size)
    assert np.abs(bar_store.read(FRAMES) - bar_store.read(1)).max() > 0.01 * size


def test_a_full_space_result_is_projected_with_its_error(full):
    job, store = full
    errors = []
    for modes in (2, 8, 32):
        find_handles(job, store, modes)
        found = cached_handles(job, store, modes)
        for k, frame in enumerate(store.frames()):
            off = np.linalg.norm(positions(job, found, k) - store.read(frame), axis=1)
            assert found.errors[k] == pytest.approx((np.sqrt(np.mean(off**2)), off.max()), rel=1e-3, abs=1e-7)
        errors.append(found.errors[:, 0].max() / job.body.surface.size)
    assert errors[0] > errors[1] > errors[2]
    assert errors[1] < 2e-3


def test_it_is_the_best_fit(full):
    """No other handles come nearer: what is off is orthogonal to the columns."""
    job, store = full
    find_handles(job, store, 3)
    found = cached_handles(job, store, 3)
    last = len(found.frames) - 1
    off = positions(job, found, last) - store.read(FRAMES)
    rest = job.body.surface.positions
    c = np.column_stack([(rest - found.centre) / found.size, np.ones(len(rest))])
    for w in np.column_stack([np.ones(len(rest)), found.weights]).T:
        assert np.abs((w[:, None] * c).T @ off).max() < 1e-4 * np.abs(off).sum()


def test_they_are_of_exactly_these_frames(full):
    job, store = full
    find_handles(job, store, 4)
    assert cached_handles(job, store, 4) is not None and cached_handles(job, store, 5) is None
    store.keep_until(FRAMES)
    assert cached_handles(job, store, 4) is not None
    store.keep_until(FRAMES - 1)
    assert store.read_cached("handles") is None
    assert bake(job, store, resume=True, modes=4) == "done"
    assert cached_handles(job, store, 4).frames.tolist() == store.frames()


def test_nothing_damaged_is_used(bar, bar_store):
    whole, about = bar_store.read_cached("handles")
    damaged = [
        {**whole, "handles": whole["handles"][:, 1:]},
        {**whole, "weights": whole["weights"].astype(np.float64)},
        {**whole, "errors": np.full_like(whole["errors"], np.nan)},
        {**whole, "frames": whole["frames"] + 1},
        {**whole, "size": np.zeros(1, np.float32)},
        {name: array for name, array in whole.items() if name != "centre"},
    ]
    try:
        for arrays in damaged:
            bar_store.write_cached("handles", arrays, about)
            assert cached_handles(bar, bar_store, 1) is None
    finally:
        bar_store.write_cached("handles", whole, about)


def test_the_last_event_comes_after_the_handles(bar, tmp_path):
    _store, events = baked(bar, tmp_path / "store", 1)
    phases = [getattr(event, "phase", "") for event in events]
    assert phases[-2] == "handles" and events[-1].kind == "done"
    assert [event.done for event in events if event.kind == "phase" and event.phase == "handles"] == list(
        range(FRAMES + 1)
    )


def test_it_can_be_stopped_and_resumed(bar, tmp_path):
    """The frames stay; handles come when all is done."""
    store = FrameStore.create(tmp_path / "store", bar)
    asked = []

    def among_the_handles():
        asked.append(len(store.frames()))
        return asked.count(FRAMES) == 2

    assert bake(bar, store, should_stop=among_the_handles, modes=1) == "stopped"
    assert store.frames() == list(range(1, FRAMES + 1)) and cached_handles(bar, store, 1) is None
    assert find_handles(bar, store, 1, should_stop=lambda: True) == "stopped"
    assert cached_handles(bar, store, 1) is None
    assert bake(bar, store, resume=True, modes=1) == "done" and cached_handles(bar, store, 1) is not None


def test_modes_are_as_many_as_the_body_has_and_needs(tmp_path, monkeypatch):
    """A small body has fewer than asked for, one of two loose parts needs two; too many are refused at once."""
    box = free_box(2, solver={"max_iterations": 2})
    store, _ = baked(box, tmp_path / "box", 60)
    found = cached_handles(box, store, 60)
    assert 1 <= found.weights.shape[1] < 60 and found.errors[:, 1].max() < 3e-7 * box.body.surface.size
    pair = two_boxes(box)
    store, _ = baked(pair, tmp_path / "pair", 1)
    assert cached_handles(pair, store, 1).weights.shape[1] == 2
    held = np.flatnonzero(pair.body.surface.positions[:, 0] < 1e-9)
    still = np.tile(pair.body.surface.positions[held], (2, 1, 1))
    pinned = pair.with_body(pinned_vertices=held, pin_positions=still, pin_held=np.ones((2, len(held)), dtype=bool))
    assert mode_count(pair, prepare(pair).model, 1) == 2 and mode_count(pinned, prepare(pinned).model, 1) == 1
    monkeypatch.setattr(fit_handles, "MOST_MODES", 1)
    store = FrameStore.create(tmp_path / "many", pair)
    with pytest.raises(SubspaceError, match="2 separate parts"):
        bake(pair, store, modes=1)
    assert store.frames() == [], "before the first frame"


def two_boxes(box):
    X, T = box.body.surface.positions, box.body.surface.triangles
    surface = replace(box.body.surface, positions=np.vstack([X, X + [0.5, 0, 0]]), triangles=np.vstack([T, T + len(X)]))
    fine = ResolutionSettings(cells_across=8)
    weights = np.ones((2 * len(X), 1))
    return box.with_body(surface=surface, material_weights=weights, stiffness_maps=None, resolution=fine)


def test_another_store_is_lent_no_handles_but_given_them_with_the_frames(bar, bar_store, tmp_path):
    lent, given = (FrameStore.create(tmp_path / name, bar) for name in ("lent", "given"))
    lent.take_cached(bar_store)
    assert lent.read_cached("subspace") and lent.read_cached("handles") is None
    given.take_over(bar_store)
    assert np.array_equal(cached_handles(bar, given, 1).handles, cached_handles(bar, bar_store, 1).handles)
    given.write(FRAMES, bar_store.read(1), bar_store.last_state(1)[1], [])
    assert cached_handles(bar, given, 1) is None, "a frame was replaced"


def test_a_recorded_take_has_handles_when_asked(bar, tmp_path):
    for wanted in (0, 1):
        store = FrameStore.create(tmp_path / str(wanted), bar)
        commands = [Record(wanted), *[Advance([])] * (FRAMES - 1)]
        events = []
        serve(bar, store, events.append, map(line_of, commands))
        assert "recorded" in [event.kind for event in events]
        found = cached_handles(bar, store, 1)
        assert (found is not None) == bool(wanted)
    assert found.frames.tolist() == list(range(1, FRAMES + 1))
    assert found.errors[:, 1].max() < NEAR * bar.body.surface.size
