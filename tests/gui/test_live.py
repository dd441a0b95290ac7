"""A body played with by mouse events in a window."""


def test_play_drag_and_esc(windowed):
    result = windowed.run("live", timeout=900)
    said = result.values
    assert not said["poll before saving"] and not said["poll with another solver"]
    assert said["hidden"] and said["modal operators"] == 0 and said["message"] == ""
    assert said["grabs while dragging"] == 1 and said["modal while dragging"] == 1
    rest, pulled = said["pulled"]
    assert sum((a - b) ** 2 for a, b in zip(rest, pulled)) ** 0.5 > 0.1, "the nose follows the mouse"
    assert said["grabs after release"] == 0 and said["modal after release"] == 0
    assert said["ended"] and said["same"], said["before and after"]
    assert "Traceback" not in result.log, result.log
