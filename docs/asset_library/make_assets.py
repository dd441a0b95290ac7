"""Asset library of the extension: Blender files, catalogs and previews in ``blender_addon/assets``.

``build_addon.py assets`` runs it in the oldest supported Blender, whose files all later ones read;
``python docs/asset_library/make_assets.py FOLDER`` with the installed extension.
"""

from __future__ import annotations

import importlib
import os
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import looks
import node_groups
import previews

AUTHOR, LICENCE, COPYRIGHT = "The Sinew authors", "GPL-3.0-or-later", "2026 The Sinew authors"
SPACE = uuid.UUID("8d0f2a0e-4c6b-5c0b-9a55-51e3a0c7a9d1")
"""Namespace of the identifiers of catalogs, which are hashes of their paths and so never change."""
ROOT = "Sinew"
BODIES = {
    "jelly_bear": "Jelly over a hard core, separated by depth",
    "armoured_creature": "Stiff armour and soft joints, painted as two maps",
    "crawling_worm": "Five muscles along one body, with keyed activation, crawl by friction",
}
"""Examples whose body is an asset, with descriptions."""

_package = os.environ.get("SINEW_PACKAGE", "bl_ext.user_default.sinew")


def module(name: str) -> Any:
    """Return a module of the extension."""
    return importlib.import_module(f"{_package}.{name}")


def main(folder: Path) -> None:
    """Write the library into ``folder``."""
    if _package != "sinew" and _package not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=_package)
    folder.mkdir(parents=True, exist_ok=True)
    catalogs: set[str] = set()
    for file, make in (("materials", materials), ("bodies", bodies), ("node_groups", groups)):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        made = [mark(*each) for each in make()]
        catalogs |= {catalog for _, catalog in made}
        path = folder / f"{file}.blend"
        bpy.data.libraries.write(str(path), {block for block, _ in made}, compress=True)
        print(f"{path.name}: {len(made)} assets, {path.stat().st_size / 1e3:.0f} kB", flush=True)
    write_catalogs(folder / module("blender_addon.setup.asset_library").CATALOGS, catalogs)


def materials() -> Iterable[tuple[Any, str, str, list[str]]]:
    """Yield a Blender material for each preset, with the preset's values."""
    presets = module("core.mechanics.materials.presets")
    choices = module("blender_addon.properties.choices")
    slot_materials = module("blender_addon.setup.slot_materials")
    for preset in presets.PRESETS:
        look = looks.LOOKS[preset.name]
        shader = looks.shader(preset.name, look)
        slot_materials.store(preset, shader)
        measured = presets.MEASURED[preset.name]
        own, low, high = (choices.pascals(each).partition(" (")[0] for each in (preset.youngs_modulus, *measured[:2]))
        words = f"{own}, {preset.density:g} kg/m³. Measured {low} to {high}: {measured.source}"
        yield shader, f"Physical Materials/{look.group}", words, ["physical material", look.group.lower()]


def bodies() -> Iterable[tuple[Any, str, str, list[str]]]:
    """Yield the body of each example in ``BODIES``, on a ground and without other objects."""
    examples = module("blender_addon.examples")
    for name, words in BODIES.items():
        body = examples.add(name, bpy.context)
        body.parent.name = "Root"
        body.parent = None
        body.location = body.rotation_euler = (0.0, 0.0, 0.0)
        settings = body.sinew
        settings.collisions.contact_collection = settings.collisions.collection = None
        settings.collisions.use_ground = True
        settings.use_scene_range, settings.identity = True, ""
        body.name = examples.EXAMPLES[name].LABEL
        yield body, "Example Bodies", f"{words}. Ready to bake on the ground", ["example", "body"]


def groups() -> Iterable[tuple[Any, str, str, list[str]]]:
    """Yield the node groups."""
    for make in node_groups.GROUPS:
        group = make()
        group.is_modifier = True
        words = " ".join(make.__doc__.split()).removesuffix(".")
        yield group, "Node Groups", f"{words}. Choose the attribute in a map, pin group or other weights", ["map"]


def mark(block: Any, catalog: str, words: str, tags: list[str]) -> tuple[Any, str]:
    """Mark a data-block as an asset in a catalog. Returns it, and the catalog's path."""
    block.asset_mark()
    data, path = block.asset_data, f"{ROOT}/{catalog}"
    data.author, data.license, data.copyright, data.description = AUTHOR, LICENCE, COPYRIGHT, words
    data.catalog_id = str(uuid.uuid5(SPACE, path))
    for tag in ("sinew", *tags):
        data.tags.new(tag, skip_if_exists=True)
    previews.set_preview(block)
    return block, path


def write_catalogs(path: Path, catalogs: set[str]) -> None:
    """Write Blender's file of catalogs: identifier, path and simple name of each."""
    lines = [f"{uuid.uuid5(SPACE, each)}:{each}:{each.replace('/', '-')}" for each in sorted({ROOT, *catalogs})]
    path.write_text("\n".join(["VERSION 1", "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
