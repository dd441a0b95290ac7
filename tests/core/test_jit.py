"""The cache of compiled kernels: where it lies, and that it lies nowhere else."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path, PureWindowsPath
from types import ModuleType, SimpleNamespace

import pytest
from sinew.core.foundation.files import private_folder
from sinew.core.foundation.kernels import jit

KERNEL = """
def twice(x):
    return x + x
"""


on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has access lists instead of owners and modes")


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A copy of the module in a package of its own, with one kernel, its cache where one says; in a place of ours."""

    def module(package, name):
        kernels = package / "foundation" / "kernels"
        if not package.exists():
            for source in (Path(jit.__file__), Path(private_folder.__file__)):
                folder = package / "foundation" / source.parent.name
                folder.mkdir(parents=True)
                shutil.copy(source, folder)
            (kernels / "kernels.py").write_text(KERNEL)
        for each in (package, package / "foundation", kernels, package / "foundation" / "files"):
            parent = ModuleType(".".join(each.relative_to(package.parent).parts))
            parent.__path__ = [str(each)]
            monkeypatch.setitem(sys.modules, parent.__name__, parent)
        monkeypatch.delitem(sys.modules, "copied.foundation.files.private_folder", raising=False)
        full = f"copied.foundation.kernels.{name}"
        spec = importlib.util.spec_from_file_location(full, kernels / f"{name}.py")
        loaded = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, full, loaded)
        spec.loader.exec_module(loaded)
        return loaded

    def with_cache(folder, place=tmp_path):
        monkeypatch.setenv("SINEW_KERNEL_CACHE", str(folder))
        return module(place / "copied", "jit"), module(place / "copied", "kernels").twice

    return with_cache


def _caches(folder):
    return sorted(path.parent for path in folder.rglob("*.nbi"))


def test_kernels_are_kept_in_the_folder(load, tmp_path):
    copy, twice = load(tmp_path / "cache")
    assert copy.kernel(twice)(2.0) == 4.0
    assert copy.cache_warning() is None
    assert copy.cache_folder().parent.samefile(tmp_path / "cache")  # on Windows by another name
    (folder,) = _caches(tmp_path)
    assert folder.parent.samefile(copy.cache_folder())
    assert not copy.is_compiled("all")
    copy.mark_compiled("all")
    assert copy.is_compiled("all") and not copy.is_compiled("others")
    again, _ = load(tmp_path / "cache")
    assert again.is_compiled("all")


def test_the_same_package_in_another_place_has_them(load, tmp_path):
    """Another profile, or another node of a farm, finds compiled kernels."""
    for place in ("one", "other"):
        copy, twice = load(tmp_path / "cache", tmp_path / place)
        compiled = copy.kernel(twice)
        assert compiled(2.0) == 4.0
        assert sum(compiled.stats.cache_hits.values()) == (place == "other")


def test_processes_never_write_to_one_file(load, tmp_path):
    """Each process begins an index of a function, for types of its own."""
    for number in (2.0, 2):
        copy, twice = load(tmp_path / "cache")
        assert copy.kernel(twice)(number) == 4
        (index,) = tmp_path.rglob("*.nbi")
        index.unlink()
    assert len(list(tmp_path.rglob("*.nbc"))) == 2


def test_another_processor_has_another_folder(load, tmp_path, monkeypatch):
    """Nodes of a farm with different processors share the cache and must not run or overwrite each other's kernels."""
    copy, _ = load(tmp_path / "cache")
    assert load(tmp_path / "cache")[0].cache_folder() == copy.cache_folder()
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another")
    assert load(tmp_path / "cache")[0].cache_folder() != copy.cache_folder()


def test_paths_of_windows_may_be_long():
    """Windows accepts 32,767 characters in this form; drive and folders are the same."""
    for plain, drive in ((r"C:\Users\Maria\kernels", "C:"), (r"\\farm\home\kernels", r"UNC\farm\home")):
        long = jit._of_any_length(plain)
        assert long == jit._of_any_length(long) and long.startswith("\\\\?\\" + drive)
        assert PureWindowsPath(long).name == "kernels" and long.endswith(plain.lstrip("\\"))


