"""Several bodies in one run, in a window, where a timer begins the next."""


def test_bodies_are_baked_one_after_the_other(windowed):
    said = windowed.run("bake_queue").values
    assert said["label"].startswith("1 of 2: Frame ")
    assert said["stopped"] == ["STOPPED", "NONE", False]
    assert said["done"] == ["DONE", "DONE"]
    assert said["evaluated"] == [1, 2, 3, 4, 5], "once for both: nothing that a window does by itself is an edit"
