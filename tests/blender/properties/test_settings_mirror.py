"""Properties and the library's settings say the same: names, ranges, defaults; Blender's 32 bits lose nothing meant."""

from __future__ import annotations

import dataclasses
import math
import re

import bpy
import pytest
from sinew.blender_addon.properties import choices
from sinew.blender_addon.properties.mirror import field_of
from sinew.blender_addon.properties.outside_properties import SinewCollisions
from sinew.blender_addon.properties.properties import BASES, METHODS, STOP_RULES, SinewMaterial, SinewObject
from sinew.blender_addon.scene_import import settings_in
from sinew.core.foundation.schema.settings import (
    ColliderSettings,
    DepthSettings,
    MaterialSettings,
    ResolutionSettings,
    SolverSettings,
)
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.environment import Ground
from sinew.core.mechanics.energies.registry import ENERGIES
from sinew.core.mechanics.materials.presets import PRESETS
from sinew.core.methods.eigenfit.methods import MENU as MATCH_METHODS
from sinew.core.numerics.integrators.registry import RULES
from sinew.core.numerics.linear_solvers import registry
from sinew.core.numerics.linear_solvers.registry import LINEAR_SOLVERS
from sinew.ui.solver import integration_words

GROUPS = {
    MaterialSettings: SinewMaterial,
    DepthSettings: SinewMaterial,
    ResolutionSettings: SinewObject,
    SolverSettings: SinewObject,
    Ground: SinewCollisions,
}
LOGARITHMS = {"youngs_modulus": "log_stiffness", "painted_modulus": "log_painted_stiffness"}
MIRRORED = [
    (settings, field, group)
    for settings, group in GROUPS.items()
    for field in dataclasses.fields(settings)
    if field.name not in ("name", "gravity", "kind")
]


@pytest.mark.parametrize("settings, field, group", MIRRORED, ids=lambda x: getattr(x, "name", ""))
def test_each_setting_has_its_property(settings, field, group):
    name = LOGARITHMS.get(field.name, field.name)
    prop = group.bl_rna.properties[name]
    if name in LOGARITHMS.values():
        assert (prop.hard_min, prop.hard_max) == tuple(math.log10(bound) for bound in field.metadata["range"])
        assert field.default is None or prop.default == pytest.approx(math.log10(field.default), rel=1e-6)
    elif "range" in field.metadata:
        low, high = field.metadata["range"]
        assert prop.hard_min == pytest.approx(low, rel=1e-6) if low is not None else prop.hard_min < -1e38
        assert prop.hard_max == pytest.approx(high, rel=1e-6) if high is not None else prop.hard_max > 1e38
        assert prop.default == pytest.approx(field.default, rel=1e-6)
        unit = field.metadata["unit"]
        in_tooltip = re.search(rf"(^|[ ,]){re.escape(unit)}([ ;:.,]|$)", prop.description)  # of long labels
        assert unit in prop.name or in_tooltip or (unit == "m" and prop.unit == "LENGTH")


def test_fresh_properties_read_as_default_settings(body):
    scene = bpy.context.scene
    body.sinew.property_unset("cells_across")
    body.sinew.materials.clear()
    material = body.sinew.materials.add()
    material.name = MaterialSettings().name
    scene.gravity = (0.0, 0.0, -9.81)
    assert settings_in.material_settings(material) == MaterialSettings()
    assert settings_in.resolution_settings(body.sinew) == ResolutionSettings()
    assert settings_in.solver_settings(body.sinew, scene) == SolverSettings()
    assert settings_in.ground_of(body.sinew, scene) == ()
    body.sinew.collisions.use_ground = True
    assert settings_in.ground_of(body.sinew, scene) == (Ground(),)


def test_lengths_are_read_in_metres(body):
    scene, collisions = bpy.context.scene, body.sinew.collisions
    scene.unit_settings.scale_length = 0.01
    collisions.use_ground, collisions.height, collisions.thickness = True, 150.0, 0.25
    read = Ground(height=1.5, friction=ColliderSettings().friction, thickness=0.0025)
    assert settings_in.ground_of(body.sinew, scene) == (read,)


def test_solver_settings_are_read(body):
    wanted = dataclasses.replace(
        SolverSettings(),
        integrator="theta_midpoint",
        theta=0.625,
        stop_rule="acceleration",
        acceleration_tolerance=0.003,
        decrement_tolerance=2e-9,
        mass_damping=0.7,
        stiffness_damping=0.0015,
        linear_solver="pcg",
        quadratic_finish=False,
        subspace_basis="handles",
        modes=9,
        cubature_points=77,
        match_method="fitted_materials",
    )
    for field in dataclasses.fields(wanted):
        if field.name != "gravity":
            setattr(body.sinew, field.name, getattr(wanted, field.name))
    bpy.context.scene.gravity = wanted.gravity
    assert settings_in.solver_settings(body.sinew, bpy.context.scene) == wanted


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_presets_come_back_exactly(body, preset):
    bpy.ops.sinew.add_material(preset=preset.name)
    got = settings_in.material_settings(body.sinew.materials[-1])
    assert dataclasses.replace(got, name=preset.name) == preset


