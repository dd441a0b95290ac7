"""Display mode of a body in a 3D View: opacity of the faces, colour and visibility of the edges."""

from __future__ import annotations

from typing import Any, NamedTuple

from .preview_colours import wire_colour


class Manner(NamedTuple):
    """Display mode of a body.

    ``opacity``: opacity of the faces. Both sides are drawn below 1. The faces are invisible at 0.
    ``wires``: linear colour of the edges, or None without edges.
    ``behind``: opacity of edges behind faces, used if the faces are invisible.
    """

    opacity: float = 1.0
    wires: tuple[float, float, float] | None = None
    behind: float = 1.0

    @property
    def hides(self) -> bool:
        """Return True if the faces are invisible but still hide or fade the edges behind them."""
        return self.opacity == 0.0 and self.behind < 1.0


SOLID = Manner()


def manner_of(obj: Any, space: Any, theme: Any) -> Manner:
    """Return the display mode of an object in a 3D View.

    The mode depends on the shading and the overlays of the view, and on settings of the object.

    ``space``: the 3D View.
    ``theme``: theme of 3D Views.
    """
    shading, overlay = space.shading, space.overlay
    in_wires = shading.type == "WIREFRAME" or obj.display_type in {"WIRE", "BOUNDS"}
    overlaid = obj.show_wire or overlay.show_overlays and overlay.show_wireframes
    wires = wire_colour(obj, shading, theme) if in_wires or overlaid else None
    if shading.type == "WIREFRAME":
        return Manner(0.0, wires, behind=1.0 - shading.xray_alpha_wireframe if shading.show_xray_wireframe else 0.0)
    if in_wires:
        return Manner(0.0, wires)
    return Manner(shading.xray_alpha if shading.type == "SOLID" and shading.show_xray else 1.0, wires)
