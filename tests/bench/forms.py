"""What is asked for and in which words: a form for each record, each variant and each tool."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field

from actuation.tools import Click, Tool, Wait
from tests.bench import types as declared

TOOLS: tuple[type[Tool], ...] = (Click, declared.Scroll, declared.Press, Wait)
THINGS = ["rope", "sword", "lantern", "potion", "shield", "arrow", "map", "key", "torch"]
NAMES = ["Ada", "Bruno", "Clara", "Dario", "Elena", "Felix", "Greta", "Hugo", "Ines"]
NOTES = ["call the office", "buy milk", "water the plants", "broken lamp", "red door", "pay the rent"]
LABELS = ["Start game", "Settings", "Inventory", "Map", "Shop", "Quit", "Save", "Load", "Help", "Score 120", "New"]
ROUTES = ["north", "east", "south", "west"]
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@dataclass(frozen=True)
class Form:
    """How values of one class are made and asked for: a sentence with the fields' names, and what each may be."""

    make: type[Any]
    sentence: str
    fields: dict[str, Sequence[Any]]

    def draw(self, rng: random.Random) -> tuple[Any, str]:
        """A value and the words that ask for it."""
        values = {name: rng.choice(choices) for name, choices in self.fields.items()}
        words = self.sentence.format(**{name: spoken(value) for name, value in values.items()})
        return self.make(**values), words


def spoken(value: Any) -> str:
    """A value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " and ".join(map(spoken, value))
    if isinstance(value, declared.Player):
        return f"{value.name} with number {value.number}"
    return "none" if value is None else str(value.value if isinstance(value, Enum) else value)


def _lists(pool: Sequence[Any], size: int) -> list[list[Any]]:
    """Some lists of up to so many different things."""
    rng = random.Random(size)
    return [rng.sample(pool, rng.randint(1, size)) for _ in range(40)]


PLAYERS = [declared.Player(name=name, number=3 + 7 * i) for i, name in enumerate(NAMES)]
ROUNDS = [[i % 10, (i * 7) % 10, (i * 3 + 1) % 10] for i in range(30)]

RECORDS: tuple[Form, ...] = (
    Form(
        declared.Item,
        "Make an item called {name}: {count} of it, rarity {rarity}.",
        {"name": THINGS, "count": range(1, 100), "rarity": ["common", "rare", "epic"]},
    ),
    Form(
        declared.Hero,
        "Make a hero called {name}, a {role} of level {level}.",
        {"name": NAMES, "level": range(1, 21), "role": list(declared.Role)},
    ),
    Form(
        declared.Move,
        "Move to column {column}, row {row}; capture: {capture}.",
        {"column": "abcdefgh", "row": range(1, 9), "capture": [True, False]},
    ),
    Form(
        declared.Order,
        "Order {quantity} of {code}; express: {express}; note: {note}.",
        {
            "code": ["AB-123", "QX-070", "ZZ-999", "KL-404"],
            "quantity": range(1, 13),
            "express": [True, False],
            "note": [None, *NOTES],
        },
    ),
    Form(
        declared.Recipe,
        "The dish {dish} takes {minutes} minutes. It needs {spices}.",
        {
            "dish": ["soup", "stew", "curry", "salad"],
            "minutes": range(5, 181),
            "spices": _lists(["salt", "pepper", "cumin", "thyme"], 3),
        },
    ),
    Form(
        declared.Reading,
        "Sensor {sensor} reads {celsius} degrees; valid: {valid}.",
        {
            "sensor": [f"s{n:02}" for n in range(1, 60, 7)],
            "celsius": [n / 10 for n in range(-399, 600, 17)],
            "valid": [True, False],
        },
    ),
    Form(
        declared.Booking,
        "Book for {guests} guests on {day} at hour {hour}; table: {table}.",
        {"day": DAYS, "hour": range(24), "guests": range(1, 13), "table": [None, *range(1, 41, 3)]},
    ),
    Form(
        declared.Team,
        "The team is called {team}. Its players: {players}.",
        {"team": ["Lions", "Foxes", "Bears"], "players": _lists(PLAYERS, 3)},
    ),
    Form(
        declared.Score,
        "{player} scored {rounds}, in that order.",
        {"player": NAMES, "rounds": ROUNDS},
    ),
    Form(
        declared.Ticket,
        "Open a ticket titled {title}, priority {priority}, assignee: {assignee}.",
        {"title": NOTES, "priority": ["low", "normal", "urgent"], "assignee": [None, *NAMES]},
    ),
)


def _arm(make: type[BaseModel], sentence: str, **fields: Sequence[Any]) -> Form:
    """A variant; its tag is filled in."""
    tag, info = next(iter(make.model_fields.items()))
    (value,) = get_args(info.annotation)
    return Form(make, sentence, {tag: [value], **fields})


VARIANTS: tuple[tuple[Any, tuple[Form, ...]], ...] = (
    (
        Annotated[declared.Circle | declared.Rectangle, Field(discriminator="kind")],
        (
            _arm(declared.Circle, "Draw a circle of radius {radius}.", radius=range(1, 51)),
            _arm(
                declared.Rectangle,
                "Draw a rectangle, {width} wide and {height} high.",
                width=range(1, 51),
                height=range(1, 51),
            ),
        ),
    ),
    (
        Annotated[declared.Card | declared.Cash, Field(discriminator="method")],
        (
            _arm(
                declared.Card,
                "Pay with the card that ends in {digits}.",
                digits=[f"{n:04}" for n in range(7, 9999, 613)],
            ),
            _arm(declared.Cash, "Pay {amount} in cash.", amount=range(1, 501)),
        ),
    ),
    (
        Annotated[declared.Meeting | declared.Reminder, Field(discriminator="kind")],
        (
            _arm(declared.Meeting, "Plan a meeting on {day} at hour {hour}.", day=DAYS, hour=range(24)),
            _arm(declared.Reminder, "Remind me: {text}.", text=NOTES),
        ),
    ),
    (
        Annotated[declared.Walk | declared.Attack | declared.Rest, Field(discriminator="command")],
        (
            _arm(declared.Walk, "Walk {steps} steps {direction}.", direction=ROUTES, steps=range(1, 10)),
            _arm(declared.Attack, "Attack the {enemy}.", enemy=["goblin", "troll", "wolf"]),
            _arm(declared.Rest, "Take a rest."),
        ),
    ),
    (
        Annotated[declared.Search | declared.Lookup, Field(discriminator="query")],
        (
            _arm(declared.Search, "Search for {words}; at most {limit} hits.", words=NOTES, limit=range(1, 51)),
            _arm(declared.Lookup, "Look up the entry {id}.", id=["a0b1c2", "ffee00", "123abc", "9d9d9d"]),
        ),
    ),
)
CALLS: tuple[Form, ...] = (
    Form(Click, "Goal: click {mark}", {}),
    Form(declared.Scroll, "Goal: scroll over {mark} by {clicks} clicks", {"clicks": range(-5, 6)}),
    Form(
        declared.Press,
        "Goal: press {key}; with shift: {shift}",
        {"key": ["up", "down", "left", "right", "space", "enter"], "shift": [True, False]},
    ),
    Form(Wait, "Goal: do nothing this time", {}),
)
