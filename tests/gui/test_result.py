"""Convert Result in a window: the child finds the handles, one undo takes the result back. Attributes of the result."""


def test_convert_undo_and_back(windowed):
    result = windowed.run("result")
    said = result.values
    assert said["running"], "the interface stays free"
    assert said["keys"] == ["KEYS", 20, [], 0] and said["nodes"] == ["NODES", 0, ["NODES"], 1]
    assert 1e-6 < said["off"] < 0.05, "handles that fit: within a fiftieth of 2.7 m"
    # A head so soft hangs a third of a cell off its pins, which frames show at their targets and handles do not.
    assert said["said"].startswith("Deviates from the bake by ")
    assert said["after one undo"] == said["keys"] and said["after redo"] == said["nodes"]
    assert said["keys again"] == said["keys"]
    bake = ["Suzanne Bake", "Suzanne", ["Suzanne Bake"]]
    assert said["clicked"] == bake and said["source"] == ["Suzanne", "", ["Suzanne"]]
    assert said["baked again"] == [*bake, "DONE"], "what was in the hand stays there"
    assert said["sent"] == [True, True], "a file, and the scene as it was"
    assert said["attributes"] == ["sinew_compression", "sinew_pressure", "sinew_stretch"]
    assert said["material"] == "Stretch Marks and Blush"
    assert said["deleted"][1:] == [0, ["ARMATURE"], 0]
    assert "Traceback" not in result.log, result.log
