"""All sensors of a bot, evaluated together, once a tick."""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

from perception.errors import SensorError
from perception.sensors.expressions import Previous, Sensor, evaluate, in_order
from perception.sensors.values import Value, View


class Sensors:
    """Named sensors with a memory of one tick. One thread.

    A sensor that several others are made of is evaluated once a tick.

    Args:
        sensors: name -> sensor, in the order in which to evaluate them. A name is a Python identifier.

    Raises:
        ValueError: a name is no identifier, or what it names is no sensor.
    """

    def __init__(self, sensors: Mapping[str, Sensor[Any]]) -> None:
        self._sensors = _checked(sensors)
        self._orders = {name: in_order([sensor]) for name, sensor in self._sensors.items()}
        everything = in_order(self._sensors.values())
        self._kept = {id(sensor.parts[0]) for sensor in everything if isinstance(sensor, Previous)}
        self._before: dict[int, Any] = {}

    def evaluate(self, view: View) -> dict[str, Value | None]:
        """The value of each sensor at the next tick, in the order of declaration. None: undefined.

        The tick before is the one that this was called for last; ticks that it was not called for, and calls that
        raised, do not count.

        Raises:
            SensorError: a sensor failed, or gave what is no value; says which.
        """
        values: dict[int, Any] = {}
        for name, order in self._orders.items():
            missing = [sensor for sensor in order if id(sensor) not in values]
            try:
                evaluate(missing, view, values, self._before)
            except SensorError as problem:
                raise SensorError(f"Sensor {name!r}: {problem.problem}", problem.cure) from problem.__cause__
        self._before = {key: values[key] for key in self._kept}
        return {name: values[id(sensor)] for name, sensor in self._sensors.items()}

    def reset(self) -> None:
        """Forget the tick before: the next one is a first one."""
        self._before = {}


def _checked(sensors: Mapping[str, Sensor[Any]]) -> dict[str, Sensor[Any]]:
    """A copy of the declaration.

    Raises:
        ValueError: a name is no identifier, or what it names is no sensor.
    """
    if not isinstance(sensors, Mapping):
        raise ValueError(f"expected names and their sensors, found {sensors!r}")
    for name, sensor in sensors.items():
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise ValueError(f"expected a sensor's name such as 'score', found {name!r}")
        if not isinstance(sensor, Sensor):
            raise ValueError(f"expected a sensor as {name!r}, found {sensor!r}")
    return dict(sensors)
