"""Library overrides in a window: their results stand beside them, and their library keeps its bytes."""


def test_an_override_is_baked_undone_saved_and_baked_again(windowed):
    result = windowed.run("overridden")
    said = result.values
    shown = [False, "DONE", "Suzanne Bake", True]
    assert said["baked"] == shown and said["redone"] == shown
    assert said["opened"] == shown and said["baked again"] == shown
    assert said["undone"][::2] == [True, None] and said["deleted"][::2] == [True, None]
    assert said["library"], "nothing is written beside the library"
    assert "Traceback" not in result.log, result.log
