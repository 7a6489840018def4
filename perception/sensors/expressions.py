"""Expressions over what one tick saw. What cannot be told is undefined, ``None``, and so is all that it is part of."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from perception.errors import SensorError
from perception.observation import Frame
from perception.sensors.values import Value, View, both, compiled, either, is_value, negated

T_co = TypeVar("T_co", covariant=True)
MAX_TEXT = 200  # characters of an expression in a message

NO_TRUTH = (
    "expected true or false, found a sensor, which is neither before it is evaluated; write &, | and ~ for and, or and "
    "not, with brackets: (lives > 0) & ~over; a < b < c is (a < b) & (b < c)"
)


class Sensor(Generic[T_co]):
    """An expression with a value at each tick. It may be undefined, which is ``None``: never zero, never false.

    Combine sensors, with each other or with plain values, by ``&``, ``|``, ``~``, ``==``, ``!=``, ``<``, ``<=``,
    ``>``, ``>=``, ``+`` and ``-``. Each of these is undefined where an operand is, ``&`` and ``|`` too. ``==`` makes a
    sensor; to ask whether two names stand for one sensor, write ``is``.

    A kind of your own is a ``Leaf``.
    """

    @property
    def parts(self) -> tuple[Sensor[Any], ...]:
        """The sensors that this one is made of."""
        return ()

    def __call__(self, frame: Frame) -> T_co | None:
        """The value on a frame alone: no board, no title, no tick before."""
        return self.read(View(frame=frame))

    def read(self, view: View) -> T_co | None:
        """The value on a view alone: no tick before.

        Raises:
            SensorError: the sensor failed, or gave what is no value.
        """
        values: dict[int, Any] = {}
        evaluate(in_order([self]), view, values, before={})
        found: T_co | None = values[id(self)]
        return found

    def previous(self) -> Sensor[T_co]:
        """The value at the tick before; undefined at the first tick, and where it was undefined then."""
        return Previous(self)

    def changed(self) -> Sensor[bool]:
        """True when the value is not that of the tick before."""
        return self != self.previous()

    def contains(self: Sensor[str], text: str) -> Sensor[bool]:
        """True when the text holds another.

        Raises:
            ValueError: the other is no text.
        """
        if not isinstance(text, str):
            raise ValueError(f"expected a text, found {text!r}")
        return Strict(lambda whole: text in whole, (self,), f"{self}.contains({text!r})")

    def matches(self: Sensor[str], pattern: str) -> Sensor[bool]:
        """True when a regular expression fits the whole text.

        Raises:
            ValueError: the pattern is no regular expression.
        """
        whole = compiled(pattern).fullmatch
        return Strict(lambda text: whole(text) is not None, (self,), f"{self}.matches({pattern!r})")

    def __bool__(self) -> bool:
        raise TypeError(NO_TRUTH)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Sensor[bool]:  # type: ignore[override]
        return _joined(self, "==", operator.eq, other)

    def __ne__(self, other: object) -> Sensor[bool]:  # type: ignore[override]
        return _joined(self, "!=", operator.ne, other)

    def __lt__(self, other: Operand) -> Sensor[bool]:
        return _joined(self, "<", operator.lt, other)

    def __le__(self, other: Operand) -> Sensor[bool]:
        return _joined(self, "<=", operator.le, other)

    def __gt__(self, other: Operand) -> Sensor[bool]:
        return _joined(self, ">", operator.gt, other)

    def __ge__(self, other: Operand) -> Sensor[bool]:
        return _joined(self, ">=", operator.ge, other)

    def __add__(self, other: Operand) -> Sensor[Any]:
        return _joined(self, "+", operator.add, other)

    def __radd__(self, other: Value) -> Sensor[Any]:
        return _joined(other, "+", operator.add, self)

    def __sub__(self, other: Operand) -> Sensor[Any]:
        return _joined(self, "-", operator.sub, other)

    def __rsub__(self, other: Value) -> Sensor[Any]:
        return _joined(other, "-", operator.sub, self)

    def __and__(self, other: Sensor[bool] | bool) -> Sensor[bool]:
        return _joined(self, "&", both, _condition(other))

    def __rand__(self, other: bool) -> Sensor[bool]:
        return _joined(_condition(other), "&", both, self)

    def __or__(self, other: Sensor[bool] | bool) -> Sensor[bool]:
        return _joined(self, "|", either, _condition(other))

    def __ror__(self, other: bool) -> Sensor[bool]:
        return _joined(_condition(other), "|", either, self)

    def __invert__(self) -> Sensor[bool]:
        return Strict(negated, (self,), f"~{self}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


Operand = Sensor[Any] | Value


class Leaf(Sensor[T_co], ABC):
    """A sensor that looks for itself. Define ``look``, and ``__repr__`` for messages."""

    @abstractmethod
    def look(self, view: View) -> T_co | None:
        """The value at a tick; called at most once a tick, from the scheduler's thread. None: undefined.

        The view's pixels are read-only. What it raises stops the run as a ``SensorError``.
        """


@dataclass(frozen=True, eq=False)
class Constant(Leaf[T_co]):
    """The same value at every tick.

    Raises:
        ValueError: it is not true, false, a finite number or a text.
    """

    value: T_co

    def __post_init__(self) -> None:
        if not is_value(self.value):
            raise ValueError(f"expected a sensor, true, false, a finite number or a text, found {self.value!r}")

    def look(self, view: View) -> T_co:
        """The value."""
        return self.value

    def __repr__(self) -> str:
        return repr(self.value)


class Strict(Sensor[T_co]):
    """A function of other sensors' values; undefined where one of them is.

    Args:
        function: of as many values as there are parts; must depend on nothing else.
        parts: the sensors that it is of.
        text: how it was written, for messages.
    """

    def __init__(self, function: Callable[..., T_co], parts: tuple[Sensor[Any], ...], text: str) -> None:
        self._function, self._parts = function, parts
        self._text = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3]}..."

    @property
    def parts(self) -> tuple[Sensor[Any], ...]:
        """The sensors that this one is made of."""
        return self._parts

    def of(self, values: Sequence[Any]) -> T_co | None:
        """The value, given those of the parts."""
        return None if any(value is None for value in values) else self._function(*values)

    def __repr__(self) -> str:
        return self._text


class Previous(Strict[T_co]):
    """The value that another sensor had at the tick before."""

    def __init__(self, part: Sensor[T_co]) -> None:
        super().__init__(lambda value: value, (part,), f"{part}.previous()")


def as_sensor(operand: object) -> Sensor[Any]:
    """A sensor as it is, a plain value as a constant.

    Raises:
        ValueError: it is neither.
    """
    return operand if isinstance(operand, Sensor) else Constant(operand)


def in_order(sensors: Iterable[Sensor[Any]]) -> list[Sensor[Any]]:
    """These sensors and all their parts, each once, parts first."""
    ordered: dict[int, Sensor[Any]] = {}
    waiting = list(sensors)[::-1]
    while waiting:
        parts = [part for part in waiting[-1].parts if id(part) not in ordered]
        if parts:
            waiting += parts[::-1]
        else:
            sensor = waiting.pop()
            ordered.setdefault(id(sensor), sensor)
    return list(ordered.values())


def evaluate(order: Iterable[Sensor[Any]], view: View, values: dict[int, Any], before: Mapping[int, Any]) -> None:
    """Put the value of each sensor into ``values``, by identity.

    Args:
        order: what to evaluate; parts come first, or are in ``values`` already.
        view: the tick.
        values: by identity of the sensor.
        before: the same, of the tick before, as far as a later tick needs it.

    Raises:
        SensorError: a sensor failed, or gave what is no value.
    """
    for sensor in order:
        try:
            value = _value(sensor, view, values, before)
        except Exception as problem:
            raise _failure(f"{sensor} failed with {type(problem).__name__}: {problem}") from problem
        if value is not None and not is_value(value):
            raise _failure(f"{sensor} gave {value!r}, not true, false, a finite number, a text or None")
        values[id(sensor)] = value


def _value(sensor: Sensor[Any], view: View, values: Mapping[int, Any], before: Mapping[int, Any]) -> Any:
    if isinstance(sensor, Leaf):
        return sensor.look(view)
    if isinstance(sensor, Previous):
        return before.get(id(sensor.parts[0]))
    if isinstance(sensor, Strict):
        return sensor.of([values[id(part)] for part in sensor.parts])
    raise TypeError(f"expected a kind of Leaf, found {type(sensor).__name__}")


def _failure(problem: str) -> SensorError:
    return SensorError(f"{problem}.", "Correct the sensor; where it cannot tell, let it give None.")


def _joined(left: object, sign: str, function: Callable[[Any, Any], Any], right: object) -> Sensor[Any]:
    parts = as_sensor(left), as_sensor(right)
    return Strict(function, parts, f"({parts[0]} {sign} {parts[1]})")


def _condition(operand: object) -> Sensor[bool] | bool:
    """What may stand beside ``&`` and ``|``."""
    if isinstance(operand, Sensor | bool):
        return operand
    raise ValueError(f"expected a sensor, true or false beside & and |, found {operand!r}; put brackets: (a > 3) & b")
