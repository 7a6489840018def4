"""A tick's grammar: what can be named, cached, certified; a sampler that tries its worst."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from actuation.tools import NoneOfThese, Tool
from agent.testing import marks
from grammar import engine, targets
from grammar.certificate import certify
from grammar.engine import LLMatcher, Verifier, byte_tokenizer, compile_lark
from grammar.errors import GrammarBuildError
from grammar.nodes import Scope
from grammar.tick import TickGrammar, TickLanguage
from perception.geometry import Box
from perception.observation import CellRef, GridCell, MarkRef
from tests.grammar.test_language import LABELS, sentences
from tests.grammar.tools import Click, Drag, Press, Scroll, Wait


class Place(Tool):
    """Put a piece on a cell."""

    cell: CellRef


class Swap(Tool):
    """Swap a mark, or nothing, with a cell."""

    mark: MarkRef | None
    cell: CellRef


def board(columns: int, rows: int, *holes: tuple[int, int]) -> tuple[GridCell, ...]:
    return tuple(
        GridCell(number=row * columns + column + 1, row=row, column=column, box=Box(0, 0, 1, 1), kind=None)
        for row in range(rows)
        for column in range(columns)
        if (column, row) not in holes
    )


def said(tick: TickLanguage) -> set[str]:
    return {sentence.decode() for sentence in sentences(tick.artifacts["lark"])}


@pytest.mark.parametrize("cells", [(), board(1, 1), board(3, 12, (1, 3), (2, 0)), board(28, 2), board(2, 2)[:1]])
def test_exactly_the_cells_on_screen(cells: Sequence[GridCell]) -> None:
    tick = TickGrammar((Place, Wait), Verifier()).for_tick((), cells=cells)
    expected = {f'{{"tool":"place","cell":"{cell.name}"}}' for cell in cells} | {'{"tool":"wait"}'}
    assert said(tick) == expected
    assert tick.certificate.cells == {cell.name for cell in cells}


def test_a_suppressed_cell_cannot_be_said() -> None:
    tick = TickGrammar((Place, Wait), Verifier()).for_tick((), cells=board(2, 2), suppressed_cells={"B1"})
    assert tick.certificate.cells == {"A1", "A2", "B2"}


def test_a_board_that_changes_its_shape_changes_the_grammar() -> None:
    grammar = TickGrammar((Place, Wait), Verifier())
    one, two = grammar.for_tick((), cells=board(2, 2)), grammar.for_tick((), cells=board(3, 2))
    assert one.certificate.cells < two.certificate.cells
    played = tuple(replace(cell, kind="flag") for cell in board(3, 2))
    assert grammar.for_tick((), cells=played) is two


def test_what_is_optional_stays_when_there_is_nothing_to_name() -> None:
    grammar = TickGrammar((Swap, Wait), Verifier())
    assert said(grammar.for_tick((), cells=board(1, 1))) == {
        '{"tool":"swap","mark":null,"cell":"A1"}',
        '{"tool":"wait"}',
    }
    assert said(grammar.for_tick(marks({7: "x"}), cells=board(1, 1))) == {
        '{"tool":"swap","mark":null,"cell":"A1"}',
        '{"tool":"swap","mark":7,"cell":"A1"}',
        '{"tool":"wait"}',
    }
    assert said(grammar.for_tick(marks({7: "x"}))) == {'{"tool":"wait"}'}


def test_an_unchanged_screen_is_one_look_up() -> None:
    grammar = TickGrammar((Click, Wait), Verifier())
    seen = marks({7: "safe", 12: "mine"})
    assert grammar.for_tick(seen) is grammar.for_tick(marks({12: "mine", 7: "safe"}))
    assert grammar.for_tick(seen) is not grammar.for_tick(seen, suppressed={7})


def test_a_screen_that_comes_back_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(text: str, tokenizer: Any) -> LLMatcher:
        compiled.append(text)
        return compile_lark(text, tokenizer)

    monkeypatch.setattr(engine, "compile_lark", counted)
    grammar = TickGrammar((Click, Wait), Verifier())
    for labels in ({7: "safe"}, {7: "mine"}, {7: "safe"}, {7: "mine"}):
        grammar.for_tick(marks(dict(labels)))
    assert len(compiled) == 2


def test_what_does_not_change_has_one_digest() -> None:
    grammar = TickGrammar((Click, Wait), Verifier())
    one, two = (grammar.for_tick(marks({n: "safe"})).artifacts for n in (1, 2))
    for dialect in one:
        assert one[dialect].invariant_digest == two[dialect].invariant_digest
        assert one[dialect].digest != two[dialect].digest
    other = TickGrammar((Click, Press, Wait), Verifier()).for_tick(marks({1: "safe"}))
    assert other.artifacts["lark"].invariant_digest != one["lark"].invariant_digest


def test_numbers_alone() -> None:
    tick = TickGrammar((Click, NoneOfThese), Verifier(), label_first=False).for_tick(marks({1: "a", 12: "b", 123: "a"}))
    assert said(tick) == {'{"tool":"none_of_these"}'} | {f'{{"tool":"click","mark":{n}}}' for n in (1, 12, 123)}
    assert tick.certificate.marks == {1, 12, 123}


@pytest.mark.parametrize("label_first", [True, False])
@pytest.mark.parametrize("i", range(60))
def test_the_certificate_is_what_the_language_can_name(i: int, label_first: bool) -> None:
    rng = random.Random(i)
    numbers = rng.sample(range(1, rng.choice((9, 99, 4000))), rng.randint(1, 8)) if i else list(range(1, 3000))
    seen = marks({n: rng.choice(LABELS) for n in numbers})
    tick = TickGrammar((Click, Drag, Place, Wait), Verifier(), label_first=label_first).for_tick(seen, (), board(3, 4))
    assert tick.certificate.marks == set(numbers)
    assert tick.certificate.digest == tick.artifacts["lark"].digest


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("(7|1[2-3])", "(7|1[2-4])", "found ['14'] beyond them and [] left out"),
        ("(7|1[2-3])", "(7|12)", "found [] beyond them and ['13'] left out"),
        ("(7|1[2-3])", "(7|[1-2][2-3])", "Expected a run of numbers, found [1-2][2-3]"),
        ("(7|1[2-3])", "(7|1[2-3]|99*)", "that can be read back"),
        ("safe", "mine", "under its own label"),
        ("(7|1[2-3])", "(7|1[2-3])99", "that can be read back"),
        ("([1-2])\\u{22}", "([1-2])99\\u{22}", "that can be read back"),
        ("/\nCELLS", "/i\nCELLS", "Expected the terminal MARKS0"),
        ('MARKS0 "}"', '(MARKS0 | "99") "}"', "begins with its fixed part"),
        ("\\u{22}target\\u{22}\\u{3a}\\u{22}safe\\u{22}\\u{2c}", "", "under its own label"),
        ("(A|B)", "(A|B|C)", "found ['C1', 'C2'] beyond them"),
        ("([1-2])\\u{22}", "(1)\\u{22}", "['A2', 'B2'] left out"),
    ],
)
def test_a_grammar_that_names_something_else_is_not_certified(old: str, new: str, says: str) -> None:
    scope = Scope(
        marks={mark.number: mark for mark in marks({7: "safe", 12: "safe", 13: "safe"})},
        cells={cell.name: cell for cell in board(2, 2)},
    )
    text = TickGrammar((Click, Place, Wait), Verifier()).for_tick(tuple(scope.marks.values()), (), board(2, 2))
    good = text.artifacts["lark"].text
    assert old in good
    assert certify(good, "", scope, text.plan.lark).marks == {7, 12, 13}
    with pytest.raises(GrammarBuildError) as problem:
        certify(good.replace(old, new), "", scope, text.plan.lark)
    assert says in str(problem.value)


def test_a_printer_that_names_more_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "runs", lambda numbers: ((1, 99),))
    with pytest.raises(GrammarBuildError, match="names the marks on screen and no others"):
        TickGrammar((Click, Wait), Verifier()).for_tick(marks({7: "safe"}))


def legal_bytes(matcher: LLMatcher) -> list[int]:
    mask = matcher.compute_bitmask()
    assert not matcher.is_error(), matcher.get_error()
    return [byte for byte in range(256) if mask[byte // 8] >> (byte % 8) & 1]


def sampled(tick: TickLanguage, choose: Any) -> str:
    """A sentence, byte by byte, as ``choose`` picks among what is legal."""
    matcher = compile_lark(tick.artifacts["lark"].text, byte_tokenizer())
    text = b""
    while not matcher.is_stopped():
        legal = legal_bytes(matcher)
        if matcher.is_accepting() and not [byte for byte in legal if byte != 0]:
            break
        byte = choose(legal, text)
        assert matcher.consume_token(byte)
        text += bytes([byte])
    return text.decode()


def perverse(legal: list[int], text: bytes) -> int:
    """What a model would least say: the byte that stands last in the order of ordinary text."""
    ordinary = b'"etaoinshrdlu:,{}0123456789'
    return max(legal, key=lambda byte: (ordinary.find(byte) < 0, ordinary.find(byte), byte))


@pytest.mark.parametrize("part", range(20))
def test_the_worst_sampler_never_leaves_the_screen(part: int) -> None:
    """2,000 screens in all; always the least likely legal byte, then random ones."""
    rng = random.Random(part)
    grammar = TickGrammar((Click, Scroll, Drag, Press, Place, Wait), Verifier(), proof=part % 2 == 1)
    for _ in range(100):
        numbers = rng.sample(range(1, rng.choice((9, 40, 2000))), rng.randint(0, 8))
        cells = board(rng.randint(0, 5), rng.randint(0, 5))
        suppressed = set(rng.sample(numbers, min(len(numbers), rng.randint(0, 2))))
        seen = marks({n: rng.choice(LABELS) for n in numbers})
        tick = grammar.for_tick(seen, suppressed, cells)
        for choose in (perverse, lambda legal, text: rng.choice(legal), lambda legal, text: rng.choice(legal)):
            action = tick.decode_exact(sampled(tick, choose))
            assert named(action) <= (set(numbers) - suppressed) | {cell.name for cell in cells}


def named(action: BaseModel) -> set[object]:
    """The targets of an action, by the names of its fields."""
    return {getattr(action, name) for name in ("mark", "source", "destination", "cell") if hasattr(action, name)}


def test_one_more_terminal_is_not_certified() -> None:
    tick = TickGrammar((Click, Wait), Verifier()).for_tick(marks({7: "safe"}))
    with pytest.raises(GrammarBuildError, match="Expected no more terminals, found MARKS1"):
        certify(tick.artifacts["lark"].text + "MARKS1: /(9)/\n", "", tick.scope, tick.plan.lark)


def test_a_suppressed_cell_comes_back() -> None:
    grammar, cells = TickGrammar((Place, Wait), Verifier()), board(2, 1)
    names = [grammar.for_tick((), cells=cells, suppressed_cells=out).certificate.cells for out in ({"A1"}, {"B1"}, ())]
    assert names == [{"B1"}, {"A1"}, {"A1", "B1"}]
