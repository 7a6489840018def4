"""The file that holds displays' keys."""

import os
import stat
from functools import cache
from pathlib import Path

import pytest

from perception import xauthority

USER = b"\x01\x00\x00\x04host\x00\x010\x00\x12MIT-MAGIC-COOKIE-1\x00\x02uu"


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process's file, made anew beside a user's that holds a key and half of another."""
    (tmp_path / "users").write_bytes(USER + USER[:9])
    monkeypatch.setenv("XAUTHORITY", str(tmp_path / "users"))
    monkeypatch.setattr(xauthority, "_own_file", cache(xauthority._own_file.__wrapped__))
    xauthority.add_key("7", b"first")
    return Path(os.environ["XAUTHORITY"])


def kept(file: Path) -> list[bytes]:
    return [record.number for record in xauthority._records(file.read_bytes())]


def test_our_keys_stand_beside_the_users_readable_by_nobody_else(file: Path) -> None:
    xauthority.add_key("8", b"second")
    assert kept(file) == [b"8", b"7", b"0"]
    assert USER in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_number_that_is_used_again_has_its_new_key_alone(file: Path) -> None:
    xauthority.add_key("7", b"third")
    assert kept(file) == [b"7", b"0"]
    assert b"third" in file.read_bytes()
    assert b"first" not in file.read_bytes()
