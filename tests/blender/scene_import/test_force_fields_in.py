"""Force fields of the scene, as Blender's own particles feel them, reach the job; weights and what does nothing."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.properties.field_weights import KINDS, fields_for
from sinew.blender_addon.scene_import.field_probe import FieldProbe
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import FieldError
from sinew.core.mechanics.forces.evaluated_field import EvaluatedField
from sinew.core.mechanics.forces.field_coordinates import FALLOFFS, SHAPES
from sinew.core.mechanics.forces.field_formulas import FORMULAS, SAMPLED
from sinew.core.simulation.preparation.field_interpolation import interpolate_field

from ..scenes import keyed

RATE = 24.0
VELOCITY = np.array([1.0, 2.0, -0.5])
# No edges: where two faces are equally near, Blender's choice of a normal is its own.
SQUARE = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)]
SOME = np.random.default_rng(4).uniform(-2.0, 2.0, (60, 3))


@pytest.fixture
def add_field(body, add_mesh):
    """Add a force field, turned and moved, on an empty or a mesh."""

    def add(kind, shape="POINT", mesh=False, **settings):
        if mesh:
            obj = add_mesh(*SQUARE, "Field")
        else:
            obj = bpy.data.objects.new("Field", None)
            bpy.context.scene.collection.objects.link(obj)
        with bpy.context.temp_override(object=obj, active_object=obj):
            bpy.ops.object.forcefield_toggle()
        obj.field.type = kind
        obj.field.shape = shape
        for name, value in settings.items():
            setattr(obj.field, name, value)
        obj.location, obj.rotation_euler, obj.scale = (0.3, -0.2, 0.1), (0.4, 0.7, -0.3), (1.5, 1.5, 2.0)
        bpy.context.view_layer.objects.active = body
        bpy.context.view_layer.update()
        return obj

    return add


def asked(field, points, velocity=None, charge=0.0, others=()) -> np.ndarray:
    """Accelerations of Blender's particles at points with a velocity, (p,3), in a scene with other objects."""
    scene = bpy.data.scenes.new("Asked")
    mesh = bpy.data.meshes.new("Asked")
    mesh.from_pydata(points.tolist(), [], [])
    emitter = bpy.data.objects.new("Asked", mesh)
    for obj in (emitter, field, *others):
        scene.collection.objects.link(obj)
    settings = emitter.modifiers.new("Asked", "PARTICLE_SYSTEM").particle_system.settings
    settings.count, settings.emit_from, settings.use_emit_random = len(points), "VERT", False
    settings.physics_type, settings.integrator, settings.timestep = "NEWTON", "EULER", 0.01
    settings.normal_factor, settings.mass, settings.lifetime = 0.0, 1.0, 100.0
    settings.effector_weights.gravity = 0.0
    settings.object_align_factor = (0.0, 0.0, 0.0) if velocity is None else velocity
    if charge:
        settings.force_field_1.type, settings.force_field_1.strength = "CHARGE", charge
    settings.frame_start = settings.frame_end = 0
    read = []
    for frame in (0, 1):
        scene.frame_set(frame)
        particles = emitter.evaluated_get(scene.view_layers[0].depsgraph).particle_systems[0].particles
        flat = np.empty(3 * len(points), dtype=np.float32)
        particles.foreach_get("velocity", flat)
        read.append(flat.reshape(-1, 3).astype(np.float64))
    bpy.data.scenes.remove(scene)
    return (read[1] - read[0]) / 0.01


def moments(body) -> list[EvaluatedField]:
    return [interpolate_field(field, 0, 1.0) for field in make_job(body, bpy.context).body.force_fields]


