"""Stop requests: Ctrl-C (SIGINT), or SIGTERM from a render farm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_signals(most: int | None = None) -> Iterator[list[signal.Signals]]:
    """Context that collects the signals SIGTERM and SIGINT in a list instead of ending the process.

    ``most``: largest number of collected signals, or None for no limit. One more signal raises KeyboardInterrupt.

    The previous handlers are restored at the end. Signals that the process already ignores, as in background jobs, stay
    ignored.
    """
    caught: list[signal.Signals] = []

    def note(number: int, _frame: Any) -> None:
        if len(caught) == most:
            raise KeyboardInterrupt
        caught.append(signal.Signals(number))

    before = {}
    if threading.current_thread() is threading.main_thread():  # signal handlers can be set in the main thread only
        numbers = (number for number in (signal.SIGTERM, signal.SIGINT) if signal.getsignal(number) != signal.SIG_IGN)
        before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            # A handler of None was set outside of Python and cannot be restored.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
