"""Checks of wheels for a platform that is not at hand."""

from __future__ import annotations

import importlib
import struct
import zipfile

import pytest

import build_addon

build_addon.load_building()
extension_zip, platforms, project, wheel_check = (
    importlib.import_module(f"sinew_building.{n}") for n in ("extension_zip", "platforms", "project", "wheel_check")
)
MAC, LINUX = platforms.PLATFORMS["macos-arm64"].magic, platforms.PLATFORMS["linux-x64"].magic


def library_of_windows(*imports, machine=0x8664):
    """A PE file whose one section, at address 0x1000, holds an import directory."""
    texts, at = b"", 0x1000 + 20 * (len(imports) + 1)
    entries = b""
    for name in imports:
        entries += struct.pack("<12xI4x", at + len(texts))
        texts += name.encode() + b"\0"
    content = entries + bytes(20) + texts
    header = struct.pack("<4sHH12xHH", b"PE\0\0", machine, 1, 240, 0)
    optional = bytearray(240)
    struct.pack_into("<2I", optional, 112 + 8, 0x1000, len(content))
    section = struct.pack("<8s4I16x", b".rdata", len(content), 0x1000, len(content), 0x400)
    return (b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40) + header + optional + section).ljust(
        0x400, b"\0"
    ) + content


def library_of_macos(*needs, places=(), signed=True, processor=MAC[4:8]):
    """A Mach-O file with load commands for libraries, the places to look in, its macOS and a signature."""

    def command(kind, content):
        content += bytes(-len(content) % 8)
        return struct.pack("<2I", kind, 8 + len(content)) + content

    commands = [command(0xC, struct.pack("<4I", 24, 0, 0, 0) + need.encode() + b"\0") for need in needs]
    commands += [command(0x8000001C, struct.pack("<I", 12) + place.encode() + b"\0") for place in places]
    commands += [command(0x32, struct.pack("<4I", 1, 12 << 16 | 3 << 8, 13 << 16, 0))]
    commands += [command(0x1D, struct.pack("<2I", 0, 0))] if signed else []
    content = b"".join(commands)
    header = MAC[:4] + processor + struct.pack("<6I", 0, 8, len(commands), len(content), 0, 0)
    return header + content


def wheel(folder, tags, **files):
    path = folder / f"thing-1.0-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing/__init__.py", "")
        for name, data in files.items():
            archive.writestr("thing/" + name.replace("__", "."), data)
    return path


@pytest.fixture
def sources(tmp_path):
    """One file that imports the stand-in wheel, Blender, and what is Python's own."""
    path = tmp_path / "module.py"
    path.write_text("import os\nimport bpy\nfrom . import other\n\ndef f():\n    import thing.part\n")
    return {"core/module.py": path}


def check(path, sources, platform, python="3.11"):
    wheel_check.check([path], sources, python, platform)


def test_fitting_wheels_pass(tmp_path, sources):
    windows = library_of_windows("KERNEL32.dll", "python311.dll", "own-12ab.dll")
    check(
        wheel(tmp_path, "cp311-cp311-win_amd64", m__pyd=windows, **{"own-12ab__dll": windows}), sources, "windows-x64"
    )
    needs = "/usr/lib/libSystem.B.dylib", "@loader_path/own.dylib", "@rpath/own.dylib", "@rpath/libc++.1.dylib"
    mac = library_of_macos(*needs, places=["@loader_path/../thing/", "/usr/lib"])
    path = wheel(tmp_path, "cp311-cp311-macosx_12_0_arm64", m__so=mac, own__dylib=library_of_macos())
    check(path, sources, "macos-arm64")
    check(wheel(tmp_path, "cp312-abi3-manylinux_2_17_x86_64", m__so=LINUX), sources, "linux-x64", "3.13")
    check(wheel(tmp_path, "py3-none-any"), sources, "windows-x64")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("a" * 140 + ".py", "is too long for Windows"),
        ("INIT.py", "names differ only by case"),
        ("aux.py", "Windows allows no file thing/aux.py"),
        ("a:b", "Windows allows no file thing/a:b"),
        ("folder./x", "Windows allows no file thing/folder./x"),
    ],
)
def test_names_that_a_file_system_cannot_hold_are_found(tmp_path, sources, name, fault):
    path = wheel(tmp_path, "py3-none-any")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("thing/init.py", "")
        archive.writestr(f"thing/{name}", "")
    with pytest.raises(project.BuildError, match=fault):
        check(path, sources, "windows-x64")


