"""Items that threads take inside compiled code: each is done once, and all are done when the call returns."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sinew.core.foundation.kernels.jit import THREADS, kernel_threads
from sinew.core.foundation.kernels.shared_items import ItemKernel, done, take

ITEMS = 40


@ItemKernel
def _count(items, rounds, found):
    item = take(items)
    while item >= 0:
        x = 1.0
        for _ in range(rounds[item]):
            x = 0.5 * x + 1.0
        found[item] += x
        done(items)
        item = take(items)


def _expected(rounds):
    found = np.zeros(len(rounds))
    _count.alone(len(rounds), rounds, found)
    assert (found > 0.0).all()
    return found


@pytest.mark.parametrize("rounds", [np.full(ITEMS, 3), np.full(ITEMS, 200_000), np.r_[np.full(2, 20_000_000), 1]])
def test_each_item_is_done_once(rounds):
    """Short ones, which the caller has done before others begin; longer ones; such as a caller has to sleep for."""
    for _ in range(20 if rounds.max() < 1_000_000 else 2):
        found = np.zeros(len(rounds))
        _count(len(rounds), rounds, found)
        np.testing.assert_array_equal(found, _expected(rounds))


def test_threads_that_are_busy_are_not_waited_for():
    go_on = threading.Event()
    busy = [kernel_threads().submit(go_on.wait) for _ in range(THREADS)]
    rounds, found = np.full(ITEMS, 1000), np.zeros(ITEMS)
    try:
        _count(ITEMS, rounds, found)
        np.testing.assert_array_equal(found, _expected(rounds))
    finally:
        go_on.set()
    assert all(each.result() for each in busy)
    kernel_threads().submit(int).result()  # whatever was left for them has had its turn
    np.testing.assert_array_equal(found, _expected(rounds))


def test_two_callers_share_the_same_threads():
    rounds, found = np.full(ITEMS, 100_000), np.zeros((2, ITEMS))
    callers = [threading.Thread(target=_count, args=(ITEMS, rounds, row)) for row in found]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    np.testing.assert_array_equal(found, np.tile(_expected(rounds), (2, 1)))
