"""A scene that is simulated at another size moves as one that was scaled to it, and is shown at its own."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import batch_read, outdated
from sinew.blender_addon.live.live_edits import Edits
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import unit_format
from sinew.core.foundation.schema.field_metadata import leaves
from sinew.core.simulation.preparation.field_interpolation import interpolate_field

from ..scenes import CUBE, edits, keyed

FRAMES = 1, 2, 3, 4
FIELDS = {
    "WIND": {"strength": 12.0, "flow": 0.5, "noise": 0.8, "use_max_distance": True, "distance_max": 2.5},
    "FORCE": {"strength": -9.0, "use_min_distance": True, "distance_min": 0.7, "use_max_distance": True,
              "distance_max": 4.0},
    "HARMONIC": {"strength": 30.0, "rest_length": 0.8, "harmonic_damping": 0.1},
    "CHARGE": {"strength": 8.0},
    "VORTEX": {"strength": 3.0},
    "TURBULENCE": {"strength": 6.0, "size": 0.7, "use_global_coords": True},
}  # fmt: skip
LENGTHS = "distance_min", "distance_max", "rest_length", "size"
TO_SINGLE = 2e-6
"""Part of the largest number by which what was scaled in Blender's single precision is off."""


@pytest.fixture
def scaled(body, collection, add_mesh, saved):
    """A bar whose pins swing in gravity, with a ground, a moving collider, a spring, a region, a depth and fields; the
    function that scales all of it, every length in its settings too.
    """
    scene, settings = bpy.context.scene, body.sinew
    hammer, bone, target = add_mesh(*CUBE, "Hammer"), add_mesh(*CUBE, "Bone"), bpy.data.objects.new("Target", None)
    collection.objects.link(hammer)
    scene.collection.objects.link(target)
    bpy.context.view_layer.objects.active = body
    bpy.ops.sinew.add_material(preset="Bone")
    bpy.ops.sinew.add_material(preset="Rubber")
    settings.materials[1].region, settings.materials[2].depth_kind = bone, "SHELL"
    body.vertex_groups.new(name="Tip").add([8, 9, 10, 11], 1.0, "REPLACE")
    spring = settings.springs.add()
    spring.name, spring.vertex_group, spring.end, spring.target = "Pull", "Tip", "OBJECT", target
    spring.strength = 400.0
    settings.collisions.use_ground = hammer.sinew.collider.use_own = True
    acting = {}
    for kind, numbers in FIELDS.items():
        bpy.ops.object.effector_add(type=kind)
        acting[kind] = bpy.context.object
        for name, value in numbers.items():
            setattr(acting[kind].field, name, value)
    bpy.context.view_layer.objects.active = body

    def to(size: float) -> None:
        body.scale, hammer.scale, bone.scale = (size,) * 3, (0.5 * size,) * 3, (0.2 * size,) * 3
        bone.location = 0.6 * size, 0.05 * size, 0.05 * size
        keyed(body, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.2 * size, 0.1 * size)))
        keyed(hammer, "location", (1, (0.5 * size, 0.0, 0.35 * size)), (4, (0.5 * size, 0.0, 0.25 * size)))
        keyed(target, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.3 * size, 0.0)))
        contact = settings.collisions
        contact.height, hammer.sinew.collider.thickness = -0.05 * size, 0.02 * size
        contact.thickness = contact.contact_thickness = 0.01 * size
        settings.materials[2].depth, settings.materials[2].fade = 0.05 * size, 0.02 * size
        for kind, obj in acting.items():
            obj.location = 0.4 * size, -0.5 * size, 0.2 * size
            for name in set(FIELDS[kind]).intersection(LENGTHS):
                setattr(obj.field, name, FIELDS[kind][name] * size)
        scene.frame_set(1)

    to(1.0)
    return to


def told(body) -> dict:
    """All that a job is made of by its path, but fields; in their place what they do at the body's vertices."""
    job = make_job(body, bpy.context)
    found = {leaf.path: leaf.value for leaf in leaves(job) if "force_fields" not in leaf.path}
    for field in job.body.force_fields:
        pull = interpolate_field(field, 2, 1.0).pull(job.body.surface.positions)
        found |= {f"{field.form.kind} {name}": getattr(pull, name) for name in pull._fields}
    return found


def differing(one: dict, other: dict, tolerance: float) -> set[str]:
    assert one.keys() == other.keys()
    return {path for path, value in one.items() if not _alike(value, other[path], tolerance)}


def _alike(a, b, tolerance) -> bool:
    if isinstance(a, (np.ndarray, float)) and a is not None and b is not None:
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        return np.allclose(a, b, rtol=tolerance, atol=tolerance * float(np.abs(a).max(initial=0.0)))
    return a == b


def baked(body, evaluated) -> np.ndarray:
    """Return the vertex positions in the frames of a bake, (f,n,3), Blender's units."""
    assert bpy.ops.sinew.bake() == {"FINISHED"} and body.sinew.bake.status == "DONE"
    places = np.array([evaluated(body, frame) for frame in FRAMES])
    bpy.ops.sinew.delete_bake()
    bpy.context.scene.frame_set(1)
    return places


