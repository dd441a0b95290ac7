"""Esc belongs to the playback first; a bake can be followed whatever object is active."""


def test_esc_ends_the_playback_and_only_then_the_bake(windowed):
    result = windowed.run("playback")
    said = result.values
    assert said["playing"] == [True, False, True]
    assert said["after Esc"] == [True, False, False], "the playback has ended, the bake goes on"
    assert said["after another Esc"] == [True, True, False]
    assert len(result.photographs) == 3
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