def test_a_folder_that_cannot_be_written_is_replaced_for_this_process(load, tmp_path):
    (tmp_path / "file").write_text("no folder")
    copy, twice = load(tmp_path / "file" / "cache")
    assert "SINEW_KERNEL_CACHE" in copy.cache_warning()
    assert copy.kernel(twice)(2.0) == 4.0
    copy.mark_compiled("all")
    assert copy.is_compiled("all")
    assert not _caches(tmp_path), "nothing may be written beside the sources"
    assert _caches(copy.cache_folder())


def refused_folder(load, folder) -> str:
    """Return the reason why a folder is refused; nothing in it is loaded."""
    copy, twice = load(folder)
    assert not copy.cache_folder().is_relative_to(folder) and copy.kernel(twice)(2.0) == 4.0
    return copy.cache_warning()


@on_posix
@pytest.mark.parametrize("what", ["above", "parent", "folder", "subfolder", "index"])
@pytest.mark.parametrize("writer", ["others", "the group", "another owner", "a link"])
def test_kernels_that_others_may_have_written_are_not_loaded(load, tmp_path, what, writer):
    """Numba's index files are pickles, which run code."""
    parent = tmp_path / "above" / "cache"
    copy, twice = load(parent)
    copy.kernel(twice)(2.0)
    (index,) = parent.rglob("*.nbi")
    names = {"above": parent.parent, "parent": parent, "folder": copy.cache_folder(), "subfolder": index.parent}
    path = names.get(what, index)
    if what in ("subfolder", "index"):
        copy.cache_folder().chmod(0o755)
    if writer == "another owner":
        if os.getuid():
            pytest.skip("only root gives files away")
        os.chown(path, 12345, 12345)
    elif writer == "a link":
        if what != "index":
            pytest.skip("a link to a folder is followed where the user made it, and its target is checked")
        path.rename(tmp_path / "index")
        path.symlink_to(tmp_path / "index")
    else:
        os.chown(path, -1, 12345) if not os.getuid() else None
        path.chmod(path.stat().st_mode | (0o002 if writer == "others" else 0o020))
        if os.getuid() and writer == "the group":
            pytest.skip("the group may be the user's own")
    why = {"another owner": "belongs to another user", "a link": "is not a file"}.get(writer, "others may write to")
    said = refused_folder(load, parent)
    assert why in said and str(path) in said and "SINEW_KERNEL_CACHE" in said


@on_posix
def test_an_open_umask_opens_no_folder(load, tmp_path):
    before = os.umask(0)
    try:
        copy, twice = load(tmp_path / "above" / "cache")
        copy.kernel(twice)(2.0)
    finally:
        os.umask(before)
    assert load(tmp_path / "above" / "cache")[0].cache_warning() is None
    assert {folder.stat().st_mode & 0o777 for folder in (tmp_path / "above", copy.cache_folder())} == {0o700}


@on_posix
def test_the_users_own_group_may_write(load, tmp_path, monkeypatch):
    """Many Linux systems give each user a group, and a umask that lets it write."""
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o775)
    user, group = os.getuid(), folder.stat().st_gid
    monkeypatch.setattr("pwd.getpwuid", lambda uid: SimpleNamespace(pw_name="me", pw_gid=group))
    for members, own in (([], True), (["me"], True), (["me", "you"], False)):
        found = SimpleNamespace(gr_name="me", gr_mem=members)
        monkeypatch.setattr("grp.getgrgid", lambda gid, found=found: found)
        assert (load(folder)[0].cache_warning() is None) == own
    assert os.getuid() == user


@on_posix
def test_a_sticky_folder_may_hold_the_users(load, tmp_path):
    """In a folder such as /tmp others may write, but not rename the user's files."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    assert load(tmp_path / "shared" / "mine")[0].cache_warning() is None


@on_posix
def test_a_link_of_the_users_is_followed_once(load, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache").symlink_to("disk")
    assert load(tmp_path / "cache")[0].cache_folder().parent == tmp_path.resolve() / "disk"


@on_posix
def test_relative_cache_folders_are_ignored(load, tmp_path, monkeypatch):
    """They would lie in the folder that Python is started in, which may be that of a stranger's .blend."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for relative in ("cache", ".", "~/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", relative)
        copy, _ = load("")
        assert copy.cache_folder().is_relative_to(tmp_path / "home" / ".cache" / "sinew") and not copy.cache_warning()
        assert f"{relative} is a relative path" in load(relative)[0].cache_warning()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copied", "home"]


