"""A ghost over a bake."""


def test_a_ghost_is_seen_over_the_bake(windowed):
    result = windowed.run("compare")
    assert result.values["difference"] == "solver (substeps 1 → 6)"
    assert result.values["after undo"] == result.values["difference"]
    for trouble in ("Traceback", "Push constants"):  # graphics cards promise 128 bytes of these
        assert trouble not in result.log, result.log
