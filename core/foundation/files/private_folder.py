"""Folders whose files run as code, such as compiled kernels: only the user, or root, may have written them.

Checked as sshd checks keys: the folder, everything in it, and the folders above it, up to the user's home or the root.
Windows has access lists instead of owners and modes; nothing is checked there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the user alone, whatever the umask; OSError."""
    for place in reversed((folder, *folder.parents)):
        if not place.is_dir():
            place.mkdir(0o700, exist_ok=True)


def checked_private(folder: Path) -> Path:
    """Return a folder by its path without links, which others cannot lead elsewhere. PermissionError, with the reason,
    where others may have written to it or to what is in it, or may exchange it for another.
    """
    if os.name == "nt":
        return folder
    folder = folder.resolve()
    is_closed = not stat.S_IMODE(folder.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    for path in (folder, *_below(folder)):
        try:
            entry = path.lstat()
        except FileNotFoundError:  # another process has just deleted it
            continue
        _check_owner(path, entry)
        if not (stat.S_ISDIR(entry.st_mode) or stat.S_ISREG(entry.st_mode)):
            raise PermissionError(f"{path} is not a file")
        if not is_closed:
            _check_mode(path, entry)
    home = Path.home().resolve() if "HOME" in os.environ else None
    for path in folder.parents:
        entry = path.stat()
        _check_owner(path, entry)
        if not entry.st_mode & stat.S_ISVTX:  # as of /tmp, where nobody may rename what is another's
            _check_mode(path, entry)
        if path == home:
            break
    return folder


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        yield from (Path(place, name) for name in (*folders, *files))


def _check_owner(path: Path, entry: os.stat_result) -> None:
    if entry.st_uid not in (os.getuid(), 0):
        raise PermissionError(f"{path} belongs to another user")


def _check_mode(path: Path, entry: os.stat_result) -> None:
    shared = entry.st_mode & SHARED_WRITE
    if shared & stat.S_IWOTH or (shared and not _is_own_group(entry.st_gid)):
        raise PermissionError(f"others may write to {path}")


def _is_own_group(group: int) -> bool:
    """Return True if the user is alone in a group, as many Linux systems give each user one and let it write."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:  # a container may know neither by a name
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
