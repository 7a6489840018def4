"""A bot for tests of the loop."""

from collections.abc import Mapping
from typing import ClassVar

from actuation.tools import Click, Done, GiveUp, Tool, Wait
from agent.bot import Bot, Example, Game, Result
from agent.testing import FixedDetector
from perception.observation import Observation


class Buttons(Bot):
    """Two buttons, for ever, unless the screen turns white or black."""

    name = "buttons"
    game = Game(title="Buttons")
    detector = FixedDetector({3: "Start", 8: "Quit"})
    tools: ClassVar[tuple[type[Tool], ...]] = (Click, Wait)
    goal = "start the game"
    examples = (Example(marks={1: "Yes", 2: "No"}, goal="agree", action=Click(mark=1)),)

    def candidates(self, seen: Observation) -> Mapping[int, str]:
        """Both."""
        return {mark.number: mark.label or "" for mark in seen.marks}

    def result(self, seen: Observation) -> Result | None:
        """White wins, black loses."""
        shade = int(seen.frame.pixels[0, 0, 0])
        return "won" if shade == 255 else "lost" if shade == 1 else None

    def script(self, seen: Observation) -> Tool:
        """The first button that may be named."""
        return Click(mark=seen.marks[0].number) if seen.marks else Wait()


class Honest(Buttons):
    """Lets the model say that it is over."""

    name = "honest"
    tools = (Click, Wait, Done, GiveUp)


START = '{"tool":"click","target":"Start","mark":3}'
QUIT = '{"tool":"click","target":"Quit","mark":8}'
