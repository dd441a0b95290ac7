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
    right: number("Full Mesh", "Its frequency in the full mesh, Hz; 0 if it is not matched")
    share: number("Overlap", "How much of it lies in vibrations of the full mesh, 0 to 1")


class SinewBake(bpy.types.PropertyGroup):
    """Record of the last bake; its frames are in ``folder``."""

    folder: text("Disk Cache", "Folder of the baked frames")
    home: text("Home", "Folder that a Disk Cache beginning with // is relative to")
    is_deleted: switch("Deleted", "The frames in Disk Cache are deleted when the file is saved")
    status: menu("Status", "How the last bake ended", items=STATUSES)
    frames: integer("Frames Baked", "How many the result shows", min=0)
    first_frame: integer("First Frame Baked", "First frame that the result shows")
    message: text("Message", "Last message of the bake")
    separation_object: pointer(
        "Overlapping Body", "The body that has to be moved, since it overlaps another", type=bpy.types.Object
    )
    separation: vector("Separation", "Displacement that separates it, in the world, Blender's units", size=3)
    stale: text("Out of Date", "What was edited after the bake")
    as_read: text("As Read", "Digests of the body's inputs when it was read, by their labels")
    shows: text("Bake Shown", "Key of the frames that the result was made of")
    on_itself: switch("On the Object Itself", "The result lies on the object, not on a duplicate")
    kind: menu("Result", "How the baked frames are kept now", items=RESULTS)
    modes: integer("Modes", "Modes that were fitted to the frames; 0: the solver's own")
    error: text("Error", "Error of a result that was fitted to the frames")
    nodes: pointer("Nodes", "Geometry Nodes that play the result", type=bpy.types.NodeTree)
    result: pointer("Result", "Object that carries the baked shapes", type=bpy.types.Object)
    left_behind: text(
        "Left Behind", "Objects that follow the hidden original, or that renders show other than the bake"
    )
    hides_original: switch("Hides the Original", "The original is hidden while its result is shown")
    hid_viewport: switch("Was Hidden in Viewports", "State of the original before the bake")
    hid_render: switch("Was Hidden in Renders", "State of the original before the bake")
    tets: integer("Tetrahedra", "Number of tetrahedra of the body; 0 unknown")
    cells: integer("Cells Across", "Resolution with which the tetrahedra were made")
    contrast: number("Contrast", "Ratio of the stiffest to the softest tetrahedron; 1 if all are equal")
    thickness: number("Thickness", "Thickness of the body's thinner parts, m")
    movement: number(
        "Movement",
        "Largest movement of a pin or a collider in a frame, relative to its mean over all frames, m; -1 unknown",
    )
    slowest: number("Slowest Vibration", "Estimated frequency, Hz; 0 unknown")
    advice_basis: text("Basis of Advice", "Digest of the physical materials that the figures above are based on")
    mesh_summary: text("Tetrahedra", "Summary of the tetrahedra that were made last")
    pace_solver: text("Solver", "Solver of the steps that were timed")
    pace_seconds: number("Pace", "Seconds of a step")
    pace_modes: integer("Modes", "Modes of the steps that were timed")
    body_mass: number("Mass", "Mass of the body, kg; 0 unknown")
    body_volume: number("Volume", "Volume of the body, m³; 0 unknown")
    body_size: number("Size", "Longest side at rest, m; 0 unknown")
    mesh_warning: text("Warning", "Warning about the tetrahedra, or the size")
    resolution_warning: text("Warning", "Warning about the resolution")
    is_thin: switch("Thin Parts", "Some parts are thinner than a cell")
    points_warning: text("Warning", "Warning about too few cubature points")
    points_that_suffice: integer("Points That Suffice", "Number of cubature points that suffices; 0 unknown")
    match: text("Match", "How the subspace was matched with the full mesh")
    vibrations: collection("Vibrations", "Vibrations that were matched, or not", type=SinewVibration)
    contact_warning: text("Warning", "Bodies that do not collide as displayed, in viewports or renders")
    material_warning: text("Warning", "Warning about physical materials without any volume")
    pin_warning: text("Warning", "Warning about a pin group without pins")
    size: text("Size", "Size of the frames on disk")
    linear_solver: text("Linear Solver", "Linear solver of the bake, and why it was chosen")
    report: text("Solver Report", "Summary of the steps")


CLASSES = (SinewVibration, SinewBake)