@pytest.mark.parametrize("factor", [0.1, 8.0])
def test_the_job_is_that_of_what_was_scaled(body, scaled, factor):
    bpy.context.scene.sinew.length_factor = factor
    simulated = told(body)
    bpy.context.scene.sinew.length_factor = 1.0
    scaled(factor)
    assert differing(simulated, told(body), TO_SINGLE) == {"length_factor"}


def test_fields_fade_as_seen_and_accelerate_as_told(body, scaled):
    """Blender's falloff has one unit in it, which nothing but the Unit Scale scales; that scales accelerations, too."""
    scene = bpy.context.scene
    for obj in scene.objects:
        if obj.field is not None and obj.field.type in FIELDS:
            obj.field.falloff_power = 1.5
    scene.sinew.length_factor = 0.1
    simulated = told(body)
    scene.sinew.length_factor, scene.unit_settings.scale_length = 1.0, 0.1
    scene.gravity = 10.0 * np.array(scene.gravity)
    for kind in ("WIND", "FORCE", "TURBULENCE"):
        field = next(o.field for o in scene.objects if o.field is not None and o.field.type == kind)
        field.strength, field.noise = 10.0 * field.strength, 10.0 * field.noise
    assert differing(simulated, told(body), TO_SINGLE) == {"length_factor"}


@pytest.mark.parametrize("result", ["KEYS", "CACHE"])
def test_it_moves_as_what_was_scaled_and_is_shown_at_its_own_size(body, scaled, evaluated, result):
    body.sinew.result = result
    body.sinew.field_weights.turbulence = 0.0  # Blender tells it in single precision
    # Friction is solved for to half a percent: what rounding makes of it is larger than what is asked here.
    contact = body.sinew.collisions
    contact.friction = contact.collider_friction = contact.contact_friction = 0.0
    bpy.data.objects["Hammer"].sinew.collider.friction = 0.0
    bpy.context.scene.sinew.length_factor = 0.125
    shown = baked(body, evaluated)
    bpy.context.scene.sinew.length_factor = 1.0
    plain = baked(body, evaluated)
    scaled(0.125)
    small = baked(body, evaluated)
    assert np.abs(0.125 * shown - small).max() < 1e-6 * 0.125
    assert np.abs(shown - plain).max() > 0.02, "it does sag and swing otherwise at its own size"


def test_gravity_is_that_of_the_scene(body):
    bpy.context.scene.sinew.length_factor = 0.1
    assert make_job(body, bpy.context).body.solver.gravity == (0.0, 0.0, -9.81)
    assert unit_format.gravity_words(bpy.context.scene) == ""


def test_a_bake_is_out_of_date_by_its_name_alone(body, scaled):
    scene = bpy.context.scene
    assert bpy.ops.sinew.bake() == {"FINISHED"} and edits(body) == []
    scene.sinew.length_factor = 0.25
    assert edits(body) == ["simulation scale (1 → 0.25)"] and outdated.words(body, scene) == "simulation scale"
    scene.sinew.length_factor = 1.0
    assert edits(body) == []


def test_live_mode_tells_it(body):
    told_of = Edits(body, bpy.context.scene, make_job(body, bpy.context).body)
    bpy.context.scene.sinew.length_factor = 0.5
    assert told_of.words(body, bpy.context.scene) == ["simulation scale"]


def test_bodies_that_wait_are_read_anew(body):
    before = batch_read._settings(body, bpy.context.scene)
    bpy.context.scene.sinew.length_factor = 0.5
    assert batch_read._settings(body, bpy.context.scene) != before


def test_it_is_saved_undone_and_the_scenes_own(body, saved):
    scene = bpy.context.scene
    bpy.ops.ed.undo_push(message="Before")
    scene.sinew.length_factor = 0.1
    bpy.ops.ed.undo_push(message="Simulation Scale")
    bpy.ops.ed.undo()
    assert bpy.context.scene.sinew.length_factor == 1.0
    bpy.ops.ed.redo()
    assert bpy.context.scene.sinew.length_factor == pytest.approx(0.1)
    with pytest.raises(TypeError):
        bpy.context.scene.sinew.keyframe_insert("length_factor")
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    assert bpy.context.scene.sinew.length_factor == pytest.approx(0.1) and edits(bpy.data.objects["Body"]) == []
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.append(directory=f"{saved}/Scene/", filename="Scene")
    (appended,) = (each for each in bpy.data.scenes if each != bpy.context.scene)
    assert appended.sinew.length_factor == pytest.approx(0.1)
    bpy.ops.wm.append(directory=f"{saved}/Object/", filename="Body")
    (alone,) = bpy.context.view_layer.objects
    assert edits(alone) == ["simulation scale (0.1 → 1)"], "what another scene simulates otherwise says so"
