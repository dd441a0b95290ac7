"""Photographs of every panel in the sidebar and in the Physics tab."""


def test_every_panel_is_there(windowed):
    result = windowed.run("panels")
    assert result.values["can be enabled"] and result.values["materials"][1:] == ["Rubber", "Bone"]
    assert len(result.photographs) == 5
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
