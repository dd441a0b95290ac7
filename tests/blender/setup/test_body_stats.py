"""Before any bake the panel says how large and heavy a body is, how far it will sag, and simulates it smaller."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.setup import body_stats, measure_in, unit_format


@pytest.fixture
def head(saved):
    """Blender's own head, of the first preset's own numbers."""
    bpy.ops.mesh.primitive_monkey_add()
    bpy.ops.sinew.enable()
    bpy.ops.sinew.apply_preset(preset="Soft Flesh")
    return bpy.context.object


def pin(obj, held):
    group = obj.vertex_groups.new(name="Pins")
    group.add([v.index for v in obj.data.vertices if held(v.co)], 1.0, "REPLACE")
    obj.sinew.pin_group = group.name


def told(obj):
    return body_stats.stats_of(obj, bpy.context)


def test_a_head_of_flesh_says_what_it_is(head):
    assert told(head) == ("2.7 m, 2.3 t. Will sag about 40 cm under its own weight", 0.1, "1/10", "")
    head.sinew.materials[0].log_stiffness = 6.0
    assert told(head) == ("2.7 m, 2.3 t. Will sag about 2 cm under its own weight", 0.0, "", "")
    bpy.context.scene.use_gravity = False
    assert told(head) == ("2.7 m, 2.3 t", 0.0, "", "")


def test_one_button_simulates_it_as_a_head_of_its_real_size(head):
    assert bpy.ops.sinew.simulate_smaller() == {"FINISHED"}
    assert bpy.context.scene.sinew.length_factor == pytest.approx(0.1)
    assert told(head) == ("At 1/10 scale: 27 cm, 2.3 kg. Will sag about 4 mm under its own weight", 0.0, "", "")
    with pytest.raises(RuntimeError, match="hardly sags"):
        bpy.ops.sinew.simulate_smaller()


def test_figures_of_tetrahedra_are_of_what_is_simulated(head):
    bpy.context.scene.sinew.length_factor = 0.1
    bpy.ops.sinew.tetrahedralize()
    record = head.sinew.bake
    assert record.body_size == pytest.approx(0.273, abs=1e-3) and record.body_mass == pytest.approx(2.4, rel=0.1)
    assert unit_format.extent_words(record.body_size, bpy.context.scene) == "At 1/10 scale: 27.34 cm"


def test_a_column_is_told_by_its_formula(body):
    """The column measures 1 m x 30 cm x 30 cm and lies without pins, so its height is its thickness."""
    body.sinew.pin_group = ""
    body.sinew.materials[0].density = 1000.0
    expected = 1000.0 * 9.81 * 0.3**2 / (2.0 * 5e4)
    assert told(body).words == f"1 m, 90 kg. Will sag about {1e3 * expected:.0f} mm under its own weight"
    body.rotation_euler = 0.0, np.pi / 2.0, 0.0
    bpy.context.view_layer.update()
    assert told(body).words == "1 m, 90 kg. Will sag about 10 cm under its own weight", "standing"


@pytest.mark.parametrize(
    "held", [lambda co: co.z < -0.35, lambda co: co.y > 0.5, lambda co: co.z > 0.7], ids=["neck", "back", "crown"]
)
def test_what_is_told_of_a_head_is_within_a_factor_of_two(head, held, evaluated):
    pin(head, held)
    settings, scene = head.sinew, bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 1, 1, 8  # steps so long that nothing swings
    settings.solver, settings.max_iterations, settings.cells_across = "newton", 60, 8
    rest = evaluated(head, 1)
    bpy.ops.sinew.bake()
    sag = (rest - evaluated(head, 8))[:, 2].max()
    words = told(head).words.split("about ")[1].split()
    assert 0.5 < float(words[0]) * {"m": 1.0, "cm": 0.01}[words[1]] / sag < 2.0


def test_half_of_what_is_soft_gives_half(body):
    body.sinew.pin_group = ""
    assert told(body).words == "1 m, 95 kg. Will sag about 9 mm under its own weight"
    bpy.ops.sinew.add_material(preset="Bone")
    body.sinew.materials[1].density = body.sinew.materials[0].density
    body.sinew.materials[1].vertex_group = "Bone"
    body.vertex_groups.new(name="Bone").add(list(range(6)), 1.0, "REPLACE")
    measure_in._bodies.clear()
    assert told(body).words == "1 m, 95 kg. Will sag about 5 mm under its own weight"


def test_what_cannot_be_told_is_not(add_mesh):
    sheet = add_mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    bpy.ops.sinew.enable()
    assert told(sheet) == ("1 m", 0.0, "", "")
    sheet.sinew.materials.clear()
    assert told(sheet) == body_stats.BodyStats()


def test_a_panel_that_is_drawn_again_measures_nothing(head, monkeypatch):
    measure = measure_in._measured
    told(head)
    monkeypatch.setattr(measure_in, "_measured", None)
    assert told(head).factor == 0.1
    for name in ("LASTING", "RARELY"):
        monkeypatch.setattr(measure_in, name, -1.0)
    with monkeypatch.context() as patched:  # until when it counts was told when it was measured
        patched.setattr(measure_in, "_measured", measure)
        measure_in._bodies.clear()
        told(head)
    with pytest.raises(TypeError):
        told(head)
