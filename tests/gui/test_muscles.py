"""A muscle in the windowed Blender: its panel, its fibres, Settle while sculpting, and the baked curl."""


def test_an_arm_curls(windowed):
    result = windowed.run("muscles")
    said = result.values
    assert said["status"] == "DONE"
    assert said["heights"][-1] > min(said["heights"][:8]) + 0.15
    assert said["settled"] == ["SCULPT", ["Basis", "Settled"], ""]
    assert len(result.photographs) == 4
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
