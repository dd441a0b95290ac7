"""A muscle in the windowed Blender: its panel, its fibres, and the baked curl."""


def test_an_arm_curls(windowed):
    result = windowed.run("muscles")
    said = result.values
    assert said["status"] == "DONE"
    assert said["heights"][-1] > min(said["heights"][:8]) + 0.15
    assert len(result.photographs) == 3
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
