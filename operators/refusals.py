"""Operators begin what the library may refuse: why it does is reported, and kept where a panel shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..blender_addon import background, baking, live, sources
from ..core.errors import SinewError


def refused(operator: Any, error: Exception) -> set[str]:
    """Report why nothing was done; what ``execute`` returns then."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


def begin_work(operator: Any, context: Any, mode: str, until: int | None = None) -> set[str]:
    """``background.begin`` on the active object; what is against it is reported, and kept for the panel."""
    obj = sources.body_of(context)
    try:
        background.begin(obj, context, mode, until)
    except SinewError as error:
        baking.note_error(obj, error)
        return refused(operator, error)
    except RuntimeError as error:
        return refused(operator, error)
    return {"FINISHED"}


def begin_live(operator: Any, context: Any, obj: Any, begin: Callable[[], Any]) -> set[str]:
    """Call what prepares a body to be played with; what is against it is reported, and kept for the panel."""
    manager = context.window_manager
    manager.progress_begin(0, 1)
    try:
        begin()
    except (SinewError, RuntimeError) as error:
        live.note_error(obj, error)
        return refused(operator, error)
    finally:
        manager.progress_end()
    return {"FINISHED"}
