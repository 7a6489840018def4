"""Sensors: cheap, named questions to one tick that need no model. What cannot be told is undefined, not zero or false.

score = Number(Box(10, 10, 80, 20), reader)
sensors = Sensors({"score": score, "losing": (score < 10) & ~TemplateShown("shield.png"), "hit": score.changed()})
sensors.evaluate(View(frame=frame))  # {"score": 7, "losing": True, "hit": None}: no tick before
"""

from perception.sensors.evaluation import Sensors
from perception.sensors.expressions import Constant, Leaf, Sensor
from perception.sensors.leaves import CellCount, ColourShare, Number, Title
from perception.sensors.template import TemplateShown
from perception.sensors.values import Value, View

__all__ = [
    "CellCount",
    "ColourShare",
    "Constant",
    "Leaf",
    "Number",
    "Sensor",
    "Sensors",
    "TemplateShown",
    "Title",
    "Value",
    "View",
]
