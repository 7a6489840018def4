"""The declared types that the requests ask for: records, variants, tools. Ordinary ones, with ordinary bounds."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from actuation.tools import Tool
from perception.observation import MarkRef

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Name = Annotated[str, Field(pattern="^[A-Z][a-z]{1,11}$")]
Word = Annotated[str, Field(pattern="^[a-z]{2,12}$")]
Note = Annotated[str, Field(min_length=1, max_length=24)]
Hour = Annotated[int, Field(ge=0, le=23)]


class Role(Enum):
    """What a hero is."""

    WARRIOR = "warrior"
    HEALER = "healer"
    SCOUT = "scout"


class Item(BaseModel):
    """A thing in a bag."""

    name: Word
    count: Annotated[int, Field(ge=1, le=99)]
    rarity: Literal["common", "rare", "epic"]


@dataclasses.dataclass
class Hero:
    """A character."""

    name: Name
    level: Annotated[int, Field(ge=1, le=20)]
    role: Role


@dataclasses.dataclass
class Move:
    """A move on a board."""

    column: Annotated[str, Field(pattern="^[a-h]$")]
    row: Annotated[int, Field(ge=1, le=8)]
    capture: bool


class Order(BaseModel):
    """An order to a shop."""

    code: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]{3}$")]
    quantity: Annotated[int, Field(ge=1, le=12)]
    express: bool
    note: Note | None


class Recipe(BaseModel):
    """How to cook something."""

    dish: Word
    minutes: Annotated[int, Field(ge=5, le=180)]
    spices: Annotated[list[Literal["salt", "pepper", "cumin", "thyme"]], Field(min_length=1, max_length=3)]


class Reading(BaseModel):
    """What a sensor says."""

    sensor: Annotated[str, Field(pattern="^s[0-9]{2}$")]
    celsius: Annotated[float, Field(ge=-40, le=60)]
    valid: bool


class Booking(BaseModel):
    """A table that is taken."""

    day: Weekday
    hour: Hour
    guests: Annotated[int, Field(ge=1, le=12)]
    table: Annotated[int, Field(ge=1, le=40)] | None


class Player(BaseModel):
    """One of a team."""

    name: Name
    number: Annotated[int, Field(ge=1, le=99)]


class Team(BaseModel):
    """Some players under one name."""

    team: Name
    players: Annotated[list[Player], Field(min_length=1, max_length=3)]


@dataclasses.dataclass
class Score:
    """What was counted in each round."""

    player: Name
    rounds: Annotated[list[Annotated[int, Field(ge=0, le=9)]], Field(min_length=3, max_length=3)]


class Ticket(BaseModel):
    """Something to be mended."""

    title: Note
    priority: Literal["low", "normal", "urgent"]
    assignee: Name | None


class Circle(BaseModel):
    """Round."""

    kind: Literal["circle"]
    radius: Annotated[int, Field(ge=1, le=50)]


class Rectangle(BaseModel):
    """Four corners."""

    kind: Literal["rectangle"]
    width: Annotated[int, Field(ge=1, le=50)]
    height: Annotated[int, Field(ge=1, le=50)]


class Card(BaseModel):
    """Paid with a card."""

    method: Literal["card"]
    digits: Annotated[str, Field(pattern="^[0-9]{4}$")]


class Cash(BaseModel):
    """Paid in coins."""

    method: Literal["cash"]
    amount: Annotated[int, Field(ge=1, le=500)]


class Meeting(BaseModel):
    """People meet."""

    kind: Literal["meeting"]
    day: Weekday
    hour: Hour


class Reminder(BaseModel):
    """A note to oneself."""

    kind: Literal["reminder"]
    text: Note


class Walk(BaseModel):
    """Go somewhere."""

    command: Literal["walk"]
    direction: Literal["north", "east", "south", "west"]
    steps: Annotated[int, Field(ge=1, le=9)]


class Attack(BaseModel):
    """Strike someone."""

    command: Literal["attack"]
    enemy: Literal["goblin", "troll", "wolf"]


class Rest(BaseModel):
    """Do nothing."""

    command: Literal["rest"]


class Search(BaseModel):
    """Find by words."""

    query: Literal["search"]
    words: Note
    limit: Annotated[int, Field(ge=1, le=50)]


class Lookup(BaseModel):
    """Find by number."""

    query: Literal["lookup"]
    id: Annotated[str, Field(pattern="^[a-f0-9]{6}$")]


class Scroll(Tool):
    """Scroll over a mark."""

    mark: MarkRef
    clicks: Annotated[int, Field(ge=-5, le=5)]


class Press(Tool):
    """Press a key."""

    key: Literal["up", "down", "left", "right", "space", "enter"]
    shift: bool
