"""What the model must know of what happened, for its next prompt; and what the user must know of it at the end."""

from __future__ import annotations

from collections.abc import Sequence

from actuation.executor import Delivery, Ended
from agent.decide import Decision
from agent.verify import Cause, Verdict
from grammar.shape import wire_name
from perception.observation import MAX_TEXT

REFUTED: dict[Cause, str] = {
    "execution": "was not done",
    "perception": "hit nothing that is there",
    "grounding": "hit something else",
    "choice": "did not do what it should",
    "game": "did nothing",
}


class News:
    """Collects what happened until a prompt takes it.

    Attributes:
        trouble: what was refused last. Empty: something has worked since.
    """

    def __init__(self) -> None:
        self._news: list[str] = []
        self._of_last = ""
        self.trouble = ""

    def take(self) -> str:
        """All of it, for one prompt; it is told once."""
        told = " ".join([*self._news, self._of_last]).strip()
        self._news, self._of_last = [], ""
        return told

    def add(self, said: str) -> None:
        """A sentence."""
        self._news.append(said)

    def ended(self, endings: Sequence[Ended]) -> None:
        """Actions that went on, and do not any more."""
        self._news += [
            f"Your action {wire_name(type(each.action))} ended early ({each.reason}): {in_short(each.detail)}."
            for each in endings
        ]

    def decided(self, decision: Decision, delivery: Delivery | None) -> None:
        """What became of a decision."""
        if decision.unanswered == "unavailable":
            self._of_last = ""  # no fault of the model's; it would not know what is meant
            self.trouble = decision.detail
        elif decision.unanswered is not None:
            self._last("You did not answer in time; answer sooner.")
        elif (fault := decision.attempts[-1].verdict.fault) is not None:
            self._last(f"Your last answer was refused: {fault.message}.")
        else:
            self.delivered(delivery)

    def delivered(self, delivery: Delivery | None) -> None:
        """What became of an action."""
        if delivery is None or delivery.outcome == "delivered":
            self._of_last = ""
        else:
            self._last(f"Your last action was not delivered ({delivery.reason}): {in_short(delivery.detail)}.")

    def worked(self) -> None:
        """The last action did what it should."""
        self.trouble = ""

    def _last(self, said: str) -> None:
        self._of_last = self.trouble = said


def outcome(verdict: Verdict) -> str:
    """How an action turned out, in a few words for a prompt."""
    if verdict.outcome == "confirmed":
        return "worked"
    return "cannot be told" if verdict.cause is None else REFUTED[verdict.cause]


def in_short(detail: str) -> str:
    """On one line and not long: it may quote the title of a stranger's window."""
    return " ".join(detail.split())[:MAX_TEXT]
