"""The sweep finds nothing, and finds what is broken on purpose."""

import functools
from collections.abc import Sequence

import pytest

from grammar import gbnf, lark, shape, validator
from grammar.expression import Expression, Numbers
from grammar.nodes import Node
from grammar.sweep.pool import Pool, build_pool
from grammar.sweep.run import POOL_DIGEST, POOL_SIZE, Sweep, sweep
from grammar.sweep.traps import Case


@functools.cache
def pool() -> Pool:
    return build_pool()


def some(*words: str) -> Sequence[Case]:
    """Types whose name has these words in it."""
    found = [case for case in pool().cases if all(word in case.name for word in words)]
    assert found
    return found


def test_the_pool_is_what_it_was() -> None:
    assert len(pool().cases) >= POOL_SIZE
    assert len({case.name for case in pool().cases}) == len(pool().cases)
    assert pool().digest == POOL_DIGEST


def test_a_lost_type_is_noticed() -> None:
    fewer = Pool(pool().cases[:1800])
    found = Sweep(types=1800, pool_digest=fewer.digest)
    assert [goal.partition(":")[0] for goal in found.missed(whole=True)] == ["types", "composition of the pool"]


@pytest.mark.parametrize("part", range(8))
def test_nothing_is_found(part: int) -> None:
    """A twelfth of the pool; ``onmark sweep --check`` asks about all of it."""
    found = sweep(pool(), pool().cases[part::96])
    assert found.missed(whole=False) == []
    assert found.examples == {}
    assert found.documents > 500
    assert found.accepted > 200
    assert "other" not in found.other_spellings


def test_equal_seeds_give_equal_sweeps() -> None:
    assert sweep(pool(), pool().cases[:12], seed=3).as_json() == sweep(pool(), pool().cases[:12], seed=3).as_json()


def test_a_broken_null_predicate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = some("trap: optional of")
    assert sweep(pool(), cases).violations == {}
    monkeypatch.setattr(shape, "admits_null", lambda node: False)
    assert "a value is not what its text is read as" in sweep(pool(), cases).violations


def _one_more(expression: Expression) -> Expression:
    """Whole numbers up to one more than there are."""
    if not isinstance(expression, Numbers):
        return expression
    *most, (low, high) = expression.runs
    return Numbers((*most, (low, high + 1)))


def test_a_broken_lark_printer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = lark.regex
    monkeypatch.setattr(lark, "regex", lambda expression: right(_one_more(expression)))
    found = sweep(pool(), some("digit"))
    assert "accepted by the lark grammar, refused by the validator" in found.violations
    assert "the two grammars differ" in found.violations


def test_a_broken_gbnf_printer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gbnf.body
    monkeypatch.setattr(gbnf, "body", lambda expression, named: right(_one_more(expression), named))
    assert "accepted by the gbnf grammar, refused by the validator" in sweep(pool(), some("digit")).violations


def test_a_printer_that_does_not_quote_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gbnf, "quote", lambda text: f'"{text}"')
    assert "the gate takes it and a printer or an engine does not" in sweep(pool(), some("literal")).violations


def test_a_printer_that_does_not_know_a_node_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unknown:
        """A kind of node that only the walk knows."""

    monkeypatch.setattr(shape, "float_range", lambda position, limits: Unknown())
    found = sweep(pool(), some("float 0..1"))
    assert "the gate takes it and a printer or an engine does not" in found.violations


def test_a_validator_that_lets_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lax(self: validator._Reader, node: Node, found: object, at: str) -> object:
        return found if isinstance(found, int) else right(self, node, found, at)

    right = validator._Reader.value
    monkeypatch.setattr(validator._Reader, "value", lax)
    violations = sweep(pool(), some("digit")).violations
    assert "the validator's one spelling is not the grammar's" in violations
