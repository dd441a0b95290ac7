"""How far long work has come, told to whoever watches; who watches may end the work by raising."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[float], None]
"""Called now and then with the part that is done, 0 to 1."""

OnStepProgress = Callable[[str, float], None]
"""The same with the name of the step that it is a part of."""


def ignore_progress(_part: float) -> None:
    """Nobody watches."""


def ignore_step_progress(_step: str, _part: float) -> None:
    """Nobody watches."""
