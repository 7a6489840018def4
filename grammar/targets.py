"""What can be named at one tick, as expressions: marks under their labels, cells by column and row."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import compress
from operator import ne

from grammar.expression import Expression, Literal, Numbers, alternatives, sequence
from grammar.numbers import Run, runs
from grammar.spelling import dump
from perception.observation import Mark

Labelled = Mapping[str | None, tuple[Run, ...]]
"""For each label the numbers of the marks that bear it. None: those that nothing names."""


def labelled(marks: Mapping[int, Mark]) -> Labelled:
    """Marks grouped by label, labels in the order of the marks.

    Marks of one label mostly stand together: stretches are found and copied whole, since this runs at every tick.
    """
    groups = defaultdict[str | None, list[int]](list)
    numbers, labels = list(marks), [mark.label for mark in marks.values()]
    start = 0
    for end in (*compress(range(1, len(labels)), map(ne, labels, labels[1:])), len(labels)):
        groups[labels[start]] += numbers[start:end]
        start = end
    return {label: runs(named) for label, named in groups.items()}


def mark_numbers(marks: Mapping[int, Mark]) -> Expression:
    """The numbers alone."""
    return Numbers(runs(marks))


def mark_members(groups: Labelled, label_key: str, name: str) -> Expression:
    """``"target":"safe","mark":12``: for each label the numbers that bear it."""
    return alternatives(
        sequence(Literal(("" if label is None else f'"{label_key}":{dump(label)},') + f'"{name}":'), Numbers(numbers))
        for label, numbers in groups.items()
    )


def cell_names(names: Collection[str]) -> Expression:
    """``"B4"``: columns that have the same rows share them."""
    return _cell_names(tuple(names))


@lru_cache(maxsize=16)
def _cell_names(cells: tuple[str, ...]) -> Expression:
    """A board keeps its cells for many ticks."""
    columns: dict[str, list[int]] = {}
    for cell in cells:
        column = cell.rstrip(string.digits)
        columns.setdefault(column, []).append(int(cell[len(column) :]))
    shared: dict[tuple[Run, ...], list[str]] = {}
    for column, rows in columns.items():
        shared.setdefault(runs(rows), []).append(column)
    names = alternatives(
        sequence(alternatives(Literal(name) for name in names), Numbers(rows)) for rows, names in shared.items()
    )
    return sequence(Literal('"'), names, Literal('"'))
