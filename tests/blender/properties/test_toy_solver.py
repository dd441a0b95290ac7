"""A solver is one file and one entry: declared, it is found by all that speaks of solvers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sinew.blender_addon.properties.choices import number_of

SCRIPT = Path(__file__).resolve().parents[1] / "toy_solver.py"


@pytest.fixture(scope="module")
def found(sinew_package: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if sinew_package != "sinew":
        pytest.skip("an installed extension has read its declarations before a test begins")
    command = [sys.executable, str(SCRIPT), str(tmp_path_factory.mktemp("toy"))]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = [line for line in said.stdout.splitlines() if line.startswith("FOUND ")]
    assert lines, said.stdout + said.stderr
    return json.loads(lines[0].removeprefix("FOUND "))


def test_settings_scene_files_and_steps_know_it(found):
    assert found["refused"].startswith("Solver: wobble is 3 m. Set it to at least 0 and at most 2 m.")
    assert found["read"] == ["toy", 1.5, True]
    assert found["stepped"] == "wobbled by 1.5 m"


def test_forecast_and_advice_speak_of_it(found):
    assert found["seconds"] == pytest.approx(7.0)
    ((value, reason),) = found["advice"]
    assert value == "mixed_fem" and reason.endswith(", a toy does not care.")


def test_menus_and_the_command_line_offer_it(found):
    entry = ["toy", "Toy FEM", "Nothing moves", number_of("toy")]
    assert found["menus"] == [entry, entry]
    told, chosen = found["command"]
    assert "toy" in told and chosen == "toy"


def test_panels_show_what_it_reads_and_no_more(found):
    assert found["property"] == ["Wobble (m)", 0.0, 2.0, "How much it wobbles, m"]
    assert found["settings"] == ["toy", 0.25, True]
    solver, advanced, compare = (set(found["panels"][label]) for label in ("Solver", "Advanced", "Compare"))
    assert {"wobble", "substeps"} <= solver and not solver & {"stubborn", "max_iterations", "modes", "damping_factor"}
    assert {"stubborn", "linear_solver"} <= advanced and not advanced & {"wobble", "quadratic_finish"}
    assert {"substeps", "cells_across"} <= compare and not compare & {"max_iterations", "modes"}
