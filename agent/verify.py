"""Did the last action work? Three values: an action that cannot be judged counts neither way."""

from __future__ import annotations

import numpy as np

from actuation.aim import aims
from actuation.executor import Delivery
from actuation.tools import Tool
from agent.ladder import Outcome
from perception.observation import Observation


def judge(action: Tool | None, delivery: Delivery | None, before: Observation | None, after: Observation) -> Outcome:
    """How the last action turned out.

    ``confirmed``: the pixels of one of its targets are other than before; of an action without a target that sent
    something, such as a key, any pixel of the window. ``refuted``: they are the same. ``inconclusive``: nothing was
    done or delivered, or the window itself moved.
    """
    if action is None or delivery is None or before is None:
        return "inconclusive"
    if delivery.outcome == "refused" or before.frame.transform != after.frame.transform:
        return "inconclusive"
    targets = aims(action, before)
    if not targets and delivery.gap_ms is None:
        return "inconclusive"
    same = all(np.array_equal(aim.pixels, after.frame.patch(aim.box)) for aim in targets)
    if not targets:
        same = np.array_equal(before.frame.pixels, after.frame.pixels)
    return "refuted" if same else "confirmed"