def test_a_library_for_several_processors_must_hold_ours(tmp_path, sources):
    def fat(*parts):
        heads = b"".join(struct.pack(">8x2I4x", 256 + 512 * k, len(part)) for k, part in enumerate(parts))
        return (struct.pack(">2I", 0xCAFEBABE, len(parts)) + heads).ljust(256, b"\0") + b"".join(
            part.ljust(512, b"\0") for part in parts
        )

    intel, arm = library_of_macos(processor=b"\x07\0\0\x01"), library_of_macos()
    check(wheel(tmp_path, "cp311-cp311-macosx_12_0_arm64", m__dylib=fat(intel, arm)), sources, "macos-arm64")
    with pytest.raises(project.BuildError, match="m.dylib is not compiled for macos-arm64"):
        check(wheel(tmp_path, "cp311-cp311-macosx_12_0_arm64", m__dylib=fat(intel)), sources, "macos-arm64")


@pytest.mark.parametrize("tags", ["cp313-cp313-win_amd64", "cp311-cp311-win32", "cp312-abi3-win_amd64"])
def test_tags_of_another_python_or_platform_are_refused(tmp_path, sources, tags):
    with pytest.raises(project.BuildError, match="another platform or Python"):
        check(wheel(tmp_path, tags), sources, "windows-x64")


def test_a_library_of_another_platform_is_refused(tmp_path, sources):
    with pytest.raises(project.BuildError, match="m.pyd is not compiled for windows-x64"):
        check(wheel(tmp_path, "cp311-cp311-win_amd64", m__pyd=LINUX), sources, "windows-x64")
    with pytest.raises(project.BuildError, match="not for x86-64"):
        arm = library_of_windows("KERNEL32.dll", machine=0xAA64)
        check(wheel(tmp_path, "cp311-cp311-win_amd64", m__pyd=arm), sources, "windows-x64")


def test_a_library_that_windows_would_not_find_is_named(tmp_path, sources):
    with pytest.raises(project.BuildError, match=r"m.pyd needs tbb12.dll, which no wheel contains"):
        lacking = library_of_windows("KERNEL32.dll", "tbb12.dll")
        check(wheel(tmp_path, "cp311-cp311-win_amd64", m__pyd=lacking), sources, "windows-x64")


@pytest.mark.parametrize(
    ("library", "fault"),
    [
        (library_of_macos("@rpath/libomp.dylib", places=["@loader_path/own"]), "m.so needs @rpath/libomp.dylib, which"),
        (library_of_macos("/opt/lib/libgmp.dylib"), "m.so needs /opt/lib/libgmp.dylib, which no wheel contains"),
        (library_of_macos(signed=False), "m.so has no code signature, which Macs require"),
    ],
)
def test_a_library_that_macos_would_not_load_is_named(tmp_path, sources, library, fault):
    with pytest.raises(project.BuildError, match=fault):
        check(wheel(tmp_path, "cp311-cp311-macosx_12_0_arm64", m__so=library), sources, "macos-arm64")


def test_an_import_that_no_wheel_brings_is_named(tmp_path, sources):
    sources["core/module.py"].write_text("def f():\n    from unheard.of import thing\n")
    with pytest.raises(project.BuildError, match="core/module.py imports unheard, which no wheel has"):
        check(wheel(tmp_path, "py3-none-any"), sources, "linux-x64")


def test_sources_import_only_what_is_named_in_the_project():
    found = set(wheel_check.imported(extension_zip.sources()))
    assert {"numba", "scipy", "numpy", "bpy", "cvxopt", "pymetis", "psutil"} <= found
    assert not found & {"pyvista", "libigl", "igl"}
