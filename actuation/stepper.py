"""Performs plans step by step, each step after its checks. It has no thread and never sleeps: the executor steps it."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass, field, replace

from actuation.aim import Aim
from actuation.backend import Backend
from actuation.errors import InputUnavailable, UserHalt
from actuation.guard import Eyes, Refusal, check_keyboard, check_pointer, check_target
from actuation.keys import MODIFIERS, denied
from actuation.ledger import Held, Ledger, Watcher
from actuation.person import Keyboard, Person
from actuation.plan import BEAT_S, KeyDown, Move, Pause, Plan, Press, Release, Scroll, Step, Travel, goes_down
from actuation.settings import Motion, Rules
from perception.geometry import Box, Transform

TAKEN_FOR_DEAD = Refusal(reason="halted", detail="the agent stood still for too long, and all was released")
SIGN_OF_LIFE_S = 0.01  # while something is held
GRABBING = frozenset({"alt", "win"})  # with one of them held, a window manager takes a click for itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """What became of an action.

    Attributes:
        refusal: why it ended before its end. None: it did not.
        events: steps that sent something.
        gap_s: longest time from the first question of a check to the end of the event that it was for.
    """

    refusal: Refusal | None
    events: int
    gap_s: float


@dataclass(kw_only=True, eq=False)
class Running:
    """An action that is being performed.

    Attributes:
        number: counts the actions.
        plan: its steps.
        aims: its targets.
        transform: of the capture that it was decided on.
        done: steps that were taken.
        events: of these, those that sent something.
        pointed: one of them was the pointer's.
        began_s: when it was taken on.
        due_s: when the next step is to be taken.
        gap_s: longest time from the first question of a check to the end of the event that it was for.
        refusal: why it ended before its end.
        over: no step is left.
    """

    number: int
    plan: Plan
    aims: Sequence[Aim] = ()
    transform: Transform = field(default_factory=lambda: Transform(client=Box(0, 0, 0, 0), captured=Box(0, 0, 0, 0)))
    done: int = 0
    events: int = 0
    pointed: bool = False
    began_s: float = 0.0
    due_s: float = 0.0
    gap_s: float = 0.0
    refusal: Refusal | None = None
    over: bool = False

    @property
    def performed(self) -> Performed:
        """What became of it so far."""
        return Performed(refusal=self.refusal, events=self.events, gap_s=self.gap_s)

    @property
    def left(self) -> tuple[Step, ...]:
        """The steps that are still to be taken."""
        return self.plan.steps[self.done :]

    def left_s(self, now_s: float) -> float:
        """How long it will take to its end, at least."""
        waits = [step.seconds for step in self.left if isinstance(step, Pause | Travel)]
        return max(0.0, self.due_s - now_s) + sum(waits)


class Stepper:
    """Performs actions, several at a time where they do not get into each other's way.

    Args:
        backend: what synthesises input.
        eyes: look at the window at the last moment.
        now_s: a monotonic clock.
        motion: times.
        rules: what is delivered at all.
        keyboard: the display's own state. None: it cannot be read here; then no person is noticed, and keys are
            pressed that the layout may lack.
        watcher: keeps a copy of the ledger. None: nobody does.

    Attributes:
        ledger: what is held.
        person: at the desk.
        ended: the numbers of actions that ended, or were made to let go, before their time, and why; whoever reads it
            empties it.
    """

    def __init__(
        self,
        backend: Backend,
        eyes: Eyes,
        now_s: Callable[[], float],
        *,
        motion: Motion,
        rules: Rules,
        keyboard: Keyboard | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._backend = backend
        self._eyes = eyes
        self._now_s = now_s
        self._motion = motion
        self._rules = rules
        self._keyboard = keyboard
        self.ledger = Ledger(watcher)
        self.person = Person(keyboard, rules)
        self._running: list[Running] = []
        self._presses: deque[float] = deque(maxlen=rules.per_second)
        self._decided_on: Box | None = None
        self.ended: list[tuple[int, Refusal]] = []

    def begin(self, action: Running) -> None:
        """Take an action on, or refuse it whole; its first steps are taken at the next ``step``."""
        if not action.plan.steps:
            action.over = True
            return
        action.refusal = self._objection(action)
        if action.refusal is not None:
            action.over = True
            return
        action.began_s = action.due_s = self._now_s()
        self._running.append(action)

    def step(self) -> None:
        """Take all steps that are due, and look after what is held.

        Raises:
            UserHalt: the person at the desk stopped the agent; all is released.
            InputUnavailable: the display does not answer.
        """
        try:
            self._look_after()
            for action in tuple(self._running):
                until_s = self._now_s() + BEAT_S  # what has many steps does not keep the others waiting
                while not action.over and action.due_s <= self._now_s() < until_s:
                    self._take(action)
        except Exception as problem:
            with contextlib.suppress(InputUnavailable):
                self.stop(Refusal(reason="halted", detail=str(problem)))
            raise
        self._running = [action for action in self._running if not action.over]

    @property
    def numbers(self) -> set[int]:
        """The actions that go on, or hold something."""
        return {action.number for action in self._running} | {h.owner for h in self.ledger.in_order_of_release()}

    def rest_s(self) -> float:
        """How long nothing needs to be done: at most one beat, and less while something is held."""
        due = min((action.due_s for action in self._running), default=float("inf"))
        return min(SIGN_OF_LIFE_S if len(self.ledger) else BEAT_S, max(0.0, due - self._now_s()))

    def stop(self, why: Refusal) -> None:
        """End all actions, and release all that is held."""
        for action in self._running:
            action.refusal, action.over = why, True
        self.ended += [(number, why) for number in sorted(self.numbers)]
        self._running = []
        self._let_go(self.ledger.in_order_of_release())

    def cancel(self, numbers: Collection[int]) -> None:
        """End actions, and release what they hold."""
        for number in self.numbers.intersection(numbers):
            self._end(number, Refusal(reason="cancelled", detail="it was cancelled"))

    def _objection(self, action: Running) -> Refusal | None:
        """Why an action is not begun: what is known of all of its steps beforehand."""
        self._notice()
        plan = action.plan
        if self.person.at_desk(self._now_s()):
            return Refusal(reason="halted", detail=self.person.says)
        if plan.text and not self._rules.text_entry:
            return Refusal(reason="denied", detail="text entry is off")
        if plan.pressed and self._pace_s(self._now_s()) > 0:
            return Refusal(reason="rate", detail=f"{self._rules.per_second} presses in a second are the most")
        for keys in plan.combinations:
            never = self._denied(keys)
            if never:
                return Refusal(reason="denied", detail=f"{never} is not pressed")
        return self._unknown(plan) or self._conflict(plan) or self._misplaced(action)

    def _unknown(self, plan: Plan) -> Refusal | None:
        """A key that the layout lacks."""
        if self._keyboard is None:
            return None
        for kind, name in plan.pressed:
            problem = self._keyboard.missing(name) if kind == "key" else None
            if problem:
                return Refusal(reason="unknown_key", detail=problem)
        problem = self._keyboard.mistyped(plan.text) if plan.text else None
        return Refusal(reason="unknown_key", detail=problem) if problem else None

    def _conflict(self, plan: Plan) -> Refusal | None:
        """Something that goes on and needs what this one needs."""
        taken = {held for action in self._running for held in action.plan.pressed}
        for kind, name in sorted(plan.pressed):
            if (kind, name) in taken or self.ledger.find(kind, name) is not None:
                return Refusal(reason="conflict", detail=f"the {kind} {name!r} is held already")
        for step in plan.steps:
            held = self.ledger.find(step.kind, step.name) if isinstance(step, Release) else None
            if held is not None and any(action.number == held.owner for action in self._running):
                return Refusal(reason="conflict", detail=f"the {held.kind} {held.name!r} is held by what goes on")
        if plan.text and self.ledger.keys.intersection(MODIFIERS):
            return Refusal(reason="conflict", detail="with a modifier held another text would be typed")
        if plan.points and any(action.plan.points for action in self._running):
            return Refusal(reason="conflict", detail="the pointer is under way")
        return None

    def _misplaced(self, action: Running) -> Refusal | None:
        """A point outside the window, or a window that does not take the input."""
        if action.plan.points:
            return check_pointer(self._eyes, action.plan.points, action.transform.client)
        return check_keyboard(self._eyes) if action.plan.pressed else None

    def _take(self, action: Running) -> None:
        """Take one step, unless it must wait or is refused."""
        step, now = action.plan.steps[action.done], self._now_s()
        if isinstance(step, Travel):
            moves = step.steps(self.person.pointer or step.point)
            action.plan = replace(action.plan, steps=(*action.plan.steps[: action.done], *moves, *action.left[1:]))
            return
        if isinstance(step, Pause):
            action.due_s = now + step.seconds
        else:
            if not self.ledger.beat():
                self.stop(TAKEN_FOR_DEAD)
                return
            wait = self._wait_s(step, now)
            if wait > 0:
                action.due_s = now + wait
                return
            refusal = self._checked(action, step)
            if refusal is not None:
                self._end(action.number, refusal)
                return
            self._send(action, step)
            action.events += 1
            action.pointed = action.pointed or isinstance(step, Press | Move | Scroll)
            if not isinstance(step, Release):
                action.gap_s = max(action.gap_s, self._now_s() - now)
        action.done += 1
        action.over = action.done == len(action.plan.steps)

    def _wait_s(self, step: Step, now: float) -> float:
        """How long a step must wait for the presses before it."""
        if not self._presses or not (isinstance(step, Scroll) or goes_down(step)):
            return 0.0
        return max(self._presses[-1] + self._motion.spacing_s - now, self._pace_s(now))

    def _pace_s(self, now: float) -> float:
        """How long one more press must wait, so that no second sees more than are allowed."""
        full = len(self._presses) == self._rules.per_second
        return self._presses[0] + 1 - now if full else 0.0

    def _checked(self, action: Running, step: Step) -> Refusal | None:
        """Why a step is not taken, asked at the last moment."""
        if isinstance(step, KeyDown):
            never = self._denied({step.key})
            return Refusal(reason="denied", detail=f"{never} is not pressed") if never else check_keyboard(self._eyes)
        return self._checked_pointer(action, step) if isinstance(step, Press | Move | Scroll) else None

    def _denied(self, keys: Set[str]) -> str | None:
        """The combination that is never pressed, which these keys make with all that are down, a person's too."""
        down = self.ledger.keys | self.person.keys
        return denied(down | keys, (*self._rules.denied, self._rules.panic))

    def _checked_pointer(self, action: Running, step: Press | Move | Scroll) -> Refusal | None:
        grabbing = (self.ledger.keys | self.person.keys) & GRABBING
        if grabbing and not isinstance(step, Move):
            return Refusal(reason="denied", detail=f"with {'+'.join(grabbing)} held a click is the desktop's")
        on_its_way = isinstance(step, Move) and any(isinstance(later, Move) for later in action.left[1:3])
        passing = on_its_way and not self.ledger.buttons  # over whatever lies there
        where, decided_on = [] if passing else [step.point], action.transform.client
        refusal = check_pointer(self._eyes, where, decided_on)
        if action.pointed or not action.aims or refusal is not None:
            return refusal
        for aim in action.aims:
            refusal = refusal or check_target(self._eyes, aim, self._rules.target_tolerance)
        return refusal or check_pointer(self._eyes, where, decided_on)

    def _send(self, action: Running, step: Step) -> None:
        """Deliver one event, the ledger before it where something goes down."""
        now = self._now_s()
        if isinstance(step, Release):
            held = self.ledger.find(step.kind, step.name)
            if held is not None:
                self._let_go([held])
            return
        pressed = goes_down(step)
        if pressed is not None:
            kind, name = pressed
            self.ledger.down(Held(kind=kind, name=name, owner=action.number, since_s=now))
        if isinstance(step, KeyDown):
            if self._keyboard is not None:
                self._keyboard.keep_from_repeating(step.key)
            self._backend.key_down(step.key)
        elif isinstance(step, Press | Move | Scroll):
            self._point(action, step)
        if pressed is not None or isinstance(step, Scroll):
            self._presses.append(self._now_s())

    def _point(self, action: Running, step: Press | Move | Scroll) -> None:
        place = action.transform.screen_to_input(step.point)
        if isinstance(step, Press):
            self._decided_on = action.transform.client
            self._backend.press(place, step.button)
        elif isinstance(step, Move):
            self._backend.move(place)
        else:
            self._backend.scroll(place, step.notch)
        self.person.we_moved_to(step.point)

    def _end(self, number: int, why: Refusal) -> None:
        """End an action before its end, and release what it holds."""
        for action in tuple(self._running):
            if action.number == number:
                action.refusal, action.over = why, True
        self._running = [action for action in self._running if not action.over]
        self.ended.append((number, why))
        self._let_go([held for held in self.ledger.in_order_of_release() if held.owner == number])

    def _let_go(self, entries: Sequence[Held]) -> None:
        """Release entries of the ledger. What could not be released stays in it."""
        for held in entries:
            if held.kind == "button":
                self._backend.release(held.name)
            else:
                self._backend.key_up(held.name)
                if self._keyboard is not None:
                    self._keyboard.let_repeat(held.name)
            self.ledger.up(held)

    def _look_after(self) -> None:
        """What must be seen to at every beat, whatever is due."""
        if not self.ledger.beat():
            self.stop(TAKEN_FOR_DEAD)
        self._notice()
        for held in self.ledger.overdue(self._now_s(), self._rules.max_hold_s):
            if held not in self.ledger.in_order_of_release():
                continue  # let go with another of the same action's
            detail = f"the {held.kind} {held.name!r} was held for {self._rules.max_hold_s:g} s"
            self._end(held.owner, Refusal(reason="held_too_long", detail=detail))
        if len(self.ledger):
            lost = self._lost()
            if lost is not None:
                self.stop(lost)

    def _lost(self) -> Refusal | None:
        """Why what is held does not reach the game any more."""
        if self.ledger.buttons and self._decided_on is not None:
            return check_pointer(self._eyes, (), self._decided_on)
        return check_keyboard(self._eyes)

    def _notice(self) -> None:
        """See whether a person is at the mouse or the keyboard; let go of all if so.

        Raises:
            UserHalt: they stopped the agent.
        """
        halted = self.person.notice(self.ledger.keys, self.ledger.buttons, self._now_s())
        if halted is not None:
            self.stop(Refusal(reason="halted", detail=halted))
            raise UserHalt(halted)
        if self.person.at_desk(self._now_s()) and (self._running or len(self.ledger)):
            self.stop(Refusal(reason="halted", detail=self.person.says))
