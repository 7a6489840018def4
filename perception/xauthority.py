"""The file that holds an X display's key. The X library used here insists on one, even for open displays."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import struct
import tempfile
from pathlib import Path

FAMILY_LOCAL = 256
PROTOCOL = b"MIT-MAGIC-COOKIE-1"


def write_key(path: Path, number: str, cookie: bytes) -> None:
    """Write the key of this machine's display ``:number``, readable by this user alone."""
    fields = (socket.gethostname().encode(), number.encode(), PROTOCOL, cookie)
    record = struct.pack(">H", FAMILY_LOCAL) + b"".join(struct.pack(">H", len(f)) + f for f in fields)
    path.touch(mode=0o600)
    path.write_bytes(record)


def ensure_file() -> None:
    """Point XAUTHORITY at a file that opens nothing, where there is none."""
    named = os.environ.get("XAUTHORITY")
    if Path(named or Path.home() / ".Xauthority").exists():
        return
    folder = tempfile.mkdtemp(prefix="onmark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "Xauthority"
    write_key(path, "none", b"")
    os.environ["XAUTHORITY"] = str(path)
