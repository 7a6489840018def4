"""A hundred typed requests, always the same ones, each with one right answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import cycle, islice
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from agent.models.base import Prompt
from grammar.boundary import Boundary
from grammar.engine import Verifier
from grammar.language import Language
from grammar.shape import wire_name
from grammar.tick import TickGrammar
from perception.geometry import Box
from perception.observation import Mark, MarkTarget
from tests.bench.forms import CALLS, LABELS, RECORDS, TOOLS, VARIANTS, Form, spoken

SEED = 20250
RULES = "Answer with one JSON object that fits the schema, and with nothing else."
Kind = Literal["tool call, label first", "tool call, number alone", "record", "variant"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One thing to ask for.

    Attributes:
        kind: what sort of type it is.
        name: of the type.
        language: what may be said.
        task: what is asked, in words.
        example: one worked example of another thing of the type, as it stands in the prompt.
        right: the one right answer.
        peer: the same type as a pydantic model for libraries that know no marks.
    """

    kind: Kind
    name: str
    language: Language[Any]
    task: str
    example: str
    right: Any
    peer: type[BaseModel]

    def prompt(self, note: str = "") -> Prompt:
        """The prompt of every attempt whose decoder is ours; ``note`` says what was wrong with the one before."""
        schema = self.language.artifacts["json_schema"].text
        said = f"Note: your last answer was refused: {note}\n" if note else ""
        return Prompt(
            stable=f"{RULES}\nSchema: {schema}\n\n{self.example}\n\n",
            changing=f"Request:\n{self.task}\n{said}",
            goal="Answer:\n",
            unknown_goal="",
        )


def build(count: int = 100) -> list[Request]:
    """The requests: four tenths tool calls, three tenths records, three tenths variants."""
    calls, records = round(0.4 * count), round(0.3 * count)
    half = (calls + 1) // 2
    made = [
        *islice(_calls(label_first=True), half),
        *islice(_calls(label_first=False), calls - half),
        *_by_type(islice(_records(), records)),
        *_by_type(islice(_variants(), count - calls - records)),
    ]
    for request in made:
        if request.language.decode_exact(request.language.spell(request.right)) != request.right:
            raise AssertionError(f"the right answer of {request.task!r} is none")
    return made


def _by_type(requests: Iterator[Request]) -> list[Request]:
    """Those of one type one after the other, as they come in a program."""
    return sorted(requests, key=lambda request: request.name)


def _records() -> Iterator[Request]:
    drawers = [_Drawer("record", form.make.__name__, form.make, [form]) for form in RECORDS]
    return (drawer.request() for drawer in cycle(drawers))


def _variants() -> Iterator[Request]:
    drawers = [_Drawer("variant", forms[0].make.__name__, union, forms) for union, forms in VARIANTS]
    return (drawer.request() for drawer in cycle(drawers))


class _Drawer:
    """Draws requests for one type, never one twice, nor the example."""

    def __init__(self, kind: Kind, name: str, of: Any, forms: Sequence[Form]) -> None:
        self._kind: Kind = kind
        self._name, self._forms = name, forms
        self._rng = random.Random(f"{SEED} {name}")
        self._language: Language[Any] = Boundary(of).language()
        self._peer = of if isinstance(of, type) and issubclass(of, BaseModel) else RootModel[of]
        value, words = forms[0].draw(random.Random(0))
        self._example = f"Request:\n{words}\nAnswer:\n{self._language.spell(value)}"
        self._said = {words}

    def request(self) -> Request:
        """Another one."""
        value, words = self._rng.choice(self._forms).draw(self._rng)
        if words in self._said:
            return self.request()
        self._said.add(words)
        return Request(
            kind=self._kind,
            name=self._name,
            language=self._language,
            task=words,
            example=self._example,
            right=value,
            peer=self._peer,
        )


def _calls(*, label_first: bool) -> Iterator[Request]:
    """Tool calls, each over a screen of its own."""
    rng = random.Random(SEED + 2 + label_first)
    grammar = TickGrammar(TOOLS, Verifier(), label_first=label_first)
    example = _call(grammar, CALLS[0], random.Random(0))
    kind: Kind = "tool call, label first" if label_first else "tool call, number alone"
    while True:
        form = rng.choice([CALLS[0], CALLS[0], *CALLS])  # mostly clicks, as in a game
        language, right, task = _call(grammar, form, rng)
        shown = f"Request:\n{example[2]}\nAnswer:\n{example[0].spell(example[1])}"
        peer = peer_of_tools(tuple(language.scope.marks.values()), label_first)
        yield Request(kind=kind, name=kind, language=language, task=task, example=shown, right=right, peer=peer)


def _call(grammar: TickGrammar, form: Form, rng: random.Random) -> tuple[Language[BaseModel], BaseModel, str]:
    """A screen, a call that is right on it, and the words that ask for it."""
    numbers, labels = sorted(rng.sample(range(1, 100), 6)), rng.sample(LABELS, 6)
    marks = [Mark(number=n, box=Box(0, 0, 9, 9), label=label) for n, label in zip(numbers, labels, strict=True)]
    aimed = rng.choice(marks)
    values = {name: rng.choice(choices) for name, choices in form.fields.items()}
    said = form.sentence.format(mark=aimed.label, **{name: spoken(value) for name, value in values.items()})
    named = {"mark": aimed.number} if "{mark}" in form.sentence else {}
    listed = "".join(f"{mark.number} {mark.label}\n" for mark in marks)
    return grammar.for_tick(marks), form.make(**named, **values), f"Marks:\n{listed}{said}"


def peer_of_tools(marks: Sequence[Mark], label_first: bool) -> type[BaseModel]:
    """The tools of one tick as a tagged union of pydantic models, what is on screen written out as literals."""
    numbers = Literal[tuple(mark.number for mark in marks)]  # type: ignore[valid-type]
    labels = Literal[tuple(mark.label for mark in marks)]  # type: ignore[valid-type]
    models = []
    for tool in TOOLS:
        fields: dict[str, Any] = {"tool": (Literal[wire_name(tool)], ...)}
        for name, info in tool.model_fields.items():
            if not any(isinstance(note, MarkTarget) for note in info.metadata):
                fields[name] = (info.annotation, info)
                continue
            fields |= {"target": (labels, ...)} if label_first else {}
            fields[name] = (numbers, ...)
        made = create_model(tool.__name__, __config__=ConfigDict(extra="forbid"), __doc__=tool.__doc__, **fields)
        models.append(made)
    root: Any = RootModel
    made_of: type[BaseModel] = root[Annotated[reduce(or_, models), Field(discriminator="tool")]]
    return made_of
