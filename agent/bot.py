"""What a bot declares: the game, what to look for, what can be done, what for, and how to tell that it is over."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from actuation.settings import Motion, Rules
from actuation.tools import NoneOfThese, Tool
from agent.errors import BotError
from agent.ladder import Steps
from agent.signals import Limits
from grammar.shape import snake_case
from perception.detect.base import Detector
from perception.observation import Observation
from perception.window import WindowQuery

if TYPE_CHECKING:
    from perception.sensors import Sensor

Result = Literal["won", "lost"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game: how to start it, and how to know its window. Whatever is given of that must fit.

    Attributes:
        title: the window's title, exactly.
        class_name: one of the window's class names, exactly; ``xprop WM_CLASS`` shows them.
        process: file name of the program that makes the window, exactly.
        command: program and arguments; ``{seed}`` is replaced by the run's seed. Empty: it is started by hand.
        env: variables to set for it.
        package: the Debian package that holds it, for the message when it is missing.

    Raises:
        ValueError: neither title nor class_name nor process is given.
    """

    title: str = ""
    class_name: str = ""
    process: str = ""
    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    package: str = ""

    def __post_init__(self) -> None:
        _ = self.window  # which says what is missing

    @property
    def window(self) -> WindowQuery:
        """Which window is meant."""
        return WindowQuery(title=self.title or None, class_name=self.class_name or None, process=self.process or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A worked example for the model: these marks, this goal, that action.

    Attributes:
        marks: number -> label.
        goal: what was wanted.
        action: what was right; it names one of the marks, or none.
    """

    marks: Mapping[int, str]
    goal: str
    action: Tool


class Bot:
    """Base of all bots. The class attributes are the declaration; the methods may be overridden.

    Attributes:
        name: lower case, digits and underscores; sessions name the bot by it. By default the class's, in snake case.
        game: how to start the game, and its window's title.
        detector: what finds cells and marks, such as ``perception.detect.lattice.Lattice``.
        tools: Tool classes; at least one that needs no mark, such as ``Wait``.
        goal: what the model is to do, in the words of the examples.
        examples: worked examples for the model, two or three.
        label_first: let a model spell a mark's label before its number, so that the number follows from what it
            means; a small model is right twice as often. False: the number alone.
        none_of_these: offer one more answer, that none of the marks fits. It is recorded, and nothing is done.
        history: how many of the last actions the prompt tells, and what came of each.
        proof: let each answer end in a text that stands in this tick's grammar alone, so that a reply shows which
            grammar it was decoded under. For hosts that one does not trust; a host in this process needs none.
        sensors: name -> question to the screen that needs no model, see ``perception.sensors``; the answers are in
            ``seen.sensors``, None where they cannot be told, and in the session.
        moves_every_s: the game never stands still for so many seconds, since a clock runs or something moves: one that
            does is reported as frozen. None: it may stand still.
        motion: how long presses, drags and the pauses between them take, see ``actuation.Motion``.
        rules: what input is delivered at all, see ``actuation.Rules``: how much, how long keys are held, which are not.
        effects: tool -> name of the sensor that is true when it did what it should, such as ``"score_rose"``. Without
            one, a pixel must change in the neighbourhood of what it is aimed at; of a key, anywhere in the window.
        progress: name of the sensor whose new values are progress, such as a score or a level. None: there is none.
        loading: name of the sensor that is true while the game cannot be expected to react. None: it always can.
        limits: when the agent is taken for stuck, see ``agent.Limits``.
        steps: how the ladder is climbed then, see ``agent.Steps``.
        win_floors: model -> the share of games that it must win: what ``onmark eval --check`` holds the bot to.

    All methods are called from the scheduler's thread, once a tick, and must depend on the observation alone: a
    replay calls them again and compares.
    """

    name: ClassVar[str]
    game: ClassVar[Game]
    detector: ClassVar[Detector]
    tools: ClassVar[tuple[type[Tool], ...]]
    goal: ClassVar[str]
    examples: ClassVar[tuple[Example, ...]] = ()
    label_first: ClassVar[bool] = True
    none_of_these: ClassVar[bool] = False
    history: ClassVar[int] = 0
    proof: ClassVar[bool] = False
    sensors: ClassVar[Mapping[str, Sensor[Any]]] = MappingProxyType({})
    moves_every_s: ClassVar[float | None] = None
    motion: ClassVar[Motion] = Motion()
    rules: ClassVar[Rules] = Rules()
    effects: ClassVar[Mapping[type[Tool], str]] = MappingProxyType({})
    progress: ClassVar[str | None] = None
    loading: ClassVar[str | None] = None
    limits: ClassVar[Limits] = Limits()
    steps: ClassVar[Steps] = Steps()
    win_floors: ClassVar[Mapping[str, float]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        """Give the bot its name, and the answer that none of the marks fits."""
        if "name" not in vars(cls):
            cls.name = snake_case(cls.__name__)
        tools = vars(cls).get("tools")
        if cls.none_of_these and isinstance(tools, tuple) and NoneOfThese not in tools:
            cls.tools = (*tools, NoneOfThese)

    def candidates(self, seen: Observation) -> Mapping[int, str]:
        """Which marks to offer the model and what to call them; all that the detector found, unless overridden.

        ``seen.marks`` are all that the detector found.
        """
        return {mark.number: mark.label or f"mark {mark.number}" for mark in seen.marks}

    def result(self, seen: Observation) -> Result | None:
        """How the game ended. None: it goes on."""
        return None

    def recover(self, seen: Observation) -> Tool | None:
        """A way out when nothing else helped, such as a click on ``Undo``. None: the model goes on."""
        return None

    def safe_state(self, seen: Observation) -> Tool | None:
        """A way to a state that the bot knows, such as a press of Escape. None: the model goes on."""
        return None

    def stuck(self, seen: Observation, why: str) -> None:
        """Told at the end of a run that is stuck, after all else: to notify somebody."""

    def script(self, seen: Observation) -> Tool:
        """What ``--model scripted`` plays: an action on one of ``seen.marks``, which are those that may be named."""
        raise NotImplementedError(f"bot {self.name!r} declares no script(); use --model embedded, or write one")


def asked(method: Callable[[Observation], T]) -> Callable[[Observation], T]:
    """A bot's method, its failures told as the bot's own: which method, which line, what.

    Raises (when called):
        BotError: the method raised.
    """

    def call(seen: Observation) -> T:
        try:
            return method(seen)
        except Exception as problem:
            name = getattr(method, "__qualname__", repr(method))
            raise BotError(f"{name}() failed: {described(problem)}.", "Correct the bot, or see --debug.") from problem

    return call


def described(problem: BaseException) -> str:
    """An exception in one line, with the place that it came from."""
    text = f"{type(problem).__name__}: {problem}"
    if isinstance(problem, SyntaxError):
        return text
    frames = traceback.extract_tb(problem.__traceback__)
    return f"{text} (line {frames[-1].lineno} of {frames[-1].filename})" if frames else text
