"""Blender in another language: what it makes has other names, and everything is found all the same."""

import pytest


@pytest.mark.parametrize("language", ["ja_JP"])
def test_a_bake_where_names_are_others(windowed, language):
    result = windowed.run("language", language=language)
    said = result.values
    assert said["name"] != "Cube", "Blender's own names are translated"
    status, kind, keys, _modifiers = said["stopped"]
    assert status == "STOPPED" and kind == "KEYS" and 2 <= keys < 20
    assert said["resumed"] == ["DONE", "KEYS", 20, 0]
    assert said["NODES"] == ["DONE", "NODES", 0, 1] and said["KEYS"] == ["DONE", "KEYS", 20, 0]
    assert said["check"] == ["FINISHED", ""] and said["deleted"][2:] == [0, 0]
    assert "Traceback" not in result.log, result.log