def test_a_temporary_folder_goes_with_its_process(load, tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr("atexit.register", lambda *call, **options: kept.append((call, options)))
    (tmp_path / "file").write_text("no folder")
    copy, _ = load(tmp_path / "file" / "cache")
    assert copy.cache_folder().is_dir()
    for (function, *arguments), options in kept:
        function(*arguments, **options)
    assert not copy.cache_folder().exists()


def test_numba_never_falls_back_beside_the_sources(load, tmp_path):
    copy, twice = load(tmp_path / "cache")
    source = tmp_path / "copied" / "foundation" / "kernels" / "kernels.py"
    subfolder = copy.Locator.get_suitable_cache_subpath(str(source))
    (copy.cache_folder() / subfolder).write_text("a file where Numba wants a folder")
    with pytest.raises(RuntimeError, match="no locator"):
        copy.kernel(twice)
    assert not _caches(tmp_path)


def test_a_note_that_cannot_be_written_is_a_warning(load, tmp_path):
    copy, _ = load(tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("no folder any more")
    copy.mark_compiled("all")
    assert not copy.is_compiled("all")
    assert str(tmp_path / "cache") in copy.cache_warning()


def test_old_kernels_of_other_sources_are_pruned(load, tmp_path):
    now = time.time()
    ages = {
        "copied-0000000000000000": 31,
        "copied-1111111111111111": 29,
        "copied-letters": 31,
        "other.copied-0000000000000000": 31,
    }
    for name, days in ages.items():
        (tmp_path / "cache" / name).mkdir(parents=True)
        (tmp_path / "cache" / name / "kernel.nbi").write_text("")
        os.utime(tmp_path / "cache" / name, (now - days * 86400, now - days * 86400))
    copy, _ = load(tmp_path / "cache")
    left = {folder.name for folder in (tmp_path / "cache").iterdir()}
    assert left == {*ages, copy.cache_folder().name} - {"copied-0000000000000000"}


def test_use_keeps_a_folder_young(load, tmp_path):
    copy, _ = load(tmp_path / "cache")
    os.utime(copy.cache_folder(), (0, 0))
    load(tmp_path / "cache")
    assert time.time() - copy.cache_folder().stat().st_mtime < 86400


def test_the_folder_is_another_after_an_edit_of_what_kernels_read_alone(load, tmp_path):
    package = tmp_path / "copied"
    load(tmp_path / "cache")
    (package / "holder.py").write_text("from .constants import (\n    TWO,\n)\n\n@kernel\ndef f(x): return TWO * x\n")
    (package / "constants.py").write_text("from . import deeper\nTWO = deeper.ONE + 1\n")
    (package / "deeper.py").write_text("ONE = 1\n")
    (package / "words.py").write_text("WORD = 'one'\n")

    def folder():
        return load(tmp_path / "cache")[0].cache_folder()

    before = folder()
    (package / "words.py").write_text("WORD = 'two'\n")
    assert folder() == before
    for name in ("holder", "constants", "deeper"):
        known = folder()
        with (package / f"{name}.py").open("a") as source:
            source.write("# edited\n")
        assert folder() != known, name


@jit.inner_kernel
def _twice(x):
    return x + x


@jit.kernel
def _both(x):
    return _twice(2) + _twice(x)


def test_what_kernels_call_is_compiled_for_them_once():
    """Also for a constant; Python, which has no way into the compiled one, runs it as it is."""
    assert _both.py_func(3) == 10
    _both.recompile()
    assert _both(3) == 10
    (compiled,) = _twice._numba_type_.dispatcher.overloads.values()
    assert not compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cpython_wrapper_name)
    assert _twice("a") == "aa"


@pytest.mark.parametrize(("told", "words"), [("0", "“0”"), ("many", "“many”"), ("1000", ""), ("1", "")])
def test_a_number_of_threads_that_numba_refuses_is_left_out_and_told(told, words):
    code = (
        "from sinew.core.foundation.kernels import THREADS_WARNING\n"
        "from sinew.core.foundation.kernels.jit import THREADS\n"
        "import os; assert 1 <= THREADS <= os.cpu_count(); print(THREADS_WARNING)"
    )
    mount = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r}); import build_addon; build_addon.mount()\n"
    )
    environment = {**os.environ, "NUMBA_NUM_THREADS": told}
    done = subprocess.run([sys.executable, "-c", mount + code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout and bool(done.stdout.strip()) == bool(words)
