"""Progress callbacks of long tasks. A callback may raise an exception, which aborts the task."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[float], None]
"""Callback that gets the completed fraction of the task, 0 to 1."""

OnStepProgress = Callable[[str, float], None]
"""Callback that gets the name of the current step and its completed fraction, 0 to 1."""


def ignore_progress(_part: float) -> None:
    """Ignore progress: the default :data:`OnProgress` callback."""


def ignore_step_progress(_step: str, _part: float) -> None:
    """Ignore progress: the default :data:`OnStepProgress` callback."""
