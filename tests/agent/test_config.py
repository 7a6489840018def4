"""Settings of a run: a file, options, and what is said about those that are none."""

from pathlib import Path

import pytest

from agent.config import RunConfig, load_config
from agent.errors import WrongUse
from tests.agent.bots import Buttons


def written(folder: Path, text: str) -> Path:
    path = folder / "onmark.toml"
    path.write_text(text)
    return path


def test_without_a_file_all_is_as_it_is_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config() == RunConfig()
    written(tmp_path, "hz = 4\n")
    assert load_config().hz == 4.0


def test_an_option_wins_over_the_file_and_the_file_over_the_bot(tmp_path: Path) -> None:
    path = written(
        tmp_path, 'model = "scripted"\nseconds = 60\n[limits]\nstasis = 9\nfailures = 0.5\n[steps]\ndwell = 2\n'
    )
    settings = load_config(path).with_options(model="random", ticks=None)
    assert (settings.model, settings.seconds, settings.ticks) == ("random", 60.0, None)
    bot = Buttons()
    settings.apply(bot)
    assert (bot.limits.stasis, bot.limits.failures, bot.limits.stall, bot.steps.dwell) == (9, 0.5, 20, 2)
    assert Buttons().limits.stasis == 6  # another bot of the class is as it was


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hertz = 4", r"expected keys out of .*, found 'hertz'\. Did you mean 'hz'|found 'hertz'"),
        ("model_timeout = 4", "found 'model_timeout'. Did you mean 'model_timeout_s'"),
        ("[limits]\nstatis = 4", r"\[limits\]: expected keys out of stasis, .* Did you mean 'stasis'"),
        ("limits = 3", "expected a table, found 3"),
        ("hz = 0", "hz: Input should be greater than 0, found 0.0"),
        ('hz = "fast"', "hz: Input should be a valid number, found 'fast'"),
        ("seconds = nan", "seconds: Input should be a finite number"),
        ("hz = ", "expected settings|Expected settings"),
    ],
)
def test_what_is_no_setting_is_named_with_the_near_miss(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        load_config(written(tmp_path, text + "\n"))


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="No such file"):
        load_config(tmp_path / "none.toml")
