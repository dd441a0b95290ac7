"""The runner of the benchmarks, with a benchmark of its own."""

from __future__ import annotations

import json
import types

import pytest
from sinew.benchmarks import registry


@pytest.fixture
def fake(monkeypatch):
    def cases(data):
        yield registry.Case("small", lambda: [registry.row("small", "error", 1e-9, "m", at_most=1e-8)])
        yield registry.Case(
            "large", lambda: [registry.row("large", "rate", 2.0, "1/s", at_least=3.0), registry.row("large", "n", 7)]
        )

    module = types.SimpleNamespace(cases=cases, __doc__="A stand-in.")
    monkeypatch.setattr(registry, "names", lambda: ["fake"])
    monkeypatch.setattr(registry.importlib, "import_module", lambda name, package: module)


def test_rows_are_shown_and_written(fake, tmp_path, capsys):
    target = tmp_path / "rows.json"
    assert registry.run("fake", "*", None, target) == 1
    rows = json.loads(target.read_text())
    assert [(r["case"], r["holds"]) for r in rows] == [("small", True), ("large", False), ("large", None)]
    assert set(rows[0]) == {"case", "metric", "value", "unit", "bar", "holds"}
    assert "NO" in capsys.readouterr().out


def test_cases_are_chosen_by_pattern(fake, capsys):
    assert registry.run("fake", "sm*", None, None) == 0
    assert "large" not in capsys.readouterr().out


def test_unknown_names_are_said(fake, capsys):
    assert registry.run("nothing", "*", None, None) == 2
    assert registry.run("fake", "nothing", None, None) == 2
    assert "choose from: fake" in capsys.readouterr().err


def test_list_shows_what_each_is_for(fake, capsys):
    assert registry.show_list() == 0
    assert "A stand-in." in capsys.readouterr().out
