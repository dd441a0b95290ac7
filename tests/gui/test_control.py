"""Vibrations are made stiffer and keyed in the panel."""


def test_stiffness_of_vibrations_is_set_and_keyed_in_the_table(windowed):
    result = windowed.run("control")
    said = result.values
    first, dragged, third = said["dragged"]
    assert first == third == 1.0 and dragged > 1.05
    paths = [f"sinew.vibrations.stiffness_{k}" for k in (1, 3)]
    assert said["keyed by the diamond"] == paths[:1] and said["keyed by I"] == paths
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
