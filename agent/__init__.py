"""Time: the tick loop, decisions, the ladder, models, recorded sessions, the command line."""

from agent.bot import Bot, Example, Game, Result
from agent.controls import Controls
from agent.ladder import Steps
from agent.play import play
from agent.signals import Limits

__all__ = ["Bot", "Controls", "Example", "Game", "Limits", "Result", "Steps", "play"]
