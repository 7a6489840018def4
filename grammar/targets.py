"""What can be named at one tick, as expressions: marks under their labels, cells by column and row."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from grammar.expression import Expression, Literal, Numbers, alternatives, sequence
from grammar.numbers import Run, runs
from grammar.spelling import dump
from perception.observation import Mark

Labelled = Mapping[str | None, tuple[Run, ...]]
"""For each label the numbers of the marks that bear it. None: those that nothing names."""


def labelled(marks: Iterable[Mark]) -> Labelled:
    """Marks grouped by label, labels in the order of the marks."""
    groups = defaultdict[str | None, list[int]](list)
    for mark in marks:
        groups[mark.label].append(mark.number)
    return {label: runs(numbers) for label, numbers in groups.items()}


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
