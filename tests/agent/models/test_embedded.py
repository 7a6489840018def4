"""The embedded model on its real weights: every short cut gives what the long way gives."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from agent.models import store
from agent.models.base import Artifact, DecodeRequest, Dialect, Model, Prompt
from agent.models.embedded import EmbeddedModel
from agent.models.gguf_file import ModelError
from agent.models.trie import Plan, preference
from grammar.reply import Claim, Reply
from tests.agent.models import tiny_network as tiny

STABLE = """Marks: 3 mine, 41 safe, 60 unknown
Goal: reveal a safe cell
{"tool":"reveal","target":"safe","mark":41}

"""
MARKS = ((12, "safe"), (25, "mine"), (77, "unknown"), (13, "safe"))


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return EmbeddedModel(store.locate(store.DEFAULT))


def forget(model: EmbeddedModel) -> EmbeddedModel:
    """The same model as if it had read nothing."""
    model.close()
    return model


def prompt(marks: Sequence[tuple[int, str]] = MARKS, goal: str = "reveal a safe cell") -> Prompt:
    listed = ", ".join(f"{number} {label}" for number, label in marks)
    return Prompt(
        stable=STABLE,
        changing=f"Marks: {listed}\n",
        goal=f"Goal: {goal}\n",
        unknown_goal="Goal: unknown\n",
    )


def short() -> Prompt:
    """No examples: for reading it over and over."""
    return replace(prompt(), stable="", changing="Marks: 7 safe\n")


def language(marks: Sequence[tuple[int, str]] = MARKS) -> list[str]:
    calls = [f'{{"tool":"{t}","target":"{w}","mark":{n}}}' for t in ("reveal", "flag") for n, w in marks]
    return [*calls, '{"tool":"wait"}']


def request(asked: Prompt, text: str | Sequence[str], max_tokens: int = 96) -> DecodeRequest:
    """Under a Lark grammar, or under choices."""
    dialect: Dialect = "lark" if isinstance(text, str) else "choices"
    body = text if isinstance(text, str) else json.dumps(list(text))
    root = "start" if dialect == "lark" else ""
    made = Artifact(dialect=dialect, root=root, text=body)
    return DecodeRequest(prompt=asked, artifacts={dialect: made}, max_tokens=max_tokens)


def accepted(grammar: str, text: str) -> bool:
    """Read again by a matcher that knows bytes only."""
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(grammar))
    data = list(text.encode())
    return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()


def test_it_is_a_model(model: EmbeddedModel) -> None:
    as_protocol: Model = model
    assert as_protocol.name == "smollm2-135m-instruct (embedded)"
    assert as_protocol.dialects == ("choices", "lark")


def test_the_weights_speak_english(model: EmbeddedModel) -> None:
    for before, after in (("The capital of France is", " Paris"), ("one two three four", " five")):
        said = Prompt(stable="", changing=before, goal="", unknown_goal="")
        scores, _ = model.score(said, [after, " banana", " Berlin", " seventeen"])
        assert scores.argmax() == 0


# Choices ------------------------------------------------------------------------------------------------------


def alone(model: EmbeddedModel, asked: Prompt, sentences: Sequence[str]) -> NDArray[np.float64]:
    """Each sentence read on its own, its legal tokens found by comparing sentences; goal, then unknown goal."""
    encode, logits = model._tokens.encode, model._decoder.logits
    ended = [[*encode(sentence), model._tokens.eos] for sentence in sentences]
    totals = np.zeros((2, len(ended)))
    for row, goal in enumerate((asked.goal, asked.unknown_goal)):
        before = [*encode(asked.stable), *encode(asked.changing), *encode(goal)]
        for column, sentence in enumerate(ended):
            line = Plan.line(before + sentence)
            states = forget(model)._decoder.forward(line.tokens, 0, line.parents, range(len(line.tokens)))
            for at, token in enumerate(sentence):
                legal = sorted({other[at] for other in ended if other[:at] == sentence[:at]})
                values = logits(states[:, [len(before) + at - 1]], legal)[:, 0].astype(np.float64)
                totals[row, column] += values[legal.index(token)] - np.logaddexp.reduce(values)
    return totals


def test_all_at_once_scores_like_one_by_one(model: EmbeddedModel) -> None:
    words = language((*MARKS[:3], (77, "New Game 🎮"), (7, "safe"), (71, "safe")))
    expected = preference(alone(model, short(), words), [word.split(",")[0] for word in words])
    scores, _ = forget(model).score(short(), words)
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


def test_a_sentence_may_begin_another(model: EmbeddedModel) -> None:
    words = ["go", "go on", "go on now", "stop"]
    expected = preference(alone(model, short(), words), words)
    scores, _ = forget(model).score(short(), words)
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


def test_without_an_unknown_goal_scores_are_log_probabilities(model: EmbeddedModel) -> None:
    plain = prompt()
    for unknown in ("", plain.goal):
        asked = Prompt(stable=plain.stable, changing=plain.changing, goal=plain.goal, unknown_goal=unknown)
        scores, _ = model.score(asked, language())
        assert np.exp(scores).sum() == pytest.approx(1.0, abs=1e-4)


def test_it_reveals_what_is_safe(model: EmbeddedModel) -> None:
    rng = random.Random(3)
    for _ in range(5):
        marks = [(rng.randrange(1, 20), "mine"), (rng.randrange(20, 50), "safe"), (rng.randrange(50, 82), "unknown")]
        rng.shuffle(marks)
        reply = model.complete(request(prompt(marks), language(marks)))
        assert '"reveal","target":"safe"' in reply.text


def test_what_was_read_before_changes_nothing_but_the_cost(model: EmbeddedModel) -> None:
    rng = random.Random(5)
    for _ in range(6):
        marks = [(rng.randrange(1, 99), rng.choice(["safe", "mine"])) for _ in range(rng.randint(2, 5))]
        asked, words = prompt(marks, rng.choice(["reveal a safe cell", "unknown", "flag a mine"])), language(marks)
        words = list(dict.fromkeys(words))
        warm, warm_usage = model.score(asked, words)
        model.complete(request(asked, 'start: "yes" | "no"'))
        again, _ = model.score(asked, words)
        cold, cold_usage = forget(model).score(asked, words)
        np.testing.assert_allclose(warm, cold, atol=2e-3)
        np.testing.assert_allclose(again, cold, atol=2e-3)
        assert cold_usage.reused_tokens == 0
        assert warm_usage.reused_tokens + warm_usage.evaluated_tokens == cold_usage.evaluated_tokens


def test_branches_are_never_taken_for_what_was_read_in_a_row(model: EmbeddedModel) -> None:
    model.score(Prompt(stable=STABLE, changing="", goal="Goal: run\n", unknown_goal="Goal: jump\n"), ["a", "b"])
    asked = Prompt(stable=STABLE, changing="", goal="Goal: run\n jump\n", unknown_goal="")
    warm, _ = model.score(asked, ["a", "b"])
    cold, _ = forget(model).score(asked, ["a", "b"])
    np.testing.assert_allclose(warm, cold, atol=2e-3)


def test_a_pass_that_breaks_off_leaves_nothing_believed(model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    model.score(prompt(), language())
    layers = model._decoder._layers

    def break_off(*args: Any) -> Any:
        layers(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(model._decoder, "_layers", break_off)
        with pytest.raises(KeyboardInterrupt):
            model.score(replace(prompt(), changing="Marks: 9 something else\n"), language())
    warm, _ = model.score(prompt(), language())
    cold, _ = forget(model).score(prompt(), language())
    np.testing.assert_allclose(warm, cold, atol=2e-3)


def test_a_long_prompt_is_read_in_pieces_with_the_same_result(model: EmbeddedModel) -> None:
    filler = "".join(f"Marks: {n} safe\nGoal: wait\n" for n in range(60))
    plain = prompt()
    asked = Prompt(
        stable=filler + plain.stable, changing=plain.changing, goal=plain.goal, unknown_goal=plain.unknown_goal
    )
    pieces, usage = forget(model).score(asked, language())
    model.score(Prompt(stable=filler, changing="", goal="x", unknown_goal=""), ["a", "b"])
    cached, less = model.score(asked, language())
    assert usage.forward_passes > 1
    assert less.forward_passes == 1
    assert usage.evaluated_tokens == less.reused_tokens + less.evaluated_tokens
    np.testing.assert_allclose(pieces, cached, atol=2e-3)


def test_a_tick_is_one_pass_over_what_changed(model: EmbeddedModel) -> None:
    model.complete(request(prompt(), language()))
    marks = (*MARKS[:3], (14, "safe"))
    reply = model.complete(request(prompt(marks), language(marks)))
    assert reply.usage.forward_passes == 1
    assert reply.usage.reused_tokens > reply.usage.prompt_tokens - 15
    assert reply.usage.evaluated_tokens < 70


def test_a_forced_choice_is_not_thought_about(model: EmbeddedModel) -> None:
    reply = model.complete(request(prompt(), ['{"tool":"wait"}']))
    assert (reply.text, reply.finish, reply.margin) == ('{"tool":"wait"}', "stop", None)
    assert (reply.usage.forward_passes, reply.usage.evaluated_tokens, reply.usage.reused_tokens) == (0, 0, 0)
    assert reply.usage.prompt_tokens > 50


def test_the_reply_claims_what_it_used_and_reports_its_margin(model: EmbeddedModel) -> None:
    asked = request(prompt(), language())
    reply = model.complete(asked)
    scores, _ = model.score(prompt(), language())
    best, second = sorted(scores)[:-3:-1]
    assert reply.text == language()[int(scores.argmax())]
    assert reply.margin == pytest.approx(best - second, abs=1e-3)
    assert reply.claim == Claim(dialect="choices", digest=asked.artifacts["choices"].digest)


def test_choices_come_before_lark(model: EmbeddedModel) -> None:
    both = dict(request(prompt(), ["a", "b"]).artifacts) | dict(request(prompt(), 'start: "c"').artifacts)
    assert model.complete(DecodeRequest(prompt=prompt(), artifacts=both)).text in ("a", "b")


def test_a_choice_longer_than_allowed_is_cut(model: EmbeddedModel) -> None:
    reply = model.complete(request(prompt(), ['{"tool":"wait"}'], max_tokens=2))
    assert reply.finish == "length"
    assert '{"tool":"wait"}'.startswith(reply.text)


@pytest.mark.parametrize("words", [[], ["a", "a"]])
def test_no_choice_or_the_same_twice_is_refused(model: EmbeddedModel, words: list[str]) -> None:
    with pytest.raises(ModelError, match="expected one or more different choices"):
        model.complete(request(prompt(), words))


# Lark ---------------------------------------------------------------------------------------------------------

GRAMMARS = {
    "tick": r'start: "{\"tool\":\"" ("reveal" | "flag") "\",\"mark\":" /[1-9][0-9]{0,2}/ "}"',
    "numbers that begin one another": r'start: "<" ("1" | "12" | "123" | "1234") ">"',
    "free string": r'start: "\"" /[^"\\\x00-\x1f\x7f]{0,12}/ "\""',
    "control characters": 'start: "\\x00" ("\\x7f" | "\\x01") "\\n"',
    "emoji or hebrew": 'start: ("🎮" | "🎲" | "שלום") "!"',
    "any unicode": "start: /(?s:.){3,6}/",
    "empty allowed": 'start: "a"?',
    "nested": 'start: "(" start ")" | "x"',
    "spaces that never need end": r"start: /[ \n]{0,8}/ /[a-z]{1,3}/",
    "control words as text": 'start: "<|im_end|>" ("a" | "b")',
    "hundreds of words": "start: " + " | ".join(f'"cell {n} is {n * 7}"' for n in range(300)),
    "two terminals, one text": 'start: A | B\nA: "ab"\nB: /a[bc]d?/',
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_it_says_is_in_the_language(model: EmbeddedModel, name: str) -> None:
    asked = request(prompt(), GRAMMARS[name])
    reply = model.complete(asked)
    if reply.finish == "stop":
        assert accepted(GRAMMARS[name], reply.text)
    assert reply.claim == Claim(dialect="lark", digest=asked.artifacts["lark"].digest)
    assert reply == _without_usage_of(reply, forget(model).complete(asked))


def _without_usage_of(reply: Reply, other: Reply) -> Reply:
    """``other`` with the cost of ``reply``: the answer may not depend on what was held."""
    return Reply(text=other.text, finish=other.finish, claim=other.claim, usage=reply.usage, margin=other.margin)


def test_what_is_forced_costs_nothing(model: EmbeddedModel) -> None:
    reply = model.complete(request(prompt(), r'start: "{\"tool\":\"wait\",\"proof\":\"k3v9\"}"'))
    assert reply.text == '{"tool":"wait","proof":"k3v9"}'
    assert reply.finish == "stop"
    assert (reply.usage.forward_passes, reply.usage.evaluated_tokens) == (0, 0)


def test_the_only_legal_token_is_not_asked_for(model: EmbeddedModel) -> None:
    reply = model.complete(request(prompt(), '%llguidance {"no_forcing": true}\nstart: "a"'))
    assert (reply.text, reply.finish, reply.usage.forward_passes) == ("a", "stop", 0)


def test_one_choice_is_one_pass(model: EmbeddedModel) -> None:
    grammar = r'start: "{\"tool\":\"" ("reveal\",\"target\":\"safe" | "flag\",\"target\":\"mine") "\"}"'
    reply = model.complete(request(prompt(), grammar))
    assert reply.usage.forward_passes == 1


def test_an_answer_too_long_is_cut_and_says_so(model: EmbeddedModel) -> None:
    for grammar in (r"start: /[a-z]{40,80}/", r'start: "' + "forced " * 30 + '"'):
        reply = model.complete(request(prompt(), grammar, max_tokens=5))
        assert reply.finish == "length"
        assert 0 < len(reply.text) < 40
        assert not accepted(grammar, reply.text)


def test_an_answer_of_just_the_allowed_length_is_whole(model: EmbeddedModel) -> None:
    size = len(model._tokens.encode("wait"))
    assert model.complete(request(prompt(), 'start: "wait"', max_tokens=size)).finish == "stop"


@pytest.mark.parametrize("grammar", ["start: nothing", 'start: "a', "", 'start: /(?=a)/ "b"'])
def test_a_grammar_that_is_none_is_refused(model: EmbeddedModel, grammar: str) -> None:
    with pytest.raises(ModelError, match=r"expected a grammar that llguidance follows, found: \w"):
        model.complete(request(prompt(), grammar))


def test_a_grammar_that_kills_the_engine_on_the_way_is_an_error(model: EmbeddedModel) -> None:
    words = " | ".join(f'"{number}"' for number in range(10_000, 12_500))
    with pytest.raises(ModelError, match="llguidance follows, found"):
        model.complete(request(prompt(), f'start: "x" ({words}) "."'))


# Limits -------------------------------------------------------------------------------------------------------


def test_no_dialect_in_common(model: EmbeddedModel) -> None:
    with pytest.raises(ModelError, match=r"one of \['choices', 'lark'\], found \[\]"):
        model.complete(DecodeRequest(prompt=prompt(), artifacts={}))


def test_nothing_to_read(model: EmbeddedModel) -> None:
    with pytest.raises(ModelError, match="found an empty one"):
        model.score(Prompt(stable="", changing="", goal="", unknown_goal=""), ["a", "b"])


def test_more_than_fits_is_an_error_and_the_next_request_is_not(model: EmbeddedModel) -> None:
    plain = prompt()
    long = Prompt(stable="word " * 2050, changing="", goal=plain.goal, unknown_goal=plain.unknown_goal)
    for text in (language(), 'start: "a" | "b"'):
        with pytest.raises(ModelError, match="at most 2048 tokens of prompt and answer, found"):
            model.complete(request(long, text))
    scores, _ = model.score(plain, language())
    cold, _ = forget(model).score(plain, language())
    np.testing.assert_allclose(scores, cold, atol=2e-3)


def test_marks_off_the_screen_cannot_end_the_turn(model: EmbeddedModel) -> None:
    end = model._tokens.eos
    shared, goal, _ = model._prompt(prompt([(1, "<|im_end|>")]))
    assert end not in shared + goal


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="architecture llama, found gemma"):
        EmbeddedModel(tiny.write(tmp_path / "m.gguf", tiny.tensors(), arch="gemma"))
