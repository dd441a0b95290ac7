"""Settings of the overlays, ``WorkSpace.sinew``.

Blender stores its own overlay settings in each 3D View, to which an extension cannot add properties. The workspace is
the best substitute: it is saved in the file, is not changed by undo and, unlike the screen, stays the same when an area
is maximized.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any

import bpy
from bpy.props import PointerProperty

from ..window.redraw import redraw_changed
from .mirror import integer, menu, number, switch

COLOURS = (
    ("STIFFNESS", "Stiffness", "Young's modulus of each tetrahedron on a logarithmic scale, blue to red"),
    ("MATERIALS", "Materials", "One color per physical material, mixed where materials are mixed"),
)
FIBRE_COLOURS = (
    ("ACTIVATION", "Activation", "The more their muscle is activated"),
    (
        "STRETCH",
        "Shortening",
        "The shorter they are at this frame of the bake: red at 0.6, white at 1.2 of the length",
    ),
    ("TENSION", "Tension", "The tenser they are at this frame of the bake: red at the strength of their muscle"),
)
AXES = tuple((axis, axis, f"Cut perpendicular to the body's own {axis} axis") for axis in "XYZ")


def _switch(name: str, description: str) -> Any:
    return switch(name, description, update=redraw_changed)


class SinewOverlays(bpy.types.PropertyGroup):
    """Overlay settings of a workspace."""

    show_tets: _switch(
        "Tetrahedra",
        "Show the tetrahedra of the active body at rest, as last built for the solver, in front of everything else",
    )
    colour: menu("Color", "How the tetrahedra are colored", items=COLOURS, update=redraw_changed)
    use_slice: _switch("Slice", "Show only the tetrahedra behind a plane")
    slice_axis: menu("Axis", "Axis perpendicular to the slicing plane", items=AXES, update=redraw_changed)
    slice_offset: number(
        "Offset",
        "Position of the slicing plane, from one end of the body (0) to the other (1)",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=redraw_changed,
    )
    slice_flip: _switch("Flip", "Show only the tetrahedra in front of the slicing plane")
    show_outside: _switch(
        "Badly Embedded Vertices",
        "Mark the vertices so far outside the tetrahedra that moving with the nearest tetrahedron distorts them. "
        "A higher resolution avoids this",
    )
    show_pins: _switch(
        "Pins",
        "Mark the vertices that are pinned or pulled to a goal; while the panel Pins is open, they are always marked",
    )
    show_springs: _switch("Springs", "Mark the vertices that springs pull, with a line to the object that they follow")
    show_nodes: _switch(
        "Dynamic Nodes", "Mark the dynamic nodes: the vertices with inertia, which the other vertices follow"
    )
    show_fibres: _switch("Fibers", "Show the fibers of muscles as lines: at rest, or as deformed by the bake")
    fibre_colour: menu("Fiber Color", "What makes fibers redder", items=FIBRE_COLOURS, update=redraw_changed)
    active_vibration: integer("Active Vibration", "Index of the vibration that is played", min=0)
    swing: number(
        "Swing",
        "Amplitude of the played vibration, as a fraction of the body's size: 0.05 to 0.2",
        default=0.1,
        min=0.0,
        max=1.0,
        soft_max=0.3,
        subtype="FACTOR",
    )
    show_contacts: _switch("Contacts", "Mark vertices in contact at this frame of the bake, colored by pressure")
    show_touching: _switch(
        "Contact Surface",
        "Show the surface used for contact in its rest shape, and mark its vertices without self-contact: at rest, "
        "they are too close to other parts of the body",
    )
    show_colliders: _switch("Colliders", "Show the edges of all colliders of the body, hidden or not")


def register() -> None:
    """Register the settings and add them to workspaces."""
    bpy.utils.register_class(SinewOverlays)
    bpy.types.WorkSpace.sinew = PointerProperty(name="Sinew", type=SinewOverlays)


def unregister() -> None:
    """Remove the settings from workspaces."""
    del bpy.types.WorkSpace.sinew
    bpy.utils.unregister_class(SinewOverlays)