def settings_of(kind, rng, fall) -> dict:
    radial = {"TUBE": (0.5, 1.6, 1.5), "CONE": (20.0, 80.0, 0.1)}.get(fall, (0.0, 1.0, 0.0))
    own = {
        "DRAG": {"linear_drag": 0.7, "quadratic_drag": 1.3},
        "HARMONIC": {
            "strength": 2.3,
            "harmonic_damping": 0.6,
            "rest_length": float(rng.choice([0.0, 0.5])),
        },
        "VORTEX": {"strength": 1.7, "inflow": 0.4},
        "FORCE": {"strength": -2.3, "use_gravity_falloff": bool(rng.integers(2))},
    }.get(kind, {"strength": 2.3})
    return own | {
        "falloff_type": fall,
        "falloff_power": float(rng.choice([0.0, 1.0, 2.5])),
        "use_min_distance": bool(rng.integers(2)),
        "distance_min": 0.4,
        "use_max_distance": bool(rng.integers(2)),
        "distance_max": 2.2,
        "use_radial_min": bool(rng.integers(2)),
        "radial_min": radial[0],
        "use_radial_max": bool(rng.integers(2)),
        "radial_max": radial[1],
        "radial_falloff": radial[2],
        "z_direction": str(rng.choice(["BOTH", "POSITIVE", "NEGATIVE"])),
        "flow": float(rng.choice([0.0, 0.7])),
    }


@pytest.mark.parametrize("mesh", [False, True], ids=["empty", "mesh"])
@pytest.mark.parametrize("kind", FORMULAS)
def test_every_formula_is_blenders(body, add_field, kind, mesh):
    rng, compared, felt = np.random.default_rng(7), 0, 0
    body.sinew.field_weights.own_charge = 1.5
    for shape in SHAPES:
        for fall in FALLOFFS:
            if (kind, shape) == ("HARMONIC", "POINTS"):  # a particle has a spring to the vertex of its number alone
                continue
            for obj in [o for o in bpy.data.objects if o.name.startswith("Field")]:
                bpy.data.objects.remove(obj)
            try:
                field = add_field(kind, shape, mesh, **settings_of(kind, rng, fall))
            except TypeError:  # Blender offers fewer shapes to an empty
                continue
            # Of a surface Blender finds the place that is nearest to where a particle goes within its step.
            velocity = VELOCITY * (shape != "SURFACE")
            expected = asked(field, SOME, velocity, 1.5 if kind == "CHARGE" else 0.0)
            (moment,) = moments(body)
            found = moment.pull(SOME).at(np.tile(velocity, (len(SOME), 1)))
            scale = max(np.abs(expected).max(), 1.0)
            # Single precision over a step of a hundredth: 1e-7 of the velocity, times a hundred.
            assert np.abs(found - expected).max() <= 1e-4 * scale, (shape, fall)
            compared, felt = compared + 1, felt + bool(np.abs(expected).max() > 0.01)
    assert compared >= 6 and felt >= 4


@pytest.mark.parametrize("kind", ["TEXTURE", "TURBULENCE"])
def test_textures_and_turbulence_are_asked_of_blender(body, add_field, kind):
    settings = {"strength": 3.0}
    if kind == "TEXTURE":
        settings |= {"texture": bpy.data.textures.new("Clouds", "CLOUDS"), "texture_nabla": 0.05}
    else:
        settings |= {"size": 1.0}
    field = add_field(kind, **settings)
    before = {name: len(getattr(bpy.data, name)) for name in ("scenes", "objects", "meshes", "particles")}
    (moment,) = moments(body)
    assert {name: len(getattr(bpy.data, name)) for name in before} == before
    samples = moment.samples
    sides = [np.linspace(a, b, n) for a, b, n in zip(samples.low, samples.high, samples.values.shape)]
    knots = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)
    some = knots[np.random.default_rng(2).choice(len(knots), 40, replace=False)]
    expected = asked(field, some)
    assert np.abs(expected).max() > 0.1
    assert np.abs(moment.pull(some).acceleration - expected).max() <= 1e-4 * np.abs(expected).max()
    rest = np.array([v.co for v in body.data.vertices])
    assert (samples.low < rest.min(axis=0)).all() and (samples.high > rest.max(axis=0)).all()


