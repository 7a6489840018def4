"""What can be named at one tick, as expressions: marks under their labels, cells by column and row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grammar.expression import Expression, Literal, Numbers, alternatives, sequence
from grammar.numbers import Run, runs
from grammar.spelling import dump
from perception.observation import GridCell, Mark, column_name

Labelled = Mapping[str | None, tuple[Run, ...]]
"""For each label the numbers of the marks that bear it. None: those that nothing names."""


def labelled(marks: Iterable[Mark]) -> Labelled:
    """Marks grouped by label, labels in the order of the marks."""
    groups: dict[str | None, list[int]] = {}
    for mark in marks:
        group = groups.get(mark.label)
        if group is None:
            groups[mark.label] = [mark.number]
        else:
            group.append(mark.number)
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


def cell_names(cells: Iterable[GridCell]) -> Expression:
    """``"B4"``: columns that have the same rows share them."""
    columns: dict[str, list[int]] = {}
    for cell in cells:
        columns.setdefault(column_name(cell.column), []).append(cell.row + 1)
    shared: dict[tuple[Run, ...], list[str]] = {}
    for column, rows in columns.items():
        shared.setdefault(runs(rows), []).append(column)
    names = alternatives(
        sequence(alternatives(Literal(name) for name in names), Numbers(rows)) for rows, names in shared.items()
    )
    return sequence(Literal('"'), names, Literal('"'))
