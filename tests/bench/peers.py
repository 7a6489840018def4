"""Who ours is compared with: xgrammar, outlines-core, and pydantic's schema made anew each tick.

The first two are optional: whoever is not installed is left out, with a word on how to have it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, Union

import numpy as np
from pydantic import BaseModel, TypeAdapter, create_model

from grammar.engine import LLMatcher
from grammar.shape import wire_name
from perception.observation import CellTarget, MarkTarget
from tests.bench.ours import Contestant, LLWalk, Mask, Ours, Printer, Walk, alive
from tests.bench.screens import TOOLS, Screen
from tests.bench.vocabularies import NotThere, Vocabulary

_LITERAL: Any = Literal  # subscripted at run time
_UNION: Any = Union


class Pydantic:
    """The naive way: models with a Literal of what is on screen, declared anew each tick, their schema compiled.

    It names no labels, so its text is the shorter one and its walks are its own.
    """

    name = "pydantic schema"
    verifies: ClassVar[bool] = True

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._engine = vocabulary.engine
        self._adapter: TypeAdapter[Any] | None = None

    def text(self, screen: Screen) -> str:
        """The schema of the twelve models."""
        marks = _LITERAL[tuple(mark.number for mark in screen.marks)]
        cells = _LITERAL[tuple(cell.name for cell in screen.cells)]
        models = [self._model(tool, marks, cells) for tool in TOOLS]
        self._adapter = TypeAdapter(_UNION[tuple(models)])
        compact = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
        return json.dumps({**self._adapter.json_schema(), "x-guidance": compact})

    def _model(self, tool: type[BaseModel], marks: Any, cells: Any) -> type[BaseModel]:
        fields: dict[str, Any] = {"tool": (Literal[wire_name(tool)], ...)}
        for name, info in tool.model_fields.items():
            kinds = {type(note) for note in info.metadata}
            named = marks if MarkTarget in kinds else cells if CellTarget in kinds else None
            fields[name] = (info.annotation, info) if named is None else (named, ...)
        return create_model(tool.__name__, __config__={"extra": "forbid"}, **fields)

    def compile(self, text: str) -> LLMatcher:
        """A matcher over the vocabulary."""
        return alive(LLMatcher(self._engine, LLMatcher.grammar_from_json_schema(text), log_level=0))

    def walk(self, compiled: LLMatcher) -> LLWalk:
        """The start of an action."""
        return LLWalk(compiled)

    def verify(self, compiled: Any, said: str) -> bool:
        """Its own words through its own validator: pydantic is no parser of a grammar."""
        return self._adapter is not None and self._adapter.validate_json(said) is not None

    def clear(self) -> None:
        """It keeps nothing."""


class XGrammar:
    """xgrammar with dynamic compilation: masks are made when a walk first needs them. Reads our Lark and our GBNF."""

    verifies: ClassVar[bool] = True

    def __init__(self, vocabulary: Vocabulary, dialect: Literal["lark", "gbnf"]) -> None:
        self.name = f"xgrammar ({'Lark' if dialect == 'lark' else 'GBNF'})"
        self._lark = dialect == "lark"
        self._printer = Printer()
        self._package = import_xgrammar()
        kind = self._package.VocabType.RAW
        info = self._package.TokenizerInfo(vocabulary.tokens, kind, stop_token_ids=[vocabulary.end])
        self._compiler = self._package.GrammarCompiler(info, enable_dynamic_compilation=True)
        self._words = -(-len(vocabulary.tokens) // 32)

    def text(self, screen: Screen) -> str:
        """Our Lark, or our GBNF."""
        return self._printer.lark(screen) if self._lark else self._printer.gbnf(screen)

    def compile(self, text: str) -> Any:
        """A compiled grammar."""
        return self._compiler.compile_lark(text) if self._lark else self._compiler.compile_grammar(text)

    def walk(self, compiled: Any) -> Walk:
        """The start of an action."""
        return _XWalk(self._package.GrammarMatcher(compiled), self._words)

    def verify(self, compiled: Any, said: str) -> bool:
        """Its matcher over the whole text."""
        matcher = self._package.GrammarMatcher(compiled)
        return bool(matcher.accept_string(said) and matcher.is_completed())

    def clear(self) -> None:
        """Forget what was compiled."""
        self._compiler.clear_cache()


class _XWalk:
    def __init__(self, matcher: Any, words: int) -> None:
        self._matcher = matcher
        self._bits = np.zeros((1, words), np.int32)

    def mask(self) -> Mask:
        if not self._matcher.fill_next_token_bitmask(self._bits):
            self._bits.fill(-1)
        return np.asarray(self._bits[0].view(np.uint8))

    def take(self, token: int) -> None:
        self._matcher.accept_token(token)


def import_xgrammar() -> Any:
    """The package, without the gigabytes that its metadata asks for.

    Its Python files import torch and transformers for names in annotations and one constant; its engine needs
    neither, and fills numpy arrays. Where they are not installed they are stood in for while it is imported.

    Raises:
        NotThere: it is not installed.
    """
    try:
        importlib.import_module("tvm_ffi")  # looks for torch itself: before the stand-in is there
        with _stood_in():
            return importlib.import_module("xgrammar")
    except ImportError as error:
        raise NotThere(f"xgrammar left out: {error}; run `make bench`, which installs it") from error


@contextmanager
def _stood_in() -> Iterator[None]:
    """Stand-ins for torch and transformers, for as long as it takes."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    for name in missing:
        module: Any = types.ModuleType(name)
        for word in ("Tensor", "LongTensor", "FloatTensor", "LogitsProcessor"):
            setattr(module, word, type(word, (), {}))
        module.PreTrainedTokenizerBase = module.PreTrainedTokenizerFast = type("Tokenizer", (), {})
        module.int32, module.tensor = "int32", lambda *_, **__: None
        sys.modules[name] = module
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


