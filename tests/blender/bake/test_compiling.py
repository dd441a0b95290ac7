"""Kernels are compiled beside Blender while nothing else is at work; driven by hand: no timer runs without a window."""

from __future__ import annotations

import time

import bpy
import psutil
import pytest
from sinew.blender_addon.bake import background
from sinew.blender_addon.jobs import compiling, job_queue

from .test_child import in_child


@pytest.fixture(autouse=True)
def nothing_is_compiled(extension, monkeypatch, tmp_path):
    monkeypatch.setenv("SINEW_KERNEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setattr(compiling, "_is_wanted", lambda: True)
    yield
    job_queue.abandon()
    compiling.end()
    compiling._is_done = False


def begun():
    """A child that has told how far it is."""
    end = time.monotonic() + 600.0
    while compiling.state() is None or not compiling.state().phase.done:
        assert time.monotonic() < end and compiling.look() is not None
        time.sleep(0.02)
    return psutil.Process(compiling._child.process.pid)


def test_it_gives_way_and_ends_at_once():
    child = begun()
    state = compiling.state()
    assert child.nice() in (19, getattr(psutil, "IDLE_PRIORITY_CLASS", 19))
    assert 0.0 < state.factor < 1.0 and state.remaining(time.monotonic()) > 0.0
    asked = time.monotonic()
    compiling.end()
    assert time.monotonic() - asked < 1.0 and not child.is_running() and compiling.state() is None


def test_a_bake_does_not_wait_for_it(body, saved):
    child = begun()
    job_queue.begin(in_child(background.work_on(body, "bake")))
    assert job_queue.current() is not None and compiling.state() is None and not child.is_running()


def test_it_begins_in_a_window_alone_and_where_it_is_wanted(monkeypatch):
    compiling.begin()
    assert bpy.app.background and not bpy.app.timers.is_registered(compiling.look)
    monkeypatch.setattr(compiling, "_is_wanted", lambda: False)
    assert compiling.look() is None and compiling._child is None


def test_what_is_done_is_not_looked_for_again(monkeypatch, tmp_path):
    """A child that ends by itself, as one that finds all compiled."""
    worker = tmp_path / "worker.py"
    worker.write_text("")
    monkeypatch.setattr(compiling.Child.__init__.__globals__["child_process"], "WORKER", worker)
    while compiling.look() is not None:
        time.sleep(0.02)
    assert compiling._is_done and compiling._child is None
