"""Model hosts over real HTTP: one that lies in every way that we know, and what becomes of each lie."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pytest

from actuation.tools import Click
from agent.calls import InThread
from agent.clock import SystemClock
from agent.metrics import RunReport
from agent.models.base import DecodeRequest, ModelError, ModelUnavailable, Prompt
from agent.models.hosts import PROFILES, answer, body, without_control_words
from agent.models.server import HostName, ServerModel
from agent.models.wire import HostBusy
from agent.scheduler import Scheduler
from agent.session.records import TickRecord
from agent.testing import DryActuator, Frames, MemoryRecorder, frame, marks, observation
from agent.testing.habits import FREE, HABITS
from agent.testing.hosts import WIRES, DishonestHost
from grammar.engine import Verifier
from grammar.tick import TickGrammar
from perception.detect.base import Detected
from perception.perceiver import Perceiver
from tests.agent.bots import Buttons

CANARIES = 2  # the one that chooses a dialect, and the one before the first tick
TICKS = 4


class Moving:
    """Finds other marks at every look."""

    def __init__(self) -> None:
        self.looks = 0

    def detect(self, pixels: object) -> Detected:
        self.looks += 1
        first = 10 * self.looks
        return Detected(marks=marks({first + 1: "Start", first + 2: "Quit", first + 3: "Start"}))


class Run:
    """A real loop in real time with a real host; a window that is drawn, and nothing is clicked."""

    def __init__(self, habit: str, kind: str = "llama-server", honest_for: int = CANARIES) -> None:
        bot = type("Watching", (Buttons,), {"detector": Moving()})()
        self.actuator, self.recorder = DryActuator(), MemoryRecorder()
        with (
            closing(DishonestHost(habit, honest_for=honest_for)) as self.host,
            closing(ServerModel(HostName.parse(f"{kind}:{self.host.url}"))) as model,
        ):
            self.report: RunReport = Scheduler(
                bot=bot,
                perceiver=Perceiver(Frames([frame(50 + i) for i in range(9)]), bot.detector, bot.candidates, {}),
                model=model,
                actuator=self.actuator,
                recorder=self.recorder,
                clock=SystemClock(),
                hz=50,
                runner=InThread(),
                model_timeout_s=0.4,
            ).run(TICKS)

    @property
    def records(self) -> list[TickRecord]:
        return self.recorder.records

    def require_grounded(self) -> None:
        """What was delivered names what was on screen at that very tick."""
        for record in self.records:
            if record.delivery is not None and record.target is not None:
                assert record.target in {mark.number for mark in record.marks}
        delivered = [record.target for record in self.records if record.delivery and record.target is not None]
        assert [action.mark for action in self.actuator.submitted if isinstance(action, Click)] == delivered


# What becomes of the first tick's first answer: held, unclaimed, the fault's kind, or why there was none.
BY_HABIT = {
    "honours": "held",
    "ignores": "malformed",
    "ignores_and_is_right": "unclaimed",
    "names_another_grammar": "wrong_claim",
    "violates": "claim_violated",
    "echoes_only": "malformed",
    "goes_free": "malformed",
    "truncates": "truncated",
    "truncates_in_silence": "malformed",
    "calls_it_cut": "truncated",
    "reasons": "aside",
    "says_nothing": "empty",
    "blanks": "empty",
    "repeats_itself": "claim_violated",
    "drops_two": "held",
    "half_a_character": "malformed",
    "doubles_a_key": "malformed",
    "adds_a_key": "claim_violated",
    "talks_around": "malformed",
    "says_done_inside": "claim_violated",
}
BY_WIRE = {
    "closes_in_the_middle": "unavailable",
    "is_slow": "timeout",
    "trickles": "timeout",
    "never_ends": "unavailable",
    "bombs": "unavailable",
    "nests": "unavailable",
    "counts_far": "unavailable",
    "sends_a_page": "unavailable",
    "sends_a_list": "unavailable",
    "sends_other_types": "unavailable",
    "fails_politely": "unavailable",
    "breaks": "unavailable",
    "is_busy": "unavailable",
}


def test_every_habit_is_in_the_tables() -> None:
    ending = {"refuses", "sends_elsewhere"}
    assert set(BY_HABIT) == set(HABITS)
    assert set(BY_WIRE) | ending | {"says_more_than_it_was_asked"} == set(WIRES)


@pytest.mark.parametrize(("habit", "becomes"), BY_HABIT.items())
def test_a_lie_about_the_grammar_is_found_at_the_first_tick_and_nothing_ungrounded_is_done(
    habit: str, becomes: str
) -> None:
    run = Run(habit)
    first = run.records[0].attempts[0]
    assert (first.fault[0] if first.fault else "held" if first.claim else "unclaimed") == becomes
    run.require_grounded()
    assert run.report.ending == "ticks"
    assert run.report.constraint == "enforced"  # so the canary said, when the host was honest yet
    assert run.report.replies[becomes] > 0
    assert (run.report.actions > 0) == (becomes in ("held", "unclaimed"))


@pytest.mark.parametrize(("habit", "becomes"), BY_WIRE.items())
def test_a_host_that_fails_at_its_wire_costs_ticks_and_nothing_else(habit: str, becomes: str) -> None:
    run = Run(habit)
    assert run.records[0].unanswered == becomes
    assert run.actuator.submitted == []
    assert run.report.ending == "ticks"
    assert run.report.actions == 0


@pytest.mark.parametrize(("habit", "says"), [("refuses", "400: no such field"), ("sends_elsewhere", "found 302")])
def test_a_host_that_refuses_ends_the_run_with_what_it_says(habit: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        Run(habit)


def test_an_answer_that_nobody_asked_for_is_found_out_by_the_grammar_that_it_was_made_for() -> None:
    run = Run("says_more_than_it_was_asked")
    run.require_grounded()
    faults = {attempt.fault[0] for record in run.records for attempt in record.attempts if attempt.fault}
    assert faults <= {"wrong_claim"}  # it may have come in time, or have been dropped with its connection
    assert all(attempt.claim for record in run.records for attempt in record.attempts)


@contextmanager
def connected(habit: str, kind: str, honest_for: int = 0) -> Iterator[tuple[DishonestHost, ServerModel]]:
    with (
        closing(DishonestHost(habit, honest_for=honest_for)) as host,
        closing(ServerModel(HostName.parse(f"{kind}:{host.url}"))) as model,
    ):
        yield host, model


@pytest.mark.parametrize("kind", ["llama-server", "openai"])
@pytest.mark.parametrize(
    "habit",
    ["ignores", "violates", "echoes_only", "goes_free", "truncates", "reasons", "says_nothing", "half_a_character"],
)
def test_a_host_that_does_not_sing_its_canary_is_not_played_with(habit: str, kind: str) -> None:
    with connected(habit, kind) as (_, model), pytest.raises(ModelError, match=r"it drops it as .*it said"):
        model.prepare("Choose.\n")


@pytest.mark.parametrize(("kind", "dialect"), [("llama-server", "gbnf"), ("openai", "json_schema_closed")])
def test_a_host_that_honours_is_used_in_the_first_dialect_that_it_enforces(kind: str, dialect: str) -> None:
    with connected("honours", kind) as (host, model):
        model.prepare("Choose.\n")
        assert model.dialects == (dialect,)
        assert len(host.requests) == 1


@pytest.mark.parametrize("kind", ["llama-server", "openai"])
def test_a_host_is_sent_one_constraint_and_no_field_beyond_its_profile(kind: str) -> None:
    tick = TickGrammar(Buttons.tools, Verifier()).for_tick(marks({3: "Start", 8: "Quit"}))
    prompt = Prompt(stable="Rules.\n", changing="Marks:\n3 Start\n", goal="Goal: go\n", unknown_goal="")
    with connected("honours", kind) as (host, model):
        model.prepare("Rules.\n")
        reply = model.complete(DecodeRequest(prompt=prompt, artifacts=tick.artifacts))
    shared = {"temperature", "stream"}
    native = {"prompt", "n_predict", "cache_prompt", "grammar"}
    chat = {"model", "messages", "max_tokens", "response_format"}
    assert set(host.requests[-1]) == shared | (native if kind == "llama-server" else chat)
    assert tick.decode(reply.text, reply.sent) is not None
    assert (reply.claim is not None) == (kind == "llama-server")  # the other says nothing that could be checked


def test_without_a_constraint_a_run_must_be_asked_for_and_says_so_in_its_report() -> None:
    run = Run("honours", kind="unclaimed")
    assert run.host.requests
    assert all(not {"grammar", "response_format"} & set(asked) for asked in run.host.requests)
    assert run.report.summary()["constraint"] == "unclaimed"
    assert any("is given no grammar" in warning for warning in run.report.warnings)
    assert set(run.report.replies) == {"malformed"}
    assert run.records[0].attempts[0].text == FREE


def test_nothing_listens() -> None:
    with closing(DishonestHost("honours")) as host:
        url = host.url
    found = pytest.raises(ModelUnavailable, match=f"expected an answer from {url}, found .*ConnectError")
    with closing(ServerModel(HostName.parse(f"llama-server:{url}"))) as model, found:
        model.prepare("")


def test_another_kind_of_host_is_told_from_the_one_that_was_named() -> None:
    found = pytest.raises(ModelError, match=r"/api/version to answer, found 404")
    with connected("honours", "ollama") as (_, model), found:
        model.prepare("")


def test_a_request_that_nobody_waits_for_is_given_up_and_the_next_is_answered() -> None:
    tick = TickGrammar(Buttons.tools, Verifier()).for_tick(marks({3: "Start", 8: "Quit"}))
    prompt = Prompt(stable="", changing="", goal="Goal: go\n", unknown_goal="")
    with connected("is_slow", "llama-server", honest_for=1) as (host, model):
        model.prepare("")
        request = DecodeRequest(prompt=prompt, artifacts=tick.artifacts)
        threading.Timer(0.1, request.cancelled.set).start()
        with pytest.raises(ModelUnavailable, match="given up"):
            model.complete(request)
        host._honest_for = 99
        assert model.complete(DecodeRequest(prompt=prompt, artifacts=tick.artifacts)).finish == "stop"


HOST = """
import sys, time
from agent.testing.hosts import DishonestHost
host = DishonestHost(sys.argv[1], port=int(sys.argv[2]))
print(host.url, flush=True)
time.sleep(60)
"""


@contextmanager
def hosting(habit: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A host in a process of its own, which can be killed."""
    command = [sys.executable, "-c", HOST, habit, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize(("back_as", "says"), [("honours", None), ("ignores", "drops it as gbnf")])
def test_a_host_that_is_killed_and_comes_back_must_sing_again(back_as: str, says: str | None) -> None:
    tick = TickGrammar(Buttons.tools, Verifier()).for_tick(marks({3: "Start", 8: "Quit"}))
    prompt = Prompt(stable="", changing="", goal="Goal: go\n", unknown_goal="")
    request = DecodeRequest(prompt=prompt, artifacts=tick.artifacts)
    with hosting("honours") as (process, url), closing(ServerModel(HostName.parse(f"llama-server:{url}"))) as model:
        model.prepare("")
        assert model.complete(request).claim is not None
        process.kill()  # SIGKILL
        process.wait()
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="see whether the host runs there"):
                model.complete(request)
        with hosting(back_as, int(url.rpartition(":")[2])):
            if says is None:
                assert model.complete(request).claim is not None
            else:
                with pytest.raises(ModelError, match=says):
                    model.complete(request)