_SYMBOL = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\{\d+,\d+\}|[()|?]')


class Outlines:
    """outlines-core. It reads regular expressions: our Lark with every rule put in its place is one."""

    name = "outlines-core"
    verifies: ClassVar[bool] = False

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._printer = Printer()
        try:
            self._package: Any = importlib.import_module("outlines_core")
        except ImportError as error:
            raise NotThere(f"outlines-core left out: {error}; run `make bench`, which installs it") from error
        numbers: dict[bytes, list[int]] = {}
        for number, token in enumerate(vocabulary.tokens):
            if token:
                numbers.setdefault(token, []).append(number)
        self._vocabulary = self._package.Vocabulary(vocabulary.end, numbers)
        self._words = -(-len(vocabulary.tokens) // 32)

    def text(self, screen: Screen) -> str:
        """Our Lark as one regular expression."""
        rules = dict(line.split(": ", 1) for line in self._printer.lark(screen).splitlines())
        return _inlined(rules["start"], rules)

    def compile(self, text: str) -> Any:
        """An index of every state and token."""
        return self._package.Index(text, self._vocabulary)

    def walk(self, compiled: Any) -> Walk:
        """The start of an action."""
        return _OutlinesWalk(self._package.Guide(compiled), self._words)

    def verify(self, compiled: Any, said: str) -> bool:
        """It follows tokens alone."""
        raise NotImplementedError

    def clear(self) -> None:
        """It keeps nothing."""


class _OutlinesWalk:
    def __init__(self, guide: Any, words: int) -> None:
        self._guide = guide
        self._bits = np.zeros(words, np.int32)

    def mask(self) -> Mask:
        self._guide.write_mask_into(self._bits.ctypes.data, self._bits.size, 4)
        return np.asarray(self._bits.view(np.uint8))

    def take(self, token: int) -> None:
        self._guide.advance(token, return_tokens=False)


def _inlined(body: str, rules: dict[str, str]) -> str:
    """A rule's body as a regular expression."""
    if body.startswith("/"):
        return f"(?:{body[1:-1]})"
    return "".join(_symbol(found, rules) for found in _SYMBOL.findall(body))


def _symbol(symbol: str, rules: dict[str, str]) -> str:
    if symbol.startswith('"'):
        return re.sub(r"\W", lambda found: f"\\x{{{ord(found[0]):x}}}", json.loads(symbol))
    return f"(?:{_inlined(rules[symbol], rules)})" if symbol in rules else symbol


Maker = Callable[[Vocabulary], Contestant]

MAKERS: tuple[Maker, ...] = (
    Ours,
    lambda vocabulary: XGrammar(vocabulary, "lark"),
    lambda vocabulary: XGrammar(vocabulary, "gbnf"),
    Outlines,
    Pydantic,
)
"""All contestants, ours first; each maker raises NotThere where its package is not installed."""
