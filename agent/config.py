"""What a run is told besides its bot: ``onmark.toml``, keyword arguments, options of the command line.

A file beside the command, every key optional::

    model = "embedded"
    hz = 2.0
    ticks = 5000
    seconds = 28800
    lock_step = false
    model_timeout_s = 10.0
    model_patience_s = 120.0
    prompt_tokens = 1500

    [limits]        # see agent.Limits: when the agent is taken for stuck
    stasis = 6

    [steps]         # see agent.Steps: how the ladder is climbed
    dwell = 4

An option of the command line wins over the file, and the file over the bot. Nothing that a model says changes any.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.bot import Bot
from agent.budget import PROMPT_TOKENS
from agent.calls import PATIENCE_S
from agent.errors import WrongUse
from agent.ladder import Steps
from agent.signals import Limits

FILE = Path("onmark.toml")

T = TypeVar("T", Limits, Steps)


class RunConfig(BaseModel):
    """How a run goes.

    Attributes:
        model: ``embedded``, ``scripted``, ``random``, or a host such as ``llama-server:http://127.0.0.1:8080``.
        hz: ticks a second.
        ticks: stop after so many. None: no limit.
        seconds: stop after so long. None: no limit.
        lock_step: begin each tick when the screen has settled, instead of so many a second.
        model_timeout_s: how long the model may take to answer. None: as long as it likes.
        model_patience_s: how long the model's host may be away, with nothing done, before that ends the run.
        prompt_tokens: how many a prompt may take before there is a warning.
        limits: fields of ``agent.Limits`` that are other than the bot's.
        steps: fields of ``agent.Steps`` that are other than the bot's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    model: str = "embedded"
    hz: Annotated[float, Field(gt=0, le=60)] = 2.0
    ticks: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    lock_step: bool = False
    model_timeout_s: Annotated[float, Field(gt=0)] | None = 10.0
    model_patience_s: Annotated[float, Field(ge=0)] = PATIENCE_S
    prompt_tokens: Annotated[int, Field(ge=1)] = PROMPT_TOKENS
    limits: dict[str, Annotated[float, Field(gt=0)]] = {}
    steps: dict[str, Annotated[int, Field(ge=1)]] = {}

    def with_options(self, **options: Any) -> RunConfig:
        """These settings, those options that are given in the place of theirs."""
        return self.model_copy(update={name: value for name, value in options.items() if value is not None})

    def apply(self, bot: Bot) -> None:
        """Give a bot the limits and steps that are set here.

        Raises:
            WrongUse: there is no such limit or step.
        """
        bot.limits = _other(bot.limits, self.limits, "limits")  # type: ignore[misc]  # this bot's alone
        bot.steps = _other(bot.steps, self.steps, "steps")  # type: ignore[misc]


def load_config(path: Path | None = None) -> RunConfig:
    """The settings of a file; those that apply by default where there is none.

    Args:
        path: the file. None: ``onmark.toml`` in the working folder, if it is there.

    Raises:
        WrongUse: it cannot be read, or says what nothing goes by, with the near miss.
    """
    if path is None and not FILE.is_file():
        return RunConfig()
    path = path or FILE
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise WrongUse(f"Expected settings in {path}, found {problem}.", "See agent/config.py for one.") from problem
    _require_known(given, RunConfig.model_fields, str(path))
    _require_known(given.get("limits", {}), [each.name for each in fields(Limits)], f"{path} [limits]")
    _require_known(given.get("steps", {}), [each.name for each in fields(Steps)], f"{path} [steps]")
    try:
        return RunConfig.model_validate(_as_numbers(given))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise WrongUse(f"{path}: {where}: {first['msg']}, found {first['input']!r}.", "Correct it.") from problem


def _as_numbers(given: Mapping[str, Any]) -> dict[str, Any]:
    """Whole numbers where the file has them for real ones, as anybody writes them."""
    real = {"hz", "seconds", "model_timeout_s", "model_patience_s"}
    said = {name: float(value) if name in real and type(value) is int else value for name, value in given.items()}
    limits = given.get("limits", {})
    return said | {"limits": {name: float(value) if type(value) is int else value for name, value in limits.items()}}


def _require_known(given: Any, known: Any, where: str) -> None:
    if not isinstance(given, Mapping):
        raise WrongUse(f"{where}: expected a table, found {given!r}.", "Write it as [limits], and a line for each.")
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            cure = f"Did you mean {near[0]!r}?" if near else "Take it out."
            raise WrongUse(f"{where}: expected keys out of {', '.join(known)}, found {name!r}.", cure)


def _other(had: T, given: Mapping[str, float], where: str) -> T:
    """The same with some fields other."""
    _require_known(given, [each.name for each in fields(had)], where)
    kinds = {each.name: type(getattr(had, each.name)) for each in fields(had)}
    return replace(had, **{name: kinds[name](value) for name, value in given.items()})
