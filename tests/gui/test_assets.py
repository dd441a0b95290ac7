"""The asset library in a real Asset Browser."""

import pytest


@pytest.fixture(scope="module")
def library(windowed):
    return windowed.run("assets")


def test_a_dropped_material_makes_the_mesh_a_body_of_it(library):
    before, after = library.values["pressed"]
    assert set(after) - set(before) == {"Sinew"} and library.values["again"] == ["CANCELLED"]
    assert library.values["dropped"] == [True, [["Rubber", "5e+06", ""]], "Rubber"]
    assert library.values["assigned"] is False, "no drop, no body"


def test_one_undo_takes_a_drop_back_and_one_redo_repeats_it(library):
    assert library.values["undone"] and library.values["redone"] == library.values["dropped"]


def test_materials_are_dropped_in_other_editors(library):
    """A slot that no face shows changes no value; a popup says so."""
    rubber = [True, [["Rubber", "5e+06", ""]], "Rubber"]
    assert library.values["in the list"] == [True, [["Wood", "1e+10", ""]], "Wood"]
    assert library.values["in the Outliner"] == rubber and library.values["in a second slot"] == [rubber, "Wood"]


def test_an_asset_is_applied_by_the_menu(library):
    assert library.values["asset"] == "Steel"
    assert library.values["applied"] == [True, [["Steel", "2e+11", ""]], "Steel"]