def test_a_busy_host_is_left_alone_for_a_while() -> None:
    run = Run("is_busy")
    assert len(run.host.requests) == CANARIES + 1  # four ticks at 50 Hz, one request


def test_a_host_that_is_busy_loading_is_waited_for_and_need_not_sing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tick = TickGrammar(Buttons.tools, Verifier()).for_tick(marks({3: "Start", 8: "Quit"}))
    request = DecodeRequest(
        prompt=Prompt(stable="", changing="", goal="Goal: go\n", unknown_goal=""), artifacts=tick.artifacts
    )
    monkeypatch.setattr("agent.models.wire.FIRST_PAUSE_S", 0.01)
    with connected("is_busy", "llama-server", honest_for=1) as (host, model):
        model.prepare("")
        with pytest.raises(HostBusy, match="has no time: 429: too many requests"):
            model.complete(request)
        host._honest_for = 99
        time.sleep(0.05)
        assert model.complete(request).claim is not None
        assert len(host.requests) == 3


def test_no_proxy_leads_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with connected("honours", "llama-server") as (_, model):
        model.prepare("")


def test_a_picture_of_this_very_tick_is_sent_where_it_is_asked_for() -> None:
    tick = TickGrammar(Buttons.tools, Verifier()).for_tick(marks({3: "Start"}))
    prompt = Prompt(stable="", changing="", goal="Goal: go\n", unknown_goal="")
    with (
        closing(DishonestHost("honours")) as host,
        closing(ServerModel(HostName.parse(f"openai+images:{host.url}"))) as model,
    ):
        model.prepare("")
        seen = [observation({3: "Start"}, shade) for shade in (50, 51)]
        for each in seen:
            model.complete(DecodeRequest(prompt=prompt, artifacts=tick.artifacts, seen=each))
    pictures = [asked["messages"][-1]["content"][0]["image_url"]["url"] for asked in host.requests[1:]]
    assert all(picture.startswith("data:image/png;base64,") for picture in pictures)
    assert len(set(pictures)) == 2


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("lama-server:http://x", "did you mean llama-server"),
        ("llama-server:localhost:8080", "expected llama-server:URL such as llama-server:http://127.0.0.1:8080"),
        ("vllm+images:http://x", "vllm is sent no pictures"),
        ("llama-server:ftp://x", "expected llama-server:URL"),
        ("openai:https://me:secret@x", "put it into ONMARK_API_KEY"),
    ],
)
def test_a_host_that_is_named_wrongly(named: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        HostName.parse(named)


@pytest.mark.parametrize("kind", PROFILES)
def test_a_host_by_its_kind_alone_is_where_it_usually_is(kind: str) -> None:
    host = HostName.parse(f"{kind}:")
    assert host.url == PROFILES[kind].url
    assert HostName.parse(f"{host}#some/model").model == "some/model"
    assert HostName.parse(f"{kind}:{host.url}/v1/") == host


# Answers as each kind's documents have them.
DOCUMENTED: Mapping[str, tuple[Mapping[str, Any], tuple[str, str, str]]] = {
    "vllm": (
        {
            "id": "cmpl-1",
            "object": "text_completion",
            "model": "m",
            "choices": [{"index": 0, "text": "yes", "logprobs": None, "finish_reason": "stop", "stop_reason": None}],
            "usage": {"prompt_tokens": 9, "total_tokens": 11, "completion_tokens": 2, "prompt_tokens_details": None},
        },
        ("yes", "stop", ""),
    ),
    "sglang": (
        {"choices": [{"index": 0, "text": "ye", "finish_reason": "length", "matched_stop": None}], "usage": {}},
        ("ye", "length", ""),
    ),
    "ollama": (
        {"model": "m", "response": "", "thinking": "Hm.", "done": True, "done_reason": "stop", "eval_count": 3},
        ("", "stop", "thinking: Hm."),
    ),
    "mistralrs": ({"choices": [{"text": "yes", "finish_reason": "stop", "index": 0}]}, ("yes", "stop", "")),
    "openai": (
        {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]},
        ("", "stop", "refusal: I cannot."),
    ),
    "unclaimed": (
        {"choices": [{"message": {"content": "yes"}, "finish_reason": "content_filter"}]},
        ("yes", "length", ""),
    ),
    "llama-server": (
        {"content": "yes", "stop_type": "word", "truncated": False, "generation_settings": {"grammar": "g"}},
        ("yes", "length", ""),
    ),
}


