"""Texts in the language of Blender's interface.

Blender translates the labels and tooltips of classes and properties, and complete texts given to ``layout.label`` and
similar functions. Texts with values are templates with placeholders: :func:`translated` translates the template, then
inserts the values.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..blend_data.names import PACKAGE
from .catalogue import languages, usable

CONTEXT = "Sinew"
"""Translation context of Sinew's labels.

In another context, Blender's own translations have priority: in some languages, its *Fields* are those of a video, and
its *Lead* is a wire.
"""
CONTEXTS = CONTEXT, "*"
"""Sinew's context, and Blender's context of tooltips and of texts that ``layout.label`` shows."""

_owner = object()


def translated(text: str, /, **values: Any) -> str:
    """Return a text in the language of the interface, with ``values`` in its placeholders, such as ``{count:,}``."""
    found = bpy.app.translations.pgettext_iface(text, CONTEXT)
    if found == text:  # a word of Blender, such as the type of a force field
        found = bpy.app.translations.pgettext_iface(text)
    return found.format(**values) if values else found


def marked(text: str) -> str:
    """Return the text as it is. The call puts the text into the catalogues, for a later call of :func:`translated`."""
    return text


def register() -> None:
    """Give Blender the catalogue of its language, now and after each change of the language.

    Builds without translations, such as the ``bpy`` module, get none.
    """
    if bpy.app.build_options.international:
        language = bpy.types.PreferencesView, "language"
        bpy.msgbus.subscribe_rna(key=language, owner=_owner, args=(), notify=_renew, options={"PERSISTENT"})
        _give()


def unregister() -> None:
    """Undo :func:`register`."""
    if bpy.app.build_options.international:
        bpy.msgbus.clear_by_owner(_owner)
        bpy.app.translations.unregister(PACKAGE)


def messages(locale: str) -> dict[str, dict[tuple[str, str], str]]:
    """Return the translations for Blender's ``locale``, such as ``de_DE``, as Blender wants them: by language, then by
    context and English text.
    """
    paths = languages()
    return {
        language: {(context, text): other for text, other in usable(paths[language]).items() for context in CONTEXTS}
        for language in {locale, locale.partition("_")[0]} & paths.keys()
    }


def _give() -> None:
    bpy.app.translations.register(PACKAGE, messages(bpy.app.translations.locale or ""))


def _renew() -> None:
    bpy.app.translations.unregister(PACKAGE)
    _give()
