"""Folders whose files are executed, such as compiled kernels: only the user or root may write to them.

As sshd does for keys, the owner and the mode are checked. The checks cover the folder, its content, and its parents up
to the user's home folder or the root of the file system. On Windows, where folders have access lists instead, nothing
is checked.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents so that only the user has access. Raises OSError on failure."""
    for directory in reversed((folder, *folder.parents)):
        if not directory.is_dir():
            directory.mkdir(0o700, exist_ok=True)


def checked_private(folder: Path) -> Path:
    """Return the path of a private folder, with all links resolved.

    Raises PermissionError, with the reason, if other users can write to the folder or its content, or can replace the
    folder. On Windows the path is returned unchecked.
    """
    if os.name == "nt":
        return folder
    folder = folder.resolve()
    is_closed = not stat.S_IMODE(folder.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    for path in (folder, *_below(folder)):
        try:
            entry = path.lstat()
        except FileNotFoundError:  # deleted by another process meanwhile
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
        if not entry.st_mode & stat.S_ISVTX:  # the sticky bit, as of /tmp: only owners rename entries
            _check_mode(path, entry)
        if path == home:
            break
    return folder


def _below(folder: Path) -> Iterator[Path]:
    for directory, folders, files in os.walk(folder):
        yield from (Path(directory, name) for name in (*folders, *files))


def _check_owner(path: Path, entry: os.stat_result) -> None:
    if entry.st_uid not in (os.getuid(), 0):
        raise PermissionError(f"{path} belongs to another user")


def _check_mode(path: Path, entry: os.stat_result) -> None:
    shared = entry.st_mode & SHARED_WRITE
    if shared & stat.S_IWOTH or (shared and not _is_own_group(entry.st_gid)):
        raise PermissionError(f"others may write to {path}")


def _is_own_group(group: int) -> bool:
    """Return True if the group with this id is the user's own, without other members."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:  # a container may have no names for its user and group
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
