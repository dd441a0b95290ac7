"""The house rules of ``docs/design``: who may import whom, how long a file may be, what is annotated, what is never
used.
"""

from __future__ import annotations

import ast
import fnmatch
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE_FOLDERS = ("blender_addon", "core", "operators", "ui")

# The order is the law: a subject imports only subjects above it, and a room only rooms of them and rooms above it.
ROOMS = {
    "core": """
        foundation/errors foundation/events foundation/progress foundation/unit_words
        foundation/files foundation/process foundation/schema foundation/kernels
        geometry/mesh geometry/tetrahedra geometry/cuts geometry/animation
        mechanics/energies mechanics/materials mechanics/assembly mechanics/forces mechanics/ties
        mechanics/fibres mechanics/constraints
        contact/friction contact/barrier contact/penalty contact/proxy
        numerics/integrators numerics/linear_solvers numerics/optimization
        methods/model methods/handles methods/subspaces methods/solvers methods/multilevel methods/eigenfit
        jobs/job jobs/store jobs/checks jobs/results jobs/scene_files jobs/wedges
        simulation/preparation simulation/contact_setup simulation/tie_setup
        simulation/frame_loop
        cli api worker
    """.split(),
    "blender_addon": """
        blend_data translations window objects jobs properties scene_import scene_export cuts setup cache drawing bake
        picking live draw_handlers examples command registration package
    """.split(),
    "operators": """
        polls operator_class body resolution materials presets paint_stroke pins pick attachments bones solver
        vibrations bake read_animation results export compare live live_grab
    """.split(),
}
FULL_ROOM = 20
"""Files in which a newcomer still finds one by its name."""

MESH_ROOMS = {"scene_import", "scene_export", "drawing"}

BLENDER_MODULES = {"bpy", "bpy_extras", "mathutils", "bmesh", "gpu", "bl_ui", "addon_utils", "blf"}
MESH_ARRAYS = {"vertices", "loop_triangles", "loops", "polygons", "key_blocks", "calc_loop_triangles"}


