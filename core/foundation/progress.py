"""Progress callbacks of long tasks; a callback may raise an exception to abort the task."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[float], None]
"""Callback with the finished fraction, 0 to 1."""

OnStepProgress = Callable[[str, float], None]
"""Callback with the name of the current step and its finished fraction, 0 to 1."""


def ignore_progress(_part: float) -> None:
    """Ignore progress: the default :data:`OnProgress` callback."""


def ignore_step_progress(_step: str, _part: float) -> None:
    """Ignore progress: the default :data:`OnStepProgress` callback."""
