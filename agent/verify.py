"""Did the last action work? Three values: an action that cannot be judged counts neither way."""

from __future__ import annotations

import numpy as np

from actuation.executor import Delivery
from actuation.tools import Tool
from agent.ladder import Outcome
from perception.observation import Observation


def judge(action: Tool | None, delivery: Delivery | None, before: Observation | None, after: Observation) -> Outcome:
    """How the last action turned out.

    ``confirmed``: its target's pixels are other than before. ``refuted``: they are the same.
    ``inconclusive``: nothing was done or delivered, the action has no target, or the window itself moved.
    """
    if action is None or action.target is None or delivery is None or before is None:
        return "inconclusive"
    if delivery.outcome == "refused" or before.frame.transform != after.frame.transform:
        return "inconclusive"
    box = before.mark(action.target).box
    same = np.array_equal(before.frame.patch(box), after.frame.patch(box))
    return "refuted" if same else "confirmed"
