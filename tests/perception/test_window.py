"""What is looked for and what happened, told apart without any window."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.bot import Game
from perception.geometry import Box
from perception.observation import WindowState
from perception.window import WindowFacts, WindowQuery, changes, newest

MINES = WindowFacts(number=7, title="Mines", class_names=("sgt-mines", "Sgt-mines"), process="sgt-mines", pid=42)
FLIP = WindowFacts(number=8, title="Flip", class_names=("sgt-flip", "Sgt-flip"), process="sgt-flip", pid=43)


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({"title": "Mines"}, True),
        ({"title": "mines"}, False),
        ({"title_pattern": "^Min"}, True),
        ({"title_pattern": "^ines"}, False),
        ({"class_name": "sgt-mines"}, True),
        ({"class_name": "Sgt-mines"}, True),
        ({"class_name": "sgt"}, False),
        ({"process": "sgt-mines"}, True),
        ({"process": "sgt"}, False),
        ({"pid": 42}, True),
        ({"pid": 43}, False),
        ({"title": "Mines", "pid": 43}, False),
        ({"title": "Mines", "class_name": "sgt-mines", "process": "sgt-mines", "pid": 42}, True),
    ],
)
def test_a_window_fits_when_all_that_is_given_does(fields: dict[str, str], fits: bool) -> None:
    assert WindowQuery(**fields).matches(MINES) is fits  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [{}, {"title": ""}, {"title": "Mines", "process": ""}])
def test_a_query_says_something(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="expected a window's title, title_pattern, class_name, process or pid, found"):
        WindowQuery(**fields)  # type: ignore[arg-type]


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"expected a regular expression as title_pattern, found '\('"):
        WindowQuery(title_pattern="(")


def test_the_newest_that_was_not_there_before() -> None:
    twin = replace(MINES, number=9)
    assert newest(WindowQuery(title="Mines"), [MINES, FLIP, twin], ()) is twin
    assert newest(WindowQuery(title="Mines"), [MINES, FLIP, twin], {9}) is MINES


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (
            WindowQuery(title="mines"),
            "Expected a window titled 'mines', found ['Mines', 'Flip']. Did you mean 'Mines'?",
        ),
        (
            WindowQuery(class_name="sgt-mine"),
            "Expected a window of class 'sgt-mine', found ['sgt-mines', 'Sgt-mines', 'sgt-flip', 'Sgt-flip']. "
            "Did you mean 'sgt-mines'?",
        ),
        (
            WindowQuery(process="sol", pid=1),
            "Expected a window of process 'sol' of process number 1, found ['sgt-mines', 'sgt-flip'] and ['42', '43']. "
            "Start the game, or correct the window in the bot.",
        ),
        (WindowQuery(title_pattern="^X"), "Expected a window with a title like '^X', found ['Mines', 'Flip']."),
    ],
)
def test_a_missing_window_names_what_there_is_of_that_kind(query: WindowQuery, says: str) -> None:
    with pytest.raises(Exception) as problem:
        newest(query, [MINES, FLIP], ())
    assert str(problem.value).startswith(says)


def test_no_windows_at_all() -> None:
    with pytest.raises(Exception, match="Expected a window titled 'Mines', found no windows"):
        newest(WindowQuery(title="Mines"), [], ())


def test_a_game_is_known_by_its_title_class_or_process() -> None:
    assert Game(title="Mines").window == WindowQuery(title="Mines")
    assert Game(class_name="sgt-mines", process="sgt-mines").window == WindowQuery(
        class_name="sgt-mines", process="sgt-mines"
    )
    with pytest.raises(ValueError, match="expected a window's title"):
        Game(command=("sgt-mines",))


STATE = WindowState(
    client=Box(10, 20, 300, 200), screen=Box(0, 0, 1280, 800), minimised=False, foreground=True, covered_by=()
)
COVERED = replace(STATE, covered_by=("Pop-up",))
MINIMISED = replace(STATE, minimised=True)


@pytest.mark.parametrize(
    ("before", "after", "happened"),
    [
        (STATE, replace(STATE, client=Box(11, 20, 300, 200)), {"moved"}),
        (STATE, replace(STATE, client=Box(10, 19, 300, 200)), {"moved"}),
        (STATE, replace(STATE, client=Box(10, 20, 301, 200)), {"resized"}),
        (STATE, replace(STATE, client=Box(10, 20, 300, 199)), {"resized"}),
        (STATE, replace(STATE, client=Box(-1, 20, 300, 200)), {"moved", "clipped"}),
        (replace(STATE, client=Box(-1, 20, 300, 200)), STATE, {"moved", "unclipped"}),
        (STATE, replace(STATE, screen=Box(0, 0, 200, 800)), {"clipped"}),
        (STATE, replace(STATE, scale=1.5), {"rescaled"}),
        (STATE, COVERED, {"covered"}),
        (COVERED, STATE, {"uncovered"}),
        (COVERED, replace(STATE, covered_by=("Other",)), set()),
        (STATE, MINIMISED, {"minimised"}),
        (MINIMISED, STATE, {"restored"}),
        (MINIMISED, COVERED, {"restored", "covered"}),
        (COVERED, MINIMISED, {"minimised"}),
        (STATE, replace(STATE, foreground=False), {"focus_lost"}),
        (replace(STATE, foreground=False), STATE, {"focus_gained"}),
        (STATE, replace(STATE, title="Mines - won"), set()),
    ],
)
def test_what_happened_between_two_looks(before: WindowState, after: WindowState, happened: set[str]) -> None:
    assert changes(before, after) == happened


sides = st.integers(-50, 50)
states = st.builds(
    WindowState,
    client=st.builds(Box, sides, sides, st.integers(1, 50), st.integers(1, 50)),
    screen=st.just(Box(0, 0, 60, 60)),
    minimised=st.booleans(),
    foreground=st.booleans(),
    covered_by=st.sampled_from([(), ("Pop-up",)]),
    scale=st.sampled_from([1.0, 1.5]),
)
OPPOSITES = {
    "moved": "moved",
    "resized": "resized",
    "rescaled": "rescaled",
    "minimised": "restored",
    "restored": "minimised",
    "clipped": "unclipped",
    "unclipped": "clipped",
    "focus_lost": "focus_gained",
    "focus_gained": "focus_lost",
}


@given(states, states)
def test_what_happened_is_undone_on_the_way_back(one: WindowState, other: WindowState) -> None:
    assert changes(one, one) == frozenset()
    there, back = (changes(*pair) - {"covered", "uncovered"} for pair in ((one, other), (other, one)))
    assert {OPPOSITES[change] for change in there} == back
