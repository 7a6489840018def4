"""From what the user named to what runs: bots from files, models by name."""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from actuation.tools import Tool, TypeText
from agent.bot import Bot, Example, Game, asked, described
from agent.errors import MissingPiece, WrongUse
from agent.models.base import Model
from agent.prompt import PromptBuilder
from grammar.engine import Verifier
from grammar.errors import InadmissibleType
from grammar.tick import TickGrammar
from perception.detect.base import Detector

MODELS = ("embedded", "scripted", "random")
DEFAULT_WEIGHTS = "smollm2-135m-instruct"
EXAMPLES = Path("examples")
DECLARED = {"name": str, "game": Game, "detector": Detector, "tools": tuple, "goal": str, "examples": tuple}
BOT_NAMES = {*vars(Bot), *Bot.__annotations__}


def load_bot(named: str) -> Bot:
    """The bot in a folder's ``bot.py``, in a file, or in ``examples/NAME``.

    Raises:
        WrongUse: there is no such file, it does not run, or it does not declare exactly one whole bot.
    """
    path = bot_file(named)
    module = _import_file(path)
    bots = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Bot) and value.__module__ == module.__name__
    ]
    if len(bots) != 1:
        names = [bot.__name__ for bot in bots] or "none"
        raise WrongUse(f"{path}: expected exactly one Bot class, found {names}.", "Put each bot into its own file.")
    _check_declaration(path, bots[0])
    return bots[0]()


def _check_declaration(path: Path, bot: type[Bot]) -> None:
    """Refuse a bot that lacks something, or whose author misspelt it, before anything is started."""
    for name, kind in DECLARED.items():
        found = getattr(bot, name, None)
        if not isinstance(found, kind):
            raise WrongUse(
                f"{path}: expected {bot.__name__}.{name} to be a {kind.__name__}, found {found!r}.",
                f"Declare it in the class: {name} = ...",
            )
    for name in vars(bot):
        near = difflib.get_close_matches(name, BOT_NAMES, n=1, cutoff=0.8)
        if near and name not in BOT_NAMES:
            raise WrongUse(f"{path}: {bot.__name__} declares {name!r}.", f"Did you mean {near[0]!r}?")
    _check_tools(path, bot)


def _check_tools(path: Path, bot: type[Bot]) -> None:
    for tool in bot.tools:
        if not (isinstance(tool, type) and issubclass(tool, Tool)):
            raise WrongUse(f"{path}: expected Tool classes in tools, found {tool!r}.", "Name classes: (Click, Wait).")
    if any(issubclass(tool, TypeText) for tool in bot.tools) and not bot.rules.text_entry:
        raise WrongUse(
            f"{path}: {bot.__name__} declares a tool that types text, which is off.",
            "Switch it on, if that is meant: rules = Rules(text_entry=True).",
        )
    for example in bot.examples:
        if not isinstance(example, Example):
            raise WrongUse(f"{path}: expected Examples in examples, found {example!r}.", "Write Example(marks=...).")
    try:
        TickGrammar(bot.tools, Verifier())
        PromptBuilder(bot())
    except (InadmissibleType, KeyError, ValueError) as problem:
        raise WrongUse(f"{path}: {problem}", "") from problem


def load_bot_by_name(name: str, session: Path) -> Bot:
    """The example bot that a session names. A session is data: it can choose among the examples, never a path.

    Raises:
        WrongUse: there is no such example here, or it came with the session.
    """
    if EXAMPLES.resolve().is_relative_to(session.resolve()):
        raise WrongUse(
            f"{EXAMPLES.resolve()} came with the session, and what comes with it is not run.", "Go elsewhere."
        )
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name) or not (EXAMPLES / name / "bot.py").is_file():
        raise WrongUse(
            f"The session was played by the bot {name!r}, which is not in {EXAMPLES}/ here.",
            "Say where it is: onmark replay SESSION --bot PATH",
        )
    return load_bot(str(EXAMPLES / name))


