"""How far long work has come, told to whoever watches; who watches may end the work by raising."""

from __future__ import annotations

from collections.abc import Callable

Told = Callable[[float], None]
"""Called now and then with the part that is done, 0 to 1."""

StepTold = Callable[[str, float], None]
"""The same with the name of the step that it is a part of."""


def untold(_part: float) -> None:
    """Nobody watches."""


def step_untold(_step: str, _part: float) -> None:
    """Nobody watches."""
