"""A new mesh is baked and plays after few presses, saving included, and what plays is no puddle."""


def test_from_n_to_a_playing_bake(windowed):
    result = windowed.run("first_clicks", real_mouse=True)
    said = result.values
    assert len(said["clicks"]) <= 9 and said["clicks"][0] == "N" and said["clicks"][-1] == "Play", said["clicks"]
    assert said["saved"].endswith(".blend") and said["baked"] == ["DONE", 12, ""]
    first, last = said["height"]
    assert last > 0.7 * first, "it stands"
    assert said["lowest"][1] > said["lowest"][0] - 0.01, "on its ground"
    assert "Traceback" not in result.log, result.log
