"""Panels are opened and used by clicks, as an artist does."""


def test_panels_are_opened_by_clicks(windowed):
    result = windowed.run("open_panels")
    said = result.values
    assert said["ground"]
    assert "Frames 27-28, 40 did not converge" in said["report"] and "Factorization" in said["report"]
    assert said["report window"] == [2, "TEXT_EDITOR"]
    assert len(result.photographs) == 18
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
