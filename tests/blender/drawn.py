"""A layout that records what panels draw, without a window."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
from sinew import ui
from sinew.ui.panel_base import ROOTS


class Drawn:
    """In place of ``UILayout``: keeps the texts of labels, of each operator what its button says, names of
    properties.
    """

    def __init__(self, of: Drawn | None = None) -> None:
        self.labels: list[str] = of.labels if of else []
        self.operators: list[tuple[str, str]] = of.operators if of else []
        self.properties: list[str] = of.properties if of else []

    def _child(self, *_: Any, **__: Any) -> Drawn:
        return Drawn(self)

    row = column = box = split = column_flow = grid_flow = _child

    def label(self, text: str = "", **_: Any) -> None:
        self.labels.append(text)

    def operator(self, name: str, text: str | None = None, **_: Any) -> Any:
        if text is None:
            text = getattr(bpy.types, "SINEW_OT_" + name.partition(".")[2]).bl_label
        self.operators.append((name, text))
        return SimpleNamespace()

    def prop(self, _owner: Any, name: str, **_: Any) -> None:
        self.properties.append(name)

    def _nothing(self, *_: Any, **__: Any) -> None:
        """Ignore items without text."""

    prop_search = prop_decorator = template_list = menu = separator = progress = _nothing

    def text_of(self, name: str) -> str | None:
        """Return the text of an operator's button; None without one."""
        return next((text for operator, text in self.operators if operator == name), None)


class _Context:
    """Blender's, with a region of endless width: texts have one line."""

    region = SimpleNamespace(width=10**6)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def drawn_by(panel: type) -> Drawn:
    """Return what a panel draws now; nothing if it is not shown."""
    layout, context = Drawn(), _Context()
    poll = getattr(panel, "poll", None)
    if poll is None or poll(context):
        panel.draw(SimpleNamespace(layout=layout), context)
    return layout


def panels_of(place: str) -> list[type]:
    """Every panel in a place, ``VIEW3D`` or ``PHYSICS``, below its root."""
    return [cls for cls in ui.CLASSES if getattr(cls, "bl_idname", "").startswith(f"{ROOTS[place]}_")]
