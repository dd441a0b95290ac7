"""Record of a body's last bake, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy

from .mirror import collection, integer, menu, number, pointer, switch, text, vector

RESULTS = (
    (
        "KEYS",
        "Shape Keys",
        "One shape key a frame, with keyed values: exact with every solver, and glTF and FBX can play it",
    ),
    (
        "NODES",
        "Geometry Nodes",
        "Weights on the mesh and a few moving handles, summed by Geometry Nodes: a small .blend at any resolution. "
        "Exact with subspace solvers, an approximation with others, whose error is shown. Plays without Sinew, too",
    ),
    (
        "CACHE",
        "Mesh Cache",
        "A PC2 file beside the .blend that a Mesh Cache modifier plays: exact, a small .blend, and the object's own "
        "shape keys and armature stay on it. The file has to travel with the .blend. Plays without Sinew, too",
    ),
)
STATUSES = (
    ("NONE", "Not Baked", "There are no baked frames"),
    ("STOPPED", "Stopped", "Some frames are baked; the rest can be resumed"),
    ("FAILED", "Failed", "The bake ended with an error"),
    ("DONE", "Baked", "All frames are baked"),
)


class SinewVibration(bpy.types.PropertyGroup):
    """Vibration of a subspace matched to the full mesh."""

    frequency: number("Subspace", "Frequency without the match, Hz")
    right: number("Full Mesh", "Its frequency in the full mesh, Hz; 0 where it is left alone")
    share: number("Overlap", "How much of it lies in vibrations of the full mesh, 0 to 1")


class SinewBake(bpy.types.PropertyGroup):
    """Record of the last bake; its frames are in ``folder``."""

    folder: text("Disk Cache", "Folder of the baked frames")
    home: text("Home", "Folder that a Disk Cache beginning with // is relative to")
    is_deleted: switch("Deleted", "The frames in Disk Cache are deleted when the file is saved")
    status: menu("Status", "How the last bake ended", items=STATUSES)
    frames: integer("Frames Baked", "How many the result shows", min=0)
    first_frame: integer("First Frame Baked", "First frame that the result shows")
    message: text("Message", "What the last bake said in the end")
    separation_object: pointer(
        "Overlapping Body", "The body that has to be moved, since it overlaps another", type=bpy.types.Object
    )
    separation: vector("Way Out", "Where to, in the world, Blender's units", size=3)
    stale: text("Out of Date", "What was edited after the bake")
    as_read: text("As Read", "Digests of what the body looked like when it was read, by the words for it")
    shows: text("Bake Shown", "Key of the frames that the result was made of")
    on_itself: switch("On the Object Itself", "The result lies on the object, not on a duplicate")
    kind: menu("Result", "How the baked frames are kept now", items=RESULTS)
    modes: integer("Modes", "That were fitted to the frames; 0: the solver's own")
    error: text("Error", "Of a result that was fitted to the frames")
    nodes: pointer("Nodes", "Geometry Nodes that play the result", type=bpy.types.NodeTree)
    result: pointer("Result", "Object that carries the baked shapes", type=bpy.types.Object)
    left_behind: text("Left Behind", "What follows the hidden original, or what renders show otherwise than the bake")
    hides_original: switch("Hides the Original", "The original is hidden while its result is shown")
    hid_viewport: switch("Was Hidden in Viewports", "The original was so before the bake")
    hid_render: switch("Was Hidden in Renders", "The original was so before the bake")
    tets: integer("Tetrahedra", "How many the body was filled with; 0 unknown")
    cells: integer("Cells Across", "At which it was filled with so many")
    contrast: number("Contrast", "Stiffest over softest tetrahedron; 1 where all are alike")
    thickness: number("Thickness", "Of the body's thinner parts, m")
    movement: number(
        "Movement", "Largest of a pin or a collider in a frame, beside its mean over all frames, m; -1 unknown"
    )
    slowest: number("Slowest Vibration", "About, Hz; 0 unknown")
    advice_basis: text("Basis of Advice", "Of the physical materials that the figures above go by")
    mesh_summary: text("Tetrahedra", "What the body was filled with last")
    pace_solver: text("Solver", "Of the steps that were timed")
    pace_seconds: number("Pace", "Seconds of a step")
    pace_modes: integer("Modes", "Of the steps that were timed")
    body_mass: number("Mass", "Of the body, kg; 0 unknown")
    body_volume: number("Volume", "Of the body, m³; 0 unknown")
    body_size: number("Size", "Longest side at rest, m; 0 unknown")
    mesh_warning: text("Warning", "About the tetrahedra, or the size")
    resolution_warning: text("Warning", "About the resolution")
    is_thin: switch("Thin Parts", "Some are thinner than a cell")
    points_warning: text("Warning", "About too few cubature points")
    points_that_suffice: integer("Points That Suffice", "Cubature points, where there are too few; 0 unknown")
    match: text("Match", "How the subspace was matched with the full mesh")
    vibrations: collection("Vibrations", "That were matched, or left alone", type=SinewVibration)
    contact_warning: text("Warning", "Bodies that do not collide as displayed, in viewports or renders")
    material_warning: text("Warning", "About physical materials that are nowhere")
    pin_warning: text("Warning", "About a pin group that holds nothing")
    size: text("Size", "Of the frames on disk")
    linear_solver: text("Linear Solver", "Which one the bake took, and why")
    report: text("Solver Report", "How the steps went, in short")


CLASSES = (SinewVibration, SinewBake)
