"""The file that holds an X display's key. The X library used here insists on one, even for open displays."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

FAMILY_LOCAL = 256
PROTOCOL = b"MIT-MAGIC-COOKIE-1"


_adding = threading.Lock()


def write_key(path: Path, number: str, cookie: bytes) -> None:
    """Write the key of this machine's display ``:number``, readable by this user alone."""
    path.touch(mode=0o600)
    path.write_bytes(_record(number, cookie))


def add_key(number: str, cookie: bytes) -> None:
    """Add a display's key to a file of this process's, which XAUTHORITY names from then on.

    It holds what the user's own file holds too, so that other displays stay open.
    """
    with _adding:
        path = _own_file()
        fresh = path.with_suffix(".fresh")
        fresh.touch(mode=0o600)
        others = [record for record in _records(path.read_bytes()) if record.number != number.encode()]
        fresh.write_bytes(_record(number, cookie) + b"".join(record.data for record in others))
        fresh.replace(path)
        os.environ["XAUTHORITY"] = str(path)


@cache
def _own_file() -> Path:
    path = _temporary_folder() / "Xauthority"
    path.touch(mode=0o600)
    with contextlib.suppress(OSError):
        path.write_bytes(_users_file().read_bytes())
    return path


def _record(number: str, cookie: bytes) -> bytes:
    fields = (socket.gethostname().encode(), number.encode(), PROTOCOL, cookie)
    return struct.pack(">H", FAMILY_LOCAL) + b"".join(struct.pack(">H", len(f)) + f for f in fields)


class _Kept(NamedTuple):
    """A record of a file: which display it is for, and all of it."""

    number: bytes
    data: bytes


def _records(data: bytes) -> Iterator[_Kept]:
    """The whole records of a file, in order: a family, and four fields, each behind its length."""
    start = 0
    while start + 2 <= len(data):
        end, fields = start + 2, list[bytes]()
        for _ in range(4):
            if end + 2 > len(data):
                return
            (size,) = struct.unpack_from(">H", data, end)
            fields.append(data[end + 2 : end + 2 + size])
            end += 2 + size
        if end > len(data):
            return
        yield _Kept(fields[1], data[start:end])
        start = end


def _users_file() -> Path:
    return Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")


def _temporary_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="onmark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def ensure_file() -> None:
    """Point XAUTHORITY at a file that opens nothing, where there is none."""
    if _users_file().exists():
        return
    path = _temporary_folder() / "Xauthority"
    write_key(path, "none", b"")
    os.environ["XAUTHORITY"] = str(path)
