"""An artist's first minutes, with the real mouse: how much is shown, how much is pressed, and that all of it works."""


def test_a_newcomer(windowed):
    result = windowed.run("newcomer", real_mouse=True)
    said = result.values
    assert said["installed"]
    assert len(said["controls"]) <= 14, said["controls"]
    assert said["after Esc"] == [True] and said["baked"] == ["DONE", 8], "an Esc meant for a menu ends no bake"
    assert len(said["clicks"]) <= 7 and said["clicks"][-1] == "Play" and not said["stopped"]
    assert said["pinned"] > 3 and said["painted"] > 3
    assert "materials" in said["out of date"] and said["after undo"] == ""
    assert said["is there"] == ["DONE", 1] and "substeps 1 → 2" in said["compared"]
    assert said["take"] == ["DONE", 8, ""]
    assert said["together"] == ["DONE", "DONE"], said["together said"]
    assert "Traceback" not in result.log, result.log
