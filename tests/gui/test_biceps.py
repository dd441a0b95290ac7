"""A closed skin and an armature become a baked biceps curl in few presses."""


def test_a_biceps_curl_in_25_presses(windowed):
    result = windowed.run("biceps", real_mouse=True)
    said = result.values
    assert "Traceback" not in result.log, result.log
    assert len(said["clicks"]) <= 25 and said["clicks"][-1] == "Save", said["clicks"]
    ((first, last),) = said["keys"]
    assert first == [1.0, 0.0] and last[1] == 1.0
    assert said["baked"] == ["DONE", 48, ""]
    before, after = said["hand"]
    assert after > before + 0.08, "the hand rises"
