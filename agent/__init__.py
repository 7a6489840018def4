"""Time: the tick loop, decisions, the ladder, models, recorded sessions, the command line."""

from agent.bot import Bot, Example, Game, Result
from agent.play import play

__all__ = ["Bot", "Example", "Game", "Result", "play"]
