"""The whole language of a tick, walked byte by byte through llguidance: exactly the legal actions."""

import random
from collections.abc import Iterator

import pytest
from llguidance import LLMatcher
from pydantic import BaseModel

from agent.testing import marks
from grammar.engine import Verifier, byte_tokenizer, compile_lark
from grammar.reply import Artifact
from grammar.tick import TickGrammar, TickLanguage
from tests.grammar.tools import Click, Drag, Press, RightClick, Scroll, Wait

LABELS = (
    None,
    "safe",
    "mine",
    "New Game",
    'say "hi"',
    "a\\b",
    "::= // #",
    "line\nbreak",
    "tab\t\x00\x1f\x7f",
    "😀 émoji",
    "שלום",
    "",
)
MINES = (Click, RightClick, Wait)
ALL = (Click, Scroll, Drag, Press, Wait)


def allowed_bytes(matcher: LLMatcher) -> list[int]:
    mask = matcher.compute_bitmask()
    assert not matcher.is_error(), matcher.get_error()
    return [byte for byte in range(256) if mask[byte // 8] >> (byte % 8) & 1]


def sentences(artifact: Artifact) -> Iterator[bytes]:
    """Every sentence of an artifact, by depth-first walk over the token masks of the byte vocabulary."""
    stack = [(b"", compile_lark(artifact.text, byte_tokenizer()))]
    while stack:
        said, matcher = stack.pop()
        if matcher.is_accepting():
            yield said
            if matcher.is_stopped():
                continue
        for byte in allowed_bytes(matcher):
            further = matcher.deep_copy()
            assert further.consume_token(byte), further.get_error()
            forced = further.compute_ff_bytes()
            assert further.consume_tokens(list(forced)), further.get_error()
            stack.append((said + bytes([byte]) + forced, further))


def legal(tick: TickLanguage, tools: tuple[type[BaseModel], ...], numbers: list[int]) -> set[str]:
    """All actions, from the tools' own constructors: not from the code under test."""
    said = set()
    for tool in tools:
        match tool.__name__:
            case "Click" | "RightClick":
                said |= {tick.spell(tool(mark=n)) for n in numbers}
            case "Scroll":
                said |= {
                    tick.spell(tool(mark=n, clicks=c, axis=a))
                    for n in numbers
                    for c in range(-3, 4)
                    for a in ("x", "y")
                }
            case "Drag":
                said |= {tick.spell(tool(source=a, destination=b)) for a in numbers for b in numbers}
            case "Press":
                said |= {tick.spell(tool(key=k, shift=s)) for k in ("up", '"') for s in (False, True)}
            case "Wait":
                said.add(tick.spell(tool()))
    return said


def random_numbers(rng: random.Random, i: int) -> list[int]:
    """The cases that matter: none, one, prefixes of one another, sparse, dense."""
    special = {0: [], 1: [7], 2: [1, 12, 123], 3: list(range(1, 401)), 4: sorted(rng.sample(range(1, 100_000), 400))}
    if i in special:
        return special[i]
    return sorted(rng.sample(range(1, rng.choice((12, 90, 5000))), rng.randint(0, 11)))


@pytest.mark.parametrize("i", range(200))
def test_exactly_the_legal_actions(i: int) -> None:
    rng = random.Random(i)
    numbers = random_numbers(rng, i)
    pool = rng.sample(LABELS, rng.randint(1, len(LABELS)))
    tools = MINES if len(numbers) > 30 else rng.choice((MINES, ALL))
    seen = marks({n: rng.choice(pool) for n in numbers})
    tick = TickGrammar(tools, Verifier()).for_tick(seen)
    language = [sentence.decode() for sentence in sentences(tick.artifacts["lark"])]
    assert len(language) == len(set(language))
    assert set(language) == legal(tick, tools, numbers)
    for text in rng.sample(language, min(40, len(language))):
        assert tick.spell(tick.decode_exact(text)) == text
    if "choices" in tick.artifacts:
        assert set(tick.artifacts["choices"].choices) == set(language)


def test_a_suppressed_target_cannot_be_said() -> None:
    tick = TickGrammar(MINES, Verifier()).for_tick(marks({3: "safe", 9: "safe"}), suppressed={3})
    language = {sentence.decode() for sentence in sentences(tick.artifacts["lark"])}
    assert language == {
        '{"tool":"click","target":"safe","mark":9}',
        '{"tool":"right_click","target":"safe","mark":9}',
        '{"tool":"wait"}',
    }


def test_without_marks_only_what_needs_none() -> None:
    tick = TickGrammar(MINES, Verifier()).for_tick(())
    assert [s.decode() for s in sentences(tick.artifacts["lark"])] == ['{"tool":"wait"}']
