"""What is installed, and what is not."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

PACKAGES = {"agent", "perception", "actuation", "grammar"}


def test_the_wheel_holds_the_four_packages_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), "."]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert any(name.endswith("LICENSE") for name in names)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as source:
        parts = {Path(name).parts[1] for name in source.getnames() if len(Path(name).parts) > 1}
    assert parts >= {*PACKAGES, "examples", "tests", "README.md", "LICENSE", "Makefile", "pyproject.toml"}


def test_versions_agree() -> None:
    declared = tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"]
    assert metadata.version("onmark") == declared
    assert f"## {declared}" in Path("CHANGELOG.md").read_text()


def test_importing_needs_no_display(tmp_path: Path) -> None:
    modules = "agent, agent.cli, agent.play, agent.testing, perception, grammar, actuation, actuation.backend"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import {modules}, sys; assert 'pyautogui' not in sys.modules"],
        env={"PATH": "/nowhere", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
