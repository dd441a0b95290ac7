"""Own parameters of an energy are shown with it and read with it."""

from __future__ import annotations

import dataclasses

import pytest
from sinew.blender_addon.scene_import.settings_in import material_settings
from sinew.blender_addon.setup.defaults import fill_material
from sinew.core.mechanics.energies.registry import ENERGIES
from sinew.ui import materials

from ..drawn import drawn_by


@pytest.fixture
def toy(monkeypatch):
    """Another energy that has one."""
    monkeypatch.setitem(ENERGIES, "toy", dataclasses.replace(ENERGIES["arap"], name="toy", own=("stiffening",)))


def _shown():
    return drawn_by(materials.draw_matter[0]).properties


@pytest.mark.parametrize("energy, has", [("fung", True), ("toy", True), ("corotated", False)])
def test_it_is_offered_and_read_where_the_energy_has_one(body, toy, energy, has):
    material = body.sinew.materials[0]
    material.energy, material.stiffening = energy, 2.5
    assert ("stiffening" in _shown()) == has
    assert material_settings(material).stiffening == (2.5 if has else 0.5)


def test_a_preset_brings_it(body):
    material = body.sinew.materials[0]
    wanted = dataclasses.replace(material_settings(material), energy="fung", stiffening=4.0)
    fill_material(material, wanted)
    assert material_settings(material) == wanted
