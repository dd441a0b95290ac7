"""Writes tables into pages, each below its mark: ``api.md`` from docstrings, ``scripting.md`` from the operators and
properties in Blender, and ``docs/manual/materials.md`` from the presets of materials.

Run ``.venv/bin/python docs/library/make_pages.py``. A test fails if a table is out of date.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MARK = "<!-- Below: made by make_pages.py -->\n"
ALIASES = {f"{name}Settings": name for name in ("Contact", "Material", "Resolution", "Solver")} | {
    "SurfaceMesh": "Surface"
}
METHODS = {"Body": ["of_tets", "check"], "Job": ["check", "load", "save"], "Surface": ["of_faces"], "Solver": []}
"""Listed methods of classes that the library uses inside, too; of other classes all are listed."""
MATERIALS = "../manual/materials.md"
INTERNAL = "group_members", "group_index", "object_to_world"
"""Fields that interfaces fill in."""


def page(name: str, made: str) -> str:
    """A page with what was made below its mark."""
    return (HERE / name).read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n" + made


# -- docstrings -------------------------------------------------------------------------------------------------------


def api() -> str:
    """Return the page of the public names, each with its fields and methods."""
    import sinew as sw

    parts = []
    for name in sw.__all__:
        offered = getattr(sw, name)
        parts.append(f"## {name}\n\n{'' if is_dataclass(offered) else f'`{name}{_signature(offered)}`' + chr(10)}")
        parts.append(_markdown(inspect.getdoc(offered) or ""))
        if is_dataclass(offered):
            parts.append(_fields(offered))
        parts.append("\n".join(_members(name, offered)))
    return "\n".join(part.rstrip() + "\n" for part in [*parts, *_names()] if part)


def _names() -> Iterator[str]:
    """Return the names that settings accept."""
    from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
    from sinew.core.mechanics.energies import ENERGIES
    from sinew.core.mechanics.fibres.presets import PRESETS
    from sinew.core.mechanics.fibres.registry import LAWS
    from sinew.core.numerics.integrators.registry import RULES

    integrators = [(name, rule.DESCRIPTION) for name, rule in RULES.items()]
    for title, rows in (
        ("Energies, of `Material.energy`", [(each.name, each.description) for each in ENERGIES.values()]),
        ("Solvers, of `Solver.solver`", [(each.name, each.description) for each in SOLVER_KINDS.values()]),
        ("Time integration, of `Solver.integrator`", integrators),
        ("Fibre laws, of `MuscleSettings.law`", [(each.name, each.description) for each in LAWS.values()]),
        (
            "Muscle presets, of `muscle_preset`",
            [(each.name, f"{each.words}. Sources: {each.source}") for each in PRESETS],
        ),
    ):
        lines = [f"| `{name}` | {words} |" for name, words in rows]
        yield "\n".join([f"## {title}", "", "| name | |", "|---|---|", *lines])


def materials() -> str:
    """Return the manual's table of material presets, with the measurements behind them."""
    from sinew.core.mechanics.materials.presets import MEASURED, PRESETS

    head = "| | Stiffness | Measured | Poisson's Ratio | Density, kg/m³ | Measurement |"
    rows = [
        f"| {each.name} | {_pascals(each.youngs_modulus)} | {_pascals(known.lowest)} to {_pascals(known.highest)} | "
        f"{each.poissons_ratio:g} | {each.density:g} | {known.source[0].upper()}{known.source[1:]} |"
        for each in PRESETS
        for known in (MEASURED[each.name],)
    ]
    return "\n".join(["## Measured values", "", head, "|---|---|---|---|---|---|", *rows, ""])


def _pascals(modulus: float) -> str:
    unit, size = next(each for each in (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)) if modulus >= each[1])
    return f"{modulus / size:.3g} {unit}"


def _signature(offered: Any) -> str:
    if isinstance(offered, type) and issubclass(offered, Exception):
        return ""
    return _public(re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(offered))))


def _public(text: str) -> str:
    return re.sub(r"\b\w+\b", lambda word: ALIASES.get(word[0], word[0]), text)