def test_a_probe_follows_an_animated_field(body, add_field):
    field = add_field("TURBULENCE", size=1.0)
    keyed(field.field, "strength", (1, 1.0), (3, 1.0), (4, 3.0))
    (made,) = make_job(body, bpy.context).body.force_fields
    assert len(made.samples) == 4
    assert made.samples[3] == pytest.approx(3.0 * made.samples[0], abs=1e-3) and np.abs(made.samples[0]).max() > 0.1
    assert made.samples[2] == pytest.approx(made.samples[0], abs=1e-6)
    assert len(make_job(body, bpy.context, (1, 2)).body.force_fields[0].samples) == 1, "what stands still is kept once"


def test_a_probe_leaves_the_file_as_it_was_when_it_fails(add_field):
    field = add_field("TURBULENCE")
    scenes = len(bpy.data.scenes)
    with pytest.raises(RuntimeError), FieldProbe(field, np.zeros(3), np.ones(3), bpy.context.scene):
        raise RuntimeError
    assert len(bpy.data.scenes) == scenes and len(field.users_scene) == 1


def test_an_animated_field_is_sampled(body, add_field):
    field = add_field("WIND", strength=1.0)
    keyed(field, "location", (1, (0.0, 0.0, 0.0)), (4, (3.0, 0.0, 0.0)))
    keyed(field.field, "strength", (1, 1.0), (4, 7.0))
    bpy.context.scene.unit_settings.scale_length = 0.1
    (made,) = make_job(body, bpy.context).body.force_fields
    assert made.form.unit_length == 0.1 and made.name == "Field"
    assert made.centres[[0, 3], 0] == pytest.approx([0.0, 0.3]) and made.numbers[[0, 3], 0].tolist() == [1.0, 7.0]
    assert 1.0 < made.numbers[2, 0] < 7.0
    axis = np.array(field.matrix_world.col[2][:3])
    assert np.abs(made.axes - axis / np.linalg.norm(axis)).max() < 1e-6
    # In Blender's units a strength of 7 is 7 units / s².
    pull = interpolate_field(made, 3, 1.0).pull(np.zeros((1, 3)))
    assert np.linalg.norm(pull.acceleration) == pytest.approx(0.7)


def test_weights_are_blenders(body, add_field):
    add_field("WIND", strength=3.0)
    weights = body.sinew.field_weights
    weights.all, weights.wind = 0.5, 0.4
    (moment,) = moments(body)
    assert np.linalg.norm(moment.pull(np.zeros((1, 3))).acceleration) == pytest.approx(0.6)
    weights.wind = 0.0
    assert moments(body) == []
    bpy.context.scene.gravity = (0.0, 0.0, -9.81)
    weights.gravity = 0.5
    assert make_job(body, bpy.context).body.solver.gravity == (0.0, 0.0, -9.81 * 0.5)


def test_every_type_has_a_weight_or_a_reason(body):
    types = {item.identifier for item in bpy.types.FieldSettings.bl_rna.properties["type"].enum_items} - {"NONE"}
    assert types == set(KINDS)
    ours = body.sinew.field_weights.bl_rna.properties
    blenders = bpy.types.EffectorWeights.bl_rna.properties
    for name, kind in KINDS.items():
        assert bool(kind.weight) != bool(kind.reason)
        assert bool(kind.weight) == (name in (*FORMULAS, *SAMPLED))
        if kind.weight:
            assert ours[kind.weight].name == blenders[kind.weight].name


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.reason])
def test_a_type_that_does_nothing_does_nothing(body, add_field, kind):
    try:
        add_field(kind)
    except TypeError:
        pytest.skip("Blender gives this type to curves alone")
    assert moments(body) == []


