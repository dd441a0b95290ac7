"""Being asked to stop: Ctrl-C, or a farm's SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_signals() -> Iterator[list[signal.Signals]]:
    """Collects SIGTERM and SIGINT instead of dying of them; handlers are put back afterwards."""
    caught: list[signal.Signals] = []

    def note(number: int, frame: Any) -> None:
        caught.append(signal.Signals(number))

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            # None: Blender's own, set outside of Python, which cannot be put back from here.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