def _files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    """Everything a file imports, as paths from the repository (``core/geometry/mesh/quality``) or top-level names
    (``numpy``), with the line. Relative imports are resolved; each name of ``from . import a, b`` counts."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name.replace(".", "/"), node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - (node.level - 1)] if node.level else ()
            target = [*above, *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                inner = "/".join([*target, alias.name])
                is_module = (ROOT / f"{inner}.py").is_file() or (ROOT / inner).is_dir()
                yield (inner if node.level and is_module else "/".join(target)), node.lineno


def _room(module: str) -> str:
    """The room of a module (``core/geometry/mesh/quality`` -> ``geometry/mesh``); "" of a package or subject itself."""
    package, *inner = module.removesuffix("/__init__").split("/")
    depth = 2 if any(room.startswith(f"{inner[0]}/") for room in ROOMS.get(package, ()) if inner) else 1
    return "/".join(inner[:depth]) if len(inner) >= depth and inner[-1] != "__init__" else ""


def _breaches(folders: tuple[str, ...], forbidden: set[str]) -> list[str]:
    """Imports, from files of these folders, of modules that are or lie in one of ``forbidden``."""
    found = []
    for path in _files(*folders):
        for target, line in _imports(path):
            if any(target == module or target.startswith(f"{module}/") for module in forbidden):
                found.append(f"{_name(path)}:{line} imports {target}")
    return found


def test_ruff_is_clean():
    result = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--output-format=concise", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("package", ROOMS)
def test_every_room_has_its_place_in_the_order(package):
    present = {_room(_name(path).removesuffix(".py")) for path in _files(package)} - {""}
    assert present == set(ROOMS[package]), "a new room stands in ROOMS, below everything it imports"


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_import_only_rooms_above(package):
    wrong, order = [], ROOMS[package]
    for path in _files(package):
        room = _room(_name(path).removesuffix(".py"))
        for target, line in _imports(path):
            if not target.startswith(f"{package}/") or not room:
                continue
            if order.index(_room(target)) > order.index(room):
                wrong.append(f"{_name(path)}:{line}: {room} imports {_room(target)}")
    assert not wrong, "\n".join(wrong)


def test_no_files_import_each_other():
    """Imports for type checking and inside functions count; packages do not."""
    files = {_name(path).removesuffix(".py"): path for path in _files(*PACKAGE_FOLDERS) if path.name != "__init__.py"}
    waiting = {name: {target for target, _ in _imports(path)} & files.keys() for name, path in files.items()}
    while free := [name for name, targets in waiting.items() if not targets & waiting.keys()]:
        for name in free:
            del waiting[name]
    # What remains imports a cycle or is in one; those that nothing else imports are not in one.
    while outer := waiting.keys() - {target for targets in waiting.values() for target in targets}:
        for name in outer:
            del waiting[name]
    assert not waiting, "\n".join(sorted(waiting))


def test_no_room_is_too_full():
    paths = _files(*PACKAGE_FOLDERS, "building", "benchmarks", "tests/core", "tests/blender")
    count = Counter(_name(path.parent) for path in paths if path.name != "__init__.py")
    assert not {room: n for room, n in count.items() if n > FULL_ROOM}


def test_core_knows_neither_blender_nor_the_rest():
    assert not _breaches(("core",), BLENDER_MODULES | {"blender_addon", "operators", "ui", "benchmarks"})


def test_ui_imports_neither_core_nor_what_reads_meshes():
    assert not _breaches(("ui",), {"core", *(f"blender_addon/{room}" for room in MESH_ROOMS)})


def test_operators_do_not_import_ui():
    assert not _breaches(("operators",), {"ui"})


def test_the_package_imports_nothing_that_is_not_shipped():
    assert not _breaches(PACKAGE_FOLDERS, {"benchmarks", "tests", "build_addon", "building"})


def test_imports_inside_the_package_are_relative():
    own = {"sinew", "bl_ext", *PACKAGE_FOLDERS}
    wrong = []
    for path in _files(*PACKAGE_FOLDERS):
        for node in ast.walk(_parse(path)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            wrong += [f"{_name(path)}:{node.lineno}: {n}" for n in names if n.partition(".")[0] in own]
    assert not wrong, "\n".join(wrong)


def test_mesh_arrays_are_read_in_their_rooms_alone():
    wrong = []
    for path in _files("blender_addon", "operators", "ui"):
        if MESH_ROOMS & set(path.parts):
            continue
        for node in ast.walk(_parse(path)):
            if isinstance(node, ast.Attribute) and node.attr in ("foreach_get", "foreach_set"):
                of_mesh = isinstance(node.value, ast.Attribute) and node.value.attr in MESH_ARRAYS
                if of_mesh:
                    wrong.append(f"{_name(path)}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


def test_no_pickle_no_eval_no_path_edits():
    wrong = []
    for path in _files(*PACKAGE_FOLDERS):
        wrong += [
            f"{_name(path)}:{line} imports {t}"
            for t, line in _imports(path)
            if t in ("pickle", "shelve", "marshal", "dill")
        ]
        for node in ast.walk(_parse(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                wrong.append(f"{_name(path)}:{node.lineno} calls {node.func.id}")
            if (
                isinstance(node, ast.keyword)
                and node.arg == "allow_pickle"
                and getattr(node.value, "value", None) is not False
            ):
                wrong.append(f"{_name(path)}: allow_pickle is not False")
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("insert", "append", "extend")
                and _is_sys_path(node.value)
            ):
                wrong.append(f"{_name(path)}:{node.lineno} edits sys.path")
    assert not wrong, "\n".join(wrong)


def _is_sys_path(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "path"
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    )


def _functions(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, not those nested in functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{owner}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{node.name}.")


def test_public_functions_of_core_are_annotated_and_documented():
    wrong = []
    for path in _files("core"):
        for name, function in _functions(_parse(path)):
            if any(part.startswith("_") for part in name.split(".")):
                continue
            given = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
            bare = [a.arg for a in given if a.annotation is None and a.arg not in ("self", "cls")]
            if _is_kernel(function):
                continue
            if bare or function.returns is None:
                wrong.append(
                    f"{_name(path)}:{function.lineno} {name}: no annotation for {', '.join(bare) or 'the result'}"
                )
            if ast.get_docstring(function) is None:
                wrong.append(f"{_name(path)}:{function.lineno} {name}: no docstring")
    assert not wrong, "\n".join(wrong)


def _is_kernel(function: ast.FunctionDef) -> bool:
    """Kernels take arrays and scalars that Numba types by itself."""
    names = {d.func if isinstance(d, ast.Call) else d for d in function.decorator_list}
    return any(
        isinstance(n, ast.Name) and n.id in ("inlined", "inner_kernel", "kernel", "parallel_kernel", "summing_kernel")
        for n in names
    )


def _measured() -> list[Path]:
    return [ROOT / "build_addon.py", *_files(*PACKAGE_FOLDERS, "building", "benchmarks", "tests")]


def test_files_are_short():
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _measured()}
    assert not {name: n for name, n in lengths.items() if n > 450}


def test_functions_are_short():
    wrong = []
    for path in _measured():
        for name, function in _functions(_parse(path)):
            length = (function.end_lineno or 0) - function.lineno + 1
            if length > 60:
                wrong.append(f"{_name(path)}:{function.lineno} {name}: {length} lines")
    assert not wrong, "\n".join(wrong)


def test_every_module_says_what_it_is():
    paths = _files(*PACKAGE_FOLDERS, "building", "benchmarks")
    silent = [_name(path) for path in paths if ast.get_docstring(_parse(path)) is None]
    assert not silent


@pytest.mark.parametrize("word", ["utils", "helpers", "common", "misc"])
def test_names_say_something(word):
    assert not [_name(path) for path in _measured() if word in path.stem or word in path.parts]


def test_no_folder_of_tests_is_left_out(pytestconfig):
    """Pytest passes over folders of some names without a word."""
    folders = {part for path in ROOT.glob("tests/**/test_*.py") for part in path.relative_to(ROOT).parts[:-1]}
    patterns = pytestconfig.getini("norecursedirs")
    assert not [f for f in folders for pattern in patterns if fnmatch.fnmatch(f, pattern)]
