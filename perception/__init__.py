"""The nouns: what is on screen, numbered and labelled.

Nouns load at once; what needs a display or an image library is imported where it is used.
"""

from perception.errors import DisplayUnavailable, NotObservable, PerceptionError, WindowClosed, WindowNotFound
from perception.geometry import Box, Point, Transform
from perception.observation import Frame, GridCell, Mark, MarkRef, Observation, WindowState

__all__ = [
    "Box",
    "DisplayUnavailable",
    "Frame",
    "GridCell",
    "Mark",
    "MarkRef",
    "NotObservable",
    "Observation",
    "PerceptionError",
    "Point",
    "Transform",
    "WindowClosed",
    "WindowNotFound",
    "WindowState",
]