def load_model(named: str, bot: Bot, seed: int) -> Model:
    """A model by its name, or a host by ``KIND:URL``, see ``agent.models.server.HostName``.

    Raises:
        WrongUse: there is none of that name.
        MissingPiece: its weights are not here.
        ModelError: there is no such kind of host, or no address.
    """
    from agent.models.scripted import RandomModel, ScriptedModel

    match named:
        case "scripted":
            if type(bot).script is Bot.script:
                raise WrongUse(f"Bot {bot.name!r} declares no script().", "Write one, or choose another --model.")
            return ScriptedModel(bot.tools, asked(bot.script), label_first=bot.label_first)
        case "random":
            return RandomModel(seed)
    return load_unbound_model(named)


def load_unbound_model(named: str, *, measure_mass: bool = False) -> Model:
    """A model that needs no bot; errors as of ``load_model``.

    Args:
        named: as a user names it.
        measure_mass: let it say how likely it held what was legal, where it can.
    """
    if named == "embedded":
        return _embedded(measure_mass)
    if named.startswith("embedded:"):
        from agent.models.embedded import EmbeddedModel

        return EmbeddedModel(Path(named.partition(":")[2]), measure_mass=measure_mass)
    if ":" in named:
        from agent.models.server import HostName, ServerModel

        return ServerModel(HostName.parse(named))
    near = difflib.get_close_matches(named, MODELS, n=1)
    hint = f"Did you mean {near[0]}?" if near else "Choose one of these, or a host: `onmark model list`."
    raise WrongUse(f"Expected a model out of {', '.join(MODELS)}, found {named!r}.", hint)


def _embedded(measure_mass: bool) -> Model:
    from agent.models.embedded import EmbeddedModel
    from agent.models.store import WeightsError, locate

    try:
        return EmbeddedModel(locate(DEFAULT_WEIGHTS), measure_mass=measure_mass)
    except WeightsError as problem:
        raise MissingPiece("The embedded model cannot be loaded.", str(problem)) from problem


def bot_file(named: str) -> Path:
    """The file that a bot's name stands for.

    Raises:
        WrongUse: there is none; names the nearest.
    """
    for path in (Path(named), Path(named) / "bot.py", EXAMPLES / named / "bot.py"):
        if path.is_file():
            return path
    known = sorted(folder.parent.name for folder in EXAMPLES.glob("*/bot.py"))
    near = difflib.get_close_matches(Path(named).name, known, n=1)
    hint = f"Did you mean {EXAMPLES / near[0]}?" if near else f"Known here: {', '.join(known) or 'none'}."
    raise WrongUse(f"Expected a bot's file, or a folder with bot.py, found nothing at {named}.", hint)


def load_type(named: str) -> Any:
    """The type in ``FILE.py:NAME`` or ``MODULE:NAME``.

    Raises:
        WrongUse: there is no such file, module or name.
    """
    where, _, name = named.rpartition(":")
    if where.endswith(".py"):
        if not Path(where).is_file():
            raise WrongUse(f"Expected a file at {where}, found none.", "Say FILE.py:NAME.")
        module = _import_file(Path(where))
    else:
        try:
            module = importlib.import_module(where)
        except (ImportError, ValueError) as problem:
            raise WrongUse(f"Expected a module {where!r}: {problem}.", "Say FILE.py:NAME or MODULE:NAME.") from problem
    if not hasattr(module, name):
        near = difflib.get_close_matches(name, vars(module), n=1)
        raise WrongUse(f"{where} has no {name!r}.", f"Did you mean {near[0]!r}?" if near else "Name what it defines.")
    return getattr(module, name)


def _import_file(path: Path) -> ModuleType:
    """Run a bot's file as a module of its own, under a name that no other file has."""
    where = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"onmark_bot_{where}_{re.sub(r'[^A-Za-z0-9_]', '_', path.parent.name)}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise WrongUse(f"{path}: expected a Python file, found something else.", "Give the file the ending .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        del sys.modules[name]
        raise WrongUse(f"{path} does not run: {described(problem)}.", "Correct it, or see --debug.") from problem
    return module