def _members(owner: str, offered: Any) -> Iterator[str]:
    for name, member in vars(offered).items() if isinstance(offered, type) else ():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.isfunction(function) or name not in METHODS.get(owner, [name]):
            continue
        call = "" if isinstance(member, property) else re.sub(r"\((self|cls)(, )?", "(", _signature(function), count=1)
        yield f"- `.{name}{call}` " + " ".join(_markdown(inspect.getdoc(function)).split())


def _fields(offered: Any) -> str:
    """The fields whose own words tell of them."""
    rows = [item for item in fields(offered) if "help" in item.metadata]
    if not rows:
        return ""
    lines = ["| field | default | range | |", "|---|---|---|---|"]
    for item in rows:
        low, high = item.metadata.get("range", (None, None))
        bounds = "" if low is None and high is None else f"{'' if low is None else f'{low:g}'} to "
        bounds += "" if high is None else f"{high:g}"
        names = ", ".join(f"`{each}`" for each in item.metadata.get("names", ()))
        default = "" if item.default is MISSING else f"`{item.default!r}`"
        lines.append(f"| `{item.name}` | {default} | {names or bounds.strip()} | {item.metadata['help']} |")
    return "\n".join(lines)


def _markdown(text: str) -> str:
    """A docstring: its sections' entries as a list."""
    text = re.sub(r":\w+:`\.?([^`]+)`", r"`\1`", text).replace("``", "`")
    text = re.sub(rf"^({'|'.join(INTERNAL)}) : .*\n( .*\n)*", "", _public(text), flags=re.MULTILINE)
    lines, in_section = [], False
    for line in text.splitlines():
        if re.fullmatch(r"-{3,}", line):
            lines[-1] = f"**{lines[-1]}**\n"
            in_section = True
        elif in_section and line and not line.startswith(" "):
            lines.append(f"- `{line}`")
        elif in_section and line:
            lines[-1] += " " + line.strip()
        else:
            in_section = False if not line and in_section and not lines[-1].startswith("**") else in_section
            lines.append(line)
    return "\n".join(lines) + "\n"


# -- Blender ----------------------------------------------------------------------------------------------------------


def scripting() -> str:
    """The properties and operators as Blender has them registered."""
    import bpy

    lines = ["## Properties of `obj.sinew`", "", "| path | type | |", "|---|---|---|"]
    lines += _properties(bpy.types.Object.bl_rna.properties["sinew"].fixed_type, "")
    lines += ["", "## Operators of `bpy.ops.sinew`", "", "| operator | |", "|---|---|"]
    for name in sorted(dir(bpy.ops.sinew)):
        about = getattr(bpy.ops.sinew, name).get_rna_type()
        own = [each for each in about.properties if each.identifier != "rna_type" and not each.is_hidden]
        if about.description not in ("", "(undocumented operator)"):
            call = ", ".join(each.identifier for each in own if not each.identifier.startswith(("filter_", "check_")))
            lines.append(f"| `{name}({call})` | {_cell(about.description)} |")
    return "\n".join(lines) + "\n"


def _properties(group: Any, path: str) -> Iterator[str]:
    for each in group.properties:
        name, numbered = each.identifier, re.fullmatch(r"(\w+_)(\d+)", each.identifier)
        if name in ("rna_type", "name") or (numbered and numbered[2] != "1"):
            continue
        inner = getattr(each, "fixed_type", None)
        is_own = inner is not None and inner.identifier.startswith("Sinew")
        kind = each.type.lower() if inner is None or is_own else inner.name
        choices = [item.identifier for item in each.enum_items_static] if each.type == "ENUM" else []
        kind += ": " + ", ".join(f"`{choice}`" for choice in choices) if choices else ""
        shown = f"{path}{numbered[1]}N" if numbered else path + name
        yield f"| `{shown}` | {kind} | {_cell(each.description)} |"
        if is_own:
            yield from _properties(inner, f"{path}{name}{'[].' if each.type == 'COLLECTION' else '.'}")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the pages."""
    spec = importlib.util.spec_from_file_location("build_addon", HERE.parents[1] / "build_addon.py")
    assert spec and spec.loader
    build_addon = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_addon)
    build_addon.mount().register()
    for name, made in (("api.md", api()), ("scripting.md", scripting()), (MATERIALS, materials())):
        (HERE / name).write_text(page(name, made), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