def test_a_material_without_a_preset_is_the_first(body):
    """Blender's search (F3) and scripts add such a material."""
    bpy.ops.sinew.add_material()
    got = settings_in.material_settings(body.sinew.materials[-1])
    assert dataclasses.replace(got, name=PRESETS[0].name) == PRESETS[0]


def test_menus_offer_the_registries():
    assert [item[0] for item in choices.energy_items()] == list(ENERGIES)
    assert [item[0] for item in choices.solver_items()] == list(SOLVER_KINDS)
    assert [choices.solver_kind(name).takes_modes for name in ("mixed_fem", "subspace_fem", "unknown")] == [
        False,
        True,
        False,
    ]
    assert [item[0] for item in choices.integrator_items()] == list(RULES)
    assert [item[0] for item in choices.linear_solver_items()] == list(LINEAR_SOLVERS)
    menus = (SolverSettings, "stop_rule", STOP_RULES), (SolverSettings, "subspace_basis", BASES)
    for settings, name, items in (*menus, (ResolutionSettings, "method", METHODS)):
        assert tuple(item[0] for item in items) == field_of(settings, name).metadata["names"]
    assert [item[0] for item in choices.match_method_items()] == list(MATCH_METHODS)
    menus = (choices.energy_items, choices.solver_items, choices.integrator_items, choices.linear_solver_items)
    for menu in (*menus, choices.match_method_items, choices.preset_items):
        assert len({item[3] for item in menu()}) == len(menu())


@pytest.mark.parametrize(
    "pascals, unit, shown", [(5e4, "KPA", 50.0), (1e9, "GPA", 1.0), (2.5e6, "MPA", 2.5), (12.0, "PA", 12.0)]
)
def test_stiffness_is_set_and_read_in_any_unit(body, pascals, unit, shown):
    material = body.sinew.materials[0]
    material.stiffness_unit = unit
    material.stiffness_value = shown
    assert settings_in.material_settings(material).youngs_modulus == pascals
    assert material.stiffness_value == pytest.approx(shown, rel=1e-6)
    material.stiffness_unit = "PA"
    assert material.stiffness_value == pytest.approx(pascals, rel=1e-6)
    assert choices.fitting_unit(pascals) == unit
    assert f"{pascals:,.0f} Pa" in choices.pascals(pascals)


def test_the_exact_stiffness_stands_in_a_tooltip(body):
    body.sinew.materials[0].stiffness_unit = "MPA"
    body.sinew.materials[0].stiffness_value = 1.2346
    tooltip = bpy.types.SINEW_OT_show_stiffness.description(bpy.context, None)
    assert "1.2346 MPa (1,234,600 Pa)" in tooltip


def test_stiffness_outside_its_range_is_held(body):
    material = body.sinew.materials[0]
    material.stiffness_unit = "PA"
    material.stiffness_value = 0.0
    assert settings_in.material_settings(material).youngs_modulus == 1.0


def test_gravity_follows_the_scene(body):
    scene = bpy.context.scene
    scene.gravity = (1.5, 0.0, -3.0)
    scene.unit_settings.scale_length = 0.01
    assert settings_in.solver_settings(body.sinew, scene).gravity == pytest.approx((0.015, 0.0, -0.03))
    scene.use_gravity = False
    assert settings_in.solver_settings(body.sinew, scene).gravity == (0.0, 0.0, 0.0)


def test_linear_solvers_that_are_not_installed_are_left_out(body, monkeypatch):
    """One that is chosen stays, wherever the file was made."""
    settings = body.sinew
    monkeypatch.setattr(registry, "installed", lambda solver: True)
    assert {item[0] for item in choices.linear_solver_items(settings)} == set(LINEAR_SOLVERS)
    settings.linear_solver = "pardiso"
    monkeypatch.setattr(registry, "installed", lambda solver: solver.name == "superlu")
    assert {item[0] for item in choices.linear_solver_items(settings)} == set(LINEAR_SOLVERS) - {"cholmod"}
    assert settings.linear_solver == "pardiso"
    settings.linear_solver = "automatic"
    assert {item[0] for item in choices.linear_solver_items(settings)} == {"automatic", "superlu", "pcg"}
    with pytest.raises(TypeError, match="pardiso"):
        settings.linear_solver = "pardiso"


def test_a_lively_rule_is_hinted_at_where_it_has_no_use(body):
    settings = body.sinew
    for solver, integrator, factor, said in (
        ("linearly_implicit", "bdf2", 1.5, "BDF2"),
        ("linearly_implicit", "theta_midpoint", 1.5, "Theta Midpoint"),
        ("linearly_implicit", "bdf2", 1.0, ""),
        ("linearly_implicit", "backward_euler", 1.5, ""),
        ("mixed_fem", "bdf2", 1.5, ""),
    ):
        settings.solver, settings.integrator, settings.damping_factor = solver, integrator, factor
        assert integration_words(settings).startswith(said) and bool(integration_words(settings)) == bool(said)
