"""The choice cases, and that what counts them counts right."""

import json
from pathlib import Path
from statistics import mean

import pytest

from agent.bench_choice import ARMS, DEFAULT, KINDS, PLAIN, Arm, Case, Row, measure, missed_goals, read_cases
from agent.models import store
from agent.models.embedded import EmbeddedModel
from agent.testing import FixedReplies
from grammar.reply import Reply
from tests.agent.commands import onmark

CASES, DIGEST = read_cases()


def test_there_are_twenty_cases_of_each_kind_with_five_to_forty_marks() -> None:
    assert {kind: sum(case.kind == kind for case in CASES) for kind in KINDS} == dict.fromkeys(KINDS, 20)
    assert len({case.id for case in CASES}) == 120
    assert {min(len(case.marks) for case in CASES), max(len(case.marks) for case in CASES)} == {5, 40}
    assert all(set(case.right) <= set(case.marks) and case.right for case in CASES)
    assert all(list(case.marks) == sorted(case.marks) for case in CASES)


def test_what_is_right_stands_anywhere_and_is_told_by_its_label_alone() -> None:
    places = [list(case.marks).index(case.right[0]) / (len(case.marks) - 1) for case in CASES]
    assert 0.4 < mean(places) < 0.55
    assert all(sum(low <= place < low + 0.34 for place in places) > 20 for low in (0.0, 0.33, 0.67))
    for case in CASES:
        right = {case.marks[number] for number in case.right}
        assert len(right) == 1
        assert [number for number, label in case.marks.items() if label in right] == list(case.right)


def test_the_set_is_fixed() -> None:
    assert DIGEST == "11eccb693c66ea2c263cc68505d4a395b6d406640a38845b02f891e3be25d63b"


CASE = Case(id="text-00", kind="text", goal="click b", marks={1: "a", 2: "b", 3: "b"}, right=(2, 3))


def counted(*replies: Reply | str, arm: Arm = DEFAULT) -> dict[str, Row]:
    rows: list[Row] = []
    for rows in measure(FixedReplies(replies), arm, [CASE] * len(replies)):  # noqa: B007
        pass
    return {row.kind: row for row in rows}


def test_any_of_the_right_marks_is_right_and_what_is_not_legal_is_not() -> None:
    rows = counted(
        '{"tool":"click","target":"b","mark":2}',
        '{"tool":"click","target":"b","mark":3}',
        Reply(text='{"tool":"click","target":"a","mark":1}', finish="stop", margin=2.0, mass=0.5),
        '{"tool":"click","target":"b","mark":9}',
        '{"tool":"wait"}',
    )
    assert set(rows) == {"text", "all"}
    plain = rows["all"].as_json()
    assert (plain["cases"], plain["right"], plain["valid_rate"], plain["first_mark_rate"]) == (5, 2, 0.8, 0.2)
    assert (plain["margin_p50"], plain["mass_p50"]) == (2.0, 0.5)
    assert plain["chance"] == pytest.approx(2 / 3)
    assert plain["first_mark_rate_by_chance"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_each_arm_asks_as_it_says(arm: Arm) -> None:
    model = FixedReplies(['{"tool":"click","target":"b","mark":2}'])
    list(measure(model, arm, [CASE]))
    prompt, artifacts = model.requests[0].prompt, model.requests[0].artifacts
    assert (artifacts["lark"].text.find("target") > 0) == arm.label_first
    assert ("target" in prompt.stable) == arm.label_first
    asked = prompt.changing + prompt.goal
    assert (asked.index("Goal: click b") > asked.index("2 b")) == arm.goal_last
    assert (prompt.unknown_goal not in ("", prompt.goal)) == (arm.decoding == "against unknown")


def test_the_goal_is_missed_by_a_spelling_that_does_not_help_and_by_what_is_not_legal() -> None:
    ours, plain = Row(arm=str(DEFAULT), kind="all", cases=10, hits=7, valid=10), Row(arm=str(PLAIN), kind="all")
    plain.cases, plain.hits, plain.valid = 10, 3, 10
    assert missed_goals([ours, plain]) == []
    plain.hits, plain.valid = 4, 9
    assert [goal.partition(":")[0] for goal in missed_goals([ours, plain])] == [str(PLAIN), str(DEFAULT)]


def test_the_mass_is_a_probability_and_costs_nothing_where_it_is_not_measured() -> None:
    masses = []
    for measured in (True, False):
        model = EmbeddedModel(store.locate(store.DEFAULT), measure_mass=measured)
        for arm in (DEFAULT, PLAIN):
            rows: list[Row] = []
            for rows in measure(model, arm, CASES[:2]):  # noqa: B007
                pass
            masses.append(rows[-1].masses)
    assert all(0.5 < mass < 1 for of_arm in masses[:2] for mass in of_arm)
    assert [len(of_arm) for of_arm in masses] == [2, 2, 0, 0]


def test_the_command_prints_a_line_an_arm(tmp_path: Path) -> None:
    code, output = onmark("bench", "choice", "--cases", "3", "--json", str(tmp_path / "rows.json"))
    assert code == 0, output
    told = json.loads((tmp_path / "rows.json").read_text())
    assert told["cases_sha256"] == DIGEST
    assert {row["arm"] for row in told["rows"]} == {str(arm) for arm in ARMS}
    assert {row["cases"] for row in told["rows"] if row["kind"] == "all"} == {3}
    assert {row["valid_rate"] for row in told["rows"]} == {1.0}
