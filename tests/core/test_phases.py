"""Phases of a kernel: each part runs once, and no phase begins before all parts of the phase before have ended."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sinew.core.foundation.kernels import phases
from sinew.core.foundation.kernels.jit import FEW, THREADS, kernel_threads
from sinew.core.foundation.kernels.phases import PARTS, PhaseKernel, end, is_last, open_next, pause, take_part

ROUNDS = 40


@PhaseKernel
def _neighbours(is_caller, counters, x, shared, with_pauses):
    """Add to each row of the other half of x (2,PARTS) the row beside it, ROUNDS times."""
    while True:
        item = take_part(is_caller, counters)
        if item < 0:
            return
        half, part = item // PARTS % 2, item % PARTS
        x[half, part] += x[1 - half, (part + 1) % PARTS] % 1000.0 + shared[1]
        if is_last(counters):
            shared[0] += 1
            if shared[0] == ROUNDS:
                end(counters)
            elif with_pauses and half == 0:
                pause(counters)
            else:
                open_next(counters)


def _run(rows, with_pauses=False):
    x, shared = np.arange(2.0 * PARTS).reshape(2, -1), np.zeros(2)

    def count():
        shared[1] += 1

    _neighbours(rows, count, x, shared, with_pauses)
    assert shared[0] == ROUNDS and shared[1] == (ROUNDS // 2 if with_pauses else 0)
    return x


@pytest.mark.parametrize("with_pauses", [False, True])
def test_threads_change_no_bit(monkeypatch, with_pauses):
    alone = _run(FEW - 1, with_pauses)
    monkeypatch.setattr(phases, "THREADS", 3)
    for _ in range(50):
        np.testing.assert_array_equal(_run(FEW, with_pauses), alone)


def test_threads_that_are_busy_or_leave_are_not_waited_for(monkeypatch):
    """With one poll, a thread leaves at once, and the calling thread sleeps while others finish their parts."""
    alone, go_on = _run(1), threading.Event()
    busy = [kernel_threads().submit(go_on.wait) for _ in range(THREADS)]
    try:
        np.testing.assert_array_equal(_run(FEW), alone)
    finally:
        go_on.set()
    assert all(each.result() for each in busy)
