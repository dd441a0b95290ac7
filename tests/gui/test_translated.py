"""Panels in other languages."""

PANELS = """
    materials muscle placement matter collisions springs ties cuts resolution solver advanced bake live compare
""".split()


def test_no_translated_label_is_cut_off(windowed):
    """Japanese is of the widest letters, and the others have the longest words."""
    languages = ["de_DE", "es", "fr_FR", "ja_JP", "zh_HANS"]
    result = windowed.run("translated", languages=languages, panels=PANELS)
    said = result.values
    for language in languages:
        assert len(said[f"{language} texts"]) > 100, "the panels are translated"
    cut_off = {language: said[language] for language in languages if said[language]}
    assert not cut_off, "in a sidebar of default width"
    assert "Traceback" not in result.log, result.log
