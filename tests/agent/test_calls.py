"""Calls of a model on a thread of their own: given up in time, one at a time, and what they raise is raised."""

import threading

import pytest

from agent.calls import Calls, InThread, NoAnswer
from agent.clock import ManualClock
from agent.models.base import DecodeRequest, Dialect, Prompt, Reply
from agent.testing.victim import until


class Hanging:
    """A model that answers when it is let go."""

    name = "hanging"
    dialects: tuple[Dialect, ...] = ()

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.threads: set[str] = set()
        self.answered = 0

    def prepare(self, stable: str) -> None:
        self.threads.add(threading.current_thread().name)

    def complete(self, request: DecodeRequest) -> Reply:
        self.threads.add(threading.current_thread().name)
        if request.prompt.goal == "raise":
            raise TimeoutError("the model's own")
        self.let_go.wait(30)
        self.answered += 1
        return Reply(text="late", finish="stop")

    def close(self) -> None:
        pass


def request(goal: str = "") -> DecodeRequest:
    return DecodeRequest(prompt=Prompt(stable="", changing="", goal=goal, unknown_goal=""), artifacts={})


def test_a_model_that_hangs_is_given_up_and_asked_nothing_before_it_has_answered() -> None:
    model = Hanging()
    calls = Calls(model, ManualClock(), InThread(), timeout_s=0.05)
    calls.prepare("")
    asked = request()
    with pytest.raises(NoAnswer) as problem:
        calls.complete(asked)
    assert (problem.value.why, asked.cancelled.is_set()) == ("timeout", True)
    for _ in range(2):
        with pytest.raises(NoAnswer) as problem:
            calls.complete(request())
        assert problem.value.why == "busy"
    model.let_go.set()
    until(lambda: model.answered == 1)
    until(lambda: answers(calls))
    assert model.answered == 2  # the first one, which nobody heard, and this one
    assert model.threads == {"model"}
    calls.close()


def answers(calls: Calls) -> bool:
    try:
        return calls.complete(request()).text == "late"
    except NoAnswer:
        return False


def test_what_the_model_raises_is_raised_even_a_timeout_of_its_own() -> None:
    calls = Calls(Hanging(), ManualClock(), InThread(), timeout_s=5)
    with pytest.raises(TimeoutError, match="the model's own"):
        calls.complete(request("raise"))
    calls.close()


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_that_makes_no_sense(timeout: float) -> None:
    with pytest.raises(ValueError, match="expected a timeout above 0 s"):
        Calls(Hanging(), ManualClock(), InThread(), timeout)
