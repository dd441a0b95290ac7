"""Catalogues of the interface's languages, and texts with values."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

from sinew.blender_addon.translations import catalogue, translate

import build_addon

build_addon.load_building()
interface_texts = importlib.import_module("sinew_building.interface_texts")
translations = importlib.import_module("sinew_building.translations")
REMEDY = "run `build_addon.py translations` and fill in the empty entries"


def test_catalogues_have_every_text_of_the_interface_and_no_other():
    texts, wrong = interface_texts.texts(), []
    assert {"Bake Again", "Stable Neo-Hookean", "Add a tie first", "{count} iterations"} <= texts.keys()
    for language, path in catalogue.languages().items():
        entries = catalogue.entries(path.read_text(encoding="utf-8"))
        wrong += [f"{language}{line}" for line in translations.problems_of(texts, entries)]
        wrong += [f"{language}  not used: {english!r}" for english in entries.keys() - texts.keys()]
    assert set(catalogue.languages()) == {"de", "es", "fr", "ja", "zh_HANS"}
    assert not wrong, f"{REMEDY}:\n" + "\n".join(wrong)


def test_texts_with_values_are_templates():
    found = interface_texts.untranslatable()
    assert not found, "use translated() with placeholders:\n" + "\n".join(found)


def test_a_translation_with_a_lost_placeholder_stays_english(tmp_path):
    path = tmp_path / "de.po"
    texts = dict.fromkeys(["{count} of {total}", "{count} nodes", "Untouched", 'A "quoted"\nline\\'], "ui/bake.py")
    known = {"{count} of {total}": "{count} von", "{count} nodes": "{count} Knoten", 'A "quoted"\nline\\': 'Eine "\n\\'}
    translations.write(path, "de", texts, known)
    path.write_text(path.read_text(encoding="utf-8") + '\n#~ msgid "Old"\n#~ msgstr "Alt"\n', encoding="utf-8")
    assert catalogue.entries(path.read_text(encoding="utf-8")) == {**known, "Untouched": ""}
    assert catalogue.usable(path) == {english: known[english] for english in list(known)[1:]}
    problems = translations.problems_of(texts, known)
    assert [line.split(":")[0].strip() for line in problems] == ["other placeholders", "not translated"]


def test_an_editor_may_wrap_lines():
    text = 'msgid ""\n"Add a "\n"spring"\nmsgstr "Eine Feder "\n"hinzufügen"\n'
    assert catalogue.entries(text) == {"Add a spring": "Eine Feder hinzufügen"}


def test_blender_gets_the_catalogue_of_its_language(monkeypatch):
    assert translate.messages("en_US") == {} == translate.messages("")
    assert list(translate.messages("de_DE")) == ["de"] and list(translate.messages("zh_HANS")) == ["zh_HANS"]
    german = translate.messages("de_DE")["de"]
    assert german["Sinew", "Bake Again"] == german["*", "Bake Again"] == "Neu backen"
    app = SimpleNamespace(
        translations=SimpleNamespace(pgettext_iface=lambda text, context="*": german.get((context, text), text))
    )
    monkeypatch.setattr(translate, "bpy", SimpleNamespace(app=app))
    assert translate.translated("Bake: {frames} frames", frames=3) == "Bake: 3 Einzelbilder"
    assert translate.translated("Cube") == "Cube"
