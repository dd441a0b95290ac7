"""A vibration is found, played and stopped by clicks."""


def test_vibrations_are_found_and_played_by_clicks(windowed):
    result = windowed.run("vibrations")
    said = result.values
    assert len(said["found"]) == 6 and all(right for _frequency, right in said["found"][:2])
    assert said["chosen"] == 1 and said["swing"] > 0.12
    for what in ("played", "stopped by Esc", "played again", "stopped by the button", "stopped by deleting"):
        assert said[what], what
    assert said["played after an undo"] and said["stopped by an undo"]
    assert not said["timer"] and not said["dirty"]
    for trouble in ("Traceback", "rna_uiItem", "unknown operator", "Push constants"):
        assert trouble not in result.log, result.log
