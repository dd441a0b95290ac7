"""Scripts assign only settings that exist: Blender takes any other name on a property group without a word.

What is followed are chains that begin at ``.sinew``, and names in the same function that stand for one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    path for folder in ("docs", "tests", "blender_addon", "operators") for path in (ROOT / folder).rglob("*.py")
)
OWNERS = ("Object", "Armature", "Material", "WorkSpace", "WindowManager", "Scene")
Groups = list[Any]
"""Kinds of property groups that an expression can be, as Blender describes them; one kind of owner has each."""


def roots() -> Groups:
    """Return the property groups that ``.sinew`` can be."""
    found = (getattr(bpy.types, owner).bl_rna.properties.get("sinew") for owner in OWNERS)
    return [prop.fixed_type for prop in found if prop is not None]


def groups_of(node: ast.expr, known: dict[str, Groups]) -> Groups:
    """The property groups that an expression can be; none where it is something else."""
    if isinstance(node, ast.Name):
        return known.get(node.id, [])
    if isinstance(node, ast.Subscript):
        return groups_of(node.value, known)
    if not isinstance(node, ast.Attribute):
        return []
    if node.attr == "sinew":
        return roots()
    inner = [group.properties.get(node.attr) for group in groups_of(node.value, known)]
    return [prop.fixed_type for prop in inner if prop is not None and prop.type in ("POINTER", "COLLECTION")]


def targets(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Return the targets of an assignment, each with its value if that is one expression."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _spread(target, node.value)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        yield node.target, node.value


def _spread(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [None] * len(target.elts)
    for part, own in zip(target.elts, values):
        yield from _spread(part, own)


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, or of a file, but for those of functions in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef):
            yield from _inside(node)


def unknown(tree: ast.AST) -> Iterator[str]:
    """Assignments in a file to settings that do not exist."""
    scopes = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Module))]
    for scope in scopes:
        known: dict[str, Groups] = {}
        assigned = sorted((pair for node in _inside(scope) for pair in targets(node)), key=lambda pair: pair[0].lineno)
        for target, value in assigned:
            if isinstance(target, ast.Name):
                known[target.id] = groups_of(value, known) if value is not None else []
            elif isinstance(target, ast.Attribute):
                groups = groups_of(target.value, known)
                names = {name for group in groups for name in group.properties.keys()}
                if groups and target.attr not in names:
                    yield f"line {target.lineno}: {ast.unparse(target)}"


def test_only_settings_that_exist_are_assigned():
    wrong = []
    for path in FILES:
        found = unknown(ast.parse(path.read_text(encoding="utf-8")))
        wrong += [f"{path.relative_to(ROOT).as_posix()}, {each}" for each in found]
    assert not wrong, "\n".join(wrong)


def test_a_setting_that_does_not_exist_is_found():
    script = (
        "def f(obj):\n    settings = obj.sinew\n    settings.cells_across, settings.collisions.ground_height = 4, 1.0\n"
    )
    assert list(unknown(ast.parse(script))) == ["line 3: settings.collisions.ground_height"]
    again = (
        "for body in bodies:\n    body.sinew.materials[0].density = 1.0\n    body.sinew.materials[-1].stifness = 1.0\n"
    )
    assert list(unknown(ast.parse(again))) == ["line 3: body.sinew.materials[-1].stifness"]