def test_only_the_collection_acts(body, add_field):
    field, others = add_field("WIND"), bpy.data.collections.new("Others")
    bpy.context.scene.collection.children.link(others)
    body.sinew.field_weights.collection = others
    assert moments(body) == []
    others.objects.link(field)
    assert len(moments(body)) == 1
    bpy.context.view_layer.layer_collection.children["Others"].exclude = True
    bpy.context.scene.collection.objects.unlink(field)
    assert moments(body) == []


@pytest.mark.parametrize(
    ("how", "acts"), [("eye", True), ("disabled", False), ("collection disabled", False), ("no location", False)]
)
def test_what_is_disabled_does_not_act(body, add_field, how, acts):
    field = add_field("WIND", strength=2.0)
    keyed(field.field, "strength", (1, 2.0), (4, 5.0))
    match how:
        case "eye":
            field.hide_set(True)
        case "disabled":
            field.hide_viewport = True
        case "collection disabled":
            holder = bpy.data.collections.new("Holder")
            bpy.context.scene.collection.children.link(holder)
            holder.objects.link(field)
            bpy.context.scene.collection.objects.unlink(field)
            holder.hide_viewport = True
        case "no location":
            field.field.apply_to_location = False
    made = make_job(body, bpy.context).body.force_fields
    assert len(made) == acts
    if acts:
        assert made[0].numbers[3, 0] == 5.0


def test_a_body_is_not_its_own_field(body):
    with bpy.context.temp_override(object=body, active_object=body):
        bpy.ops.object.forcefield_toggle()
    assert fields_for(body, bpy.context.view_layer) == [] and moments(body) == []


def test_a_field_that_cannot_act_is_named(body, add_field):
    field = add_field("FORCE", "SURFACE", mesh=True)
    field.data.clear_geometry()
    with pytest.raises(FieldError, match="“Field” has the shape Surface but no vertices"):
        make_job(body, bpy.context)
    field.field.shape = "POINT"
    field.scale = (1.0, 1.0, 0.0)
    with pytest.raises(FieldError, match="“Field” has a scale of zero at frame 1"):
        make_job(body, bpy.context)


@pytest.mark.parametrize("solver", ["newton", "subspace_mixed_fem"])
def test_a_wind_blows_a_free_body_away(body, add_field, saved, solver):
    body.sinew.pin_group = ""
    body.sinew.materials[0].stiffness_unit, body.sinew.materials[0].stiffness_value = "MPA", 1.0
    body.sinew.solver, body.sinew.modes, body.sinew.cubature_points = solver, 2, 20
    bpy.context.scene.use_gravity = False
    field = add_field("WIND", strength=2.0)
    field.rotation_euler = (0.0, np.pi / 2, 0.0)
    body.sinew.frame_end = 6
    assert bpy.ops.sinew.bake() == {"FINISHED"}, body.sinew.bake.message
    store = baking.open_store(body)
    frames = np.array([store.read(frame) for frame in store.frames()])
    found = np.diff(frames, 2, axis=0) * RATE**2
    assert np.abs(found - [2.0, 0.0, 0.0]).max() < 1e-3
    field.field.strength = 3.0
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale.startswith("fields (“Field”")


def test_linked_fields_of_the_same_name_act_beside_local_ones(body, add_field, tmp_path):
    field = add_field("WIND", strength=2.0)
    bpy.data.libraries.write(str(tmp_path / "set.blend"), {field})
    bpy.data.objects.remove(field)
    with bpy.data.libraries.load(str(tmp_path / "set.blend"), link=True) as (_there, here):
        here.objects = ["Field"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    local = add_field("FORCE", strength=1.0)
    assert local.name == here.objects[0].name
    assert {made.form.kind for made in make_job(body, bpy.context).body.force_fields} == {"WIND", "FORCE"}
    local.hide_viewport = True
    assert [made.form.kind for made in make_job(body, bpy.context).body.force_fields] == ["WIND"]