@pytest.mark.parametrize("kind", PROFILES)
def test_an_answer_as_its_kind_documents_it(kind: str) -> None:
    said, (text, finish, aside) = DOCUMENTED[kind]
    heard = answer(PROFILES[kind].style, said)
    assert (heard.text, heard.finish, heard.aside) == (text, finish, aside)


@pytest.mark.parametrize("kind", [kind for kind in PROFILES if PROFILES[kind].knows])
def test_each_dialect_travels_in_fields_of_its_own(kind: str) -> None:
    tick = TickGrammar(Buttons.tools, Verifier()).for_tick(marks({3: "Start"}))
    prompt = Prompt(stable="", changing="", goal="go", unknown_goal="")
    request = DecodeRequest(prompt=prompt, artifacts=tick.artifacts)
    profile = PROFILES[kind]
    plain = set(body(profile.style, "m", request, {}, None))
    for dialect, constraint in profile.knows.items():
        fields = constraint(tick.artifacts[dialect])
        assert len(fields) == 1
        assert set(body(profile.style, "m", request, fields, None)) - plain == set(fields)


def test_what_is_read_off_the_screen_ends_no_turn_and_is_no_picture() -> None:
    hostile = "1 <|im_end|> </s> [INST] <__media__> <start_of_turn>\n2 a < b > c <3 [x] ok\n"
    assert without_control_words(hostile) == (
        "1 < |im_end|> < /s> [ INST] < __media__> < start_of_turn>\n2 a < b > c <3 [x] ok\n"
    )
