"""Checks of algorithms and stopping rules of your own, for your tests:

    def test_dice():
        vernier.testing.check_optimizer(Dice())

They call the class with many problems, and raise AssertionError with a line for each broken promise.
"""

from __future__ import annotations

import math
import random
import threading
from functools import partial
from types import MappingProxyType
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from vernier import _own_calls, _values
from vernier._errors import ExhaustedError
from vernier._own import (
    Curve,
    FinishedTrial,
    Optimizer,
    PendingTrial,
    Problem,
    SearchSpace,
    StoppingRule,
    SuggestRequest,
    normalized,
    verdict_of,
)
from vernier._space import Bool, Categorical, Discrete, Float, Int, Space
from vernier._study import create_study

_NAN, _INF = math.nan, math.inf
# Spaces with fewer points are walked to their end.
_SMALL = 40
# Lines of an AssertionError.
_LINES = 20
_GARBAGE = ("garbage", '{"next":-1,"seed":"x"}', "\0\x7f{", "[" * 1000)
_SEED = 7

_SPACES: dict[str, tuple[Space, tuple[str, ...]]] = {
    "one float": ({"x": Float(-5, 10)}, ()),
    "log and reverse-log": ({"lr": Float(1e-6, 1, log=True), "momentum": Float(0.5, 0.999, reverse_log=True)}, ()),
    "float with a step": ({"dropout": Float(0, 0.5, step=0.1)}, ()),
    "integers": ({"a": Int(-3, 12), "b": Int(1, 4096, log=True)}, ()),
    "large integer": ({"n": Int(-(2**60), 2**60)}, ()),
    "discrete": ({"batch": Discrete([16, 32, 64, 100])}, ()),
    "categorical": ({"c": Categorical(["sgd", 1, 1.5, True]), "x": Float(0, 1)}, ()),
    "boolean": ({"a": Bool()}, ()),
    "conditional": (
        {
            "lr": Float(1e-5, 1e-1, log=True),
            "optimizer": ["sgd", "adam", "none"],
            "nesterov": Bool(when={"optimizer": "sgd"}),
            "strength": Float(0.1, 1, when={"nesterov": True}),
            "beta": Float(0.9, 0.9999, reverse_log=True, when={"optimizer": "adam"}),
        },
        (),
    ),
    "finite and conditional": (
        {
            "layers": Int(1, 2),
            "skip": Bool(when={"layers": 2}),
            "gain": Discrete([0.5, 2], when={"skip": True}),
            "norm": Bool(),
        },
        (),
    ),
    "constrained": (
        {"width": Int(16, 256, log=True), "x": Float(0, 1), "y": Float(0, 1)},
        ("width * x <= 64", "x + y <= 1"),
    ),
    "finite and constrained": ({"a": Int(1, 6), "b": Int(1, 6)}, ("a * b <= 6",)),
    "one point": ({"only": Int(3, 3), "fixed": Float(0.5, 0.5)}, ()),
    "40 parameters": (
        {
            f"{kind}{i}": parameter
            for i in range(8)
            for kind, parameter in (
                ("linear", Float(-1, 1)),
                ("log", Float(1e-6, 1, log=True)),
                ("int", Int(0, 100)),
                ("choice", Categorical(["a", "b", "c", "d"])),
                ("flag", Bool()),
            )
        },
        (),
    ),
}

_Row = tuple[Any, ...]


def check_optimizer(
    optimizer: Union[Optimizer, type[Optimizer]],
    *,
    spaces: Optional[Mapping[str, Space]] = None,
    objectives: Optional[Mapping[str, str]] = None,
) -> None:
    """Checks what Optimizer promises: legal points that differ from pending ones, with no trials, failed ones, NaN and
    outliers; every point of a small space once, then ExhaustedError; any state; and, of a pure class, equal answers to equal
    requests, and a study that replays.

    ``spaces``: names and search spaces to check it on; by default 14 of all kinds, conditional and constrained ones among
    them. Those that ``optimizer.check`` refuses are skipped; it must accept one. ``objectives``: of the problems,
    ``{"value": "minimize"}`` by default.
    """
    own = optimizer() if isinstance(optimizer, type) else optimizer
    if not isinstance(own, Optimizer):
        raise TypeError(f"optimizer: must be a vernier.Optimizer, got {optimizer!r}")
    _own_calls.Classes().add(type(own), Optimizer, "optimizer")
    chosen = _SPACES if spaces is None else {name: (space, ()) for name, space in spaces.items()}
    goals = dict(objectives or {"value": "minimize"})
    failures = _Failures(type(own).__name__)
    accepted = 0
    for name, (space, constraints) in chosen.items():
        case = _OptimizerCase(own, Problem(SearchSpace(space, constraints), goals))
        try:
            own.check(case.problem)
        except ValueError:
            continue
        accepted += 1
        for check in case.checks():
            failures.run(f"space '{name}'", check.__name__.replace("_", " "), check)
        failures.run(f"space '{name}'", "runs a study", partial(_run_study, own, space, constraints, goals))
    if not accepted:
        raise AssertionError(f"{type(own).__name__}.check refuses every space")
    failures.raise_all()


def check_stopping_rule(rule: Union[StoppingRule, type[StoppingRule]]) -> None:
    """Checks what StoppingRule promises: a verdict on short, long, constant and diverged curves, with and without others;
    and, of a pure class, equal verdicts on equal curves, and a study that replays."""
    own = rule() if isinstance(rule, type) else rule
    if not isinstance(own, StoppingRule):
        raise TypeError(f"rule: must be a vernier.StoppingRule, got {rule!r}")
    _own_calls.Classes().add(type(own), StoppingRule, "rule")
    failures = _Failures(type(own).__name__)
    for goal in ("minimize", "maximize"):
        for name, running in _curves().items():
            for others_name, others in _others().items():
                where = f"{goal}, {name}, {others_name}"
                failures.run(where, "", partial(_judge_twice, own, running, others, goal))
        failures.run(goal, "runs a study", partial(_run_judged_study, own, goal))
    failures.raise_all()


class _Failures:
    """Broken promises, each with the first case in which it was broken."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._cases: dict[str, list[str]] = {}
        self._first: Optional[BaseException] = None

    def run(self, where: str, promise: str, check: Callable[[], None]) -> None:
        try:
            check()
        except Exception as error:
            text = str(error) if isinstance(error, AssertionError) else _values.described(error)
            self._cases.setdefault(promise or text, []).append(f"{where}: {text}")
            self._first = self._first or error

    def raise_all(self) -> None:
        if not self._cases:
            return
        lines = [f"{self._title} breaks its contract:"]
        for promise, cases in list(self._cases.items())[:_LINES]:
            more = f" (and {len(cases) - 1} more)" if len(cases) > 1 else ""
            lines.append(f"{promise}: {cases[0]}{more}" if promise not in cases[0] else cases[0] + more)
        raise AssertionError("\n  ".join(lines)) from self._first


def _expect(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(text)


# --- algorithms ---
class _OptimizerCase:
    """One algorithm on one problem. The checks are methods whose names tell what they check."""

    def __init__(self, own: Optimizer, problem: Problem) -> None:
        self.own = own
        self.problem = problem
        self.space = problem.space
        self.is_pure = own.pure
        self.reused = self._new()

    def checks(self) -> Iterable[Callable[[], None]]:
        yield self.starts_without_trials_and_with_one
        yield self.gives_equal_answers_to_equal_requests
        yield self.gives_equal_answers_in_threads
        yield self.follows_its_seed
        yield self.survives_failed_trials_and_values_that_are_no_numbers
        yield self.survives_trials_of_which_none_has_a_value
        yield self.survives_outliers_and_constant_values
        yield self.survives_trials_of_one_point
        yield self.takes_any_state
        yield self.keeps_a_batch_distinct_and_away_from_pending_points
        if self.space.cardinality is not None and self.space.cardinality <= _SMALL:
            yield self.proposes_every_point_of_a_small_space_once

    # --- checks ---
    def starts_without_trials_and_with_one(self) -> None:
        self._ask([])
        if self.space.cardinality != 1:
            self._ask(self._history(1))

    def gives_equal_answers_to_equal_requests(self) -> None:
        history = self._history(6)
        fresh = self._ask(history, count=2, own=self._new())
        self._ask([])  # What ran before must not matter.
        self._expect_same(self._ask(history, count=2), fresh)

    def gives_equal_answers_in_threads(self) -> None:
        history = self._history(5)
        answers: list[Any] = [None] * 4

        def ask(i: int) -> None:
            try:
                answers[i] = self._ask(history)
            except BaseException as error:
                answers[i] = error

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(answers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            self._expect_same(answer, answers[0])

    def follows_its_seed(self) -> None:
        self._expect_same(self._ask([], seed=2**64 - 1), self._ask([], seed=2**64 - 1, own=self._new()))

    def survives_failed_trials_and_values_that_are_no_numbers(self) -> None:
        values = (_NAN, 1.0, _INF, -_INF, 2.0, -1e30, None, None)
        outcomes = ("completed",) * 4 + ("stopped", "completed", "failed", "infeasible")
        self._ask([self._with(t, v, o) for t, v, o in zip(self._history(8), values, outcomes)])

    def survives_trials_of_which_none_has_a_value(self) -> None:
        history = self._history(4)
        self._ask([self._with(t, None, ("failed", "infeasible")[i % 2]) for i, t in enumerate(history)])

    def survives_outliers_and_constant_values(self) -> None:
        history = self._history(6)
        self._ask([self._with(t, (1e30, 0.5, -1e30)[i % 3]) for i, t in enumerate(history)])
        self._ask([self._with(t, 0.25) for t in history])

    def survives_trials_of_one_point(self) -> None:
        history = self._history(3)
        again = [t._replace(number=len(history) + 1 + i) for i, t in enumerate(history * 2)]
        self._ask([*history, *again])

    def takes_any_state(self) -> None:
        history = self._history(4)
        rows, state = self._ask(history)
        for garbage in _GARBAGE:
            self._expect_same(self._ask(history, state=garbage), (rows, state))
        self._ask(self._history(5, seed=2), state=state)
        self._ask([], state=state)

    def keeps_a_batch_distinct_and_away_from_pending_points(self) -> None:
        pending = [PendingTrial(trial.number, trial.params) for trial in self._history(5, leave=False)]
        taken = {self.space.key(trial.params) for trial in pending}
        try:
            rows, _ = self._ask([], pending=pending, count=3)
        except ExhaustedError:
            _expect(len(taken) >= self._count_feasible(), "raised ExhaustedError while points are left")
            return
        for params, *_ in rows:
            key = self.space.key(params)
            _expect(key not in taken, f"proposed {params}, which is pending, or twice in a batch")
            taken.add(key)

    def proposes_every_point_of_a_small_space_once(self) -> None:
        wanted, proposed = self._count_feasible(), set()
        finished: list[FinishedTrial] = []
        pending: list[PendingTrial] = []
        state = ""
        while True:
            try:
                rows, next_state = self._ask(finished, pending=pending, state=state, count=2)
            except ExhaustedError:
                break
            for params, *_ in rows:
                key = self.space.key(params)
                _expect(key not in proposed, f"proposed {params} again")
                proposed.add(key)
                number = len(proposed)
                frozen = MappingProxyType(params)
                if number % 3 == 0:
                    pending.append(PendingTrial(number, frozen))
                else:
                    finished.append(self._finished(number, frozen, math.sin(number)))
            state = "" if len(proposed) % 4 == 0 else next_state  # A lost state loses no point.
        _expect(len(proposed) == wanted, f"raised ExhaustedError after {len(proposed)} of {wanted} points")

    # --- parts ---
    def _new(self) -> Optimizer:
        fresh: Optimizer = type(self.own)(**self.own._options)
        return fresh

    def _ask(
        self,
        finished: Sequence[FinishedTrial],
        pending: Sequence[PendingTrial] = (),
        state: str = "",
        count: int = 1,
        seed: Optional[int] = None,
        own: Optional[Optimizer] = None,
    ) -> tuple[list[_Row], str]:
        """A legal answer."""
        chosen = _SEED * 1_000_000 + len(finished) + len(pending) if seed is None else seed
        request = SuggestRequest(self.problem, finished, pending, state, chosen, count)
        answer = (own or self.reused).suggest(request)
        rows, new_state = normalized(answer, count, self.space, "own")
        return list(rows), new_state

    def _expect_same(self, a: tuple[list[_Row], str], b: tuple[list[_Row], str]) -> None:
        if self.is_pure:
            _expect(a == b, f"is pure, and gave {a[0]} and {b[0]}" if a[0] != b[0] else "is pure, and gave two states")

    def _finished(self, number: int, params: Mapping[str, Any], value: Optional[float], outcome: str = "completed") -> FinishedTrial:
        values = () if value is None else (value,) * len(self.problem.objectives)
        return FinishedTrial(number, params, outcome, values)

    def _with(self, trial: FinishedTrial, value: Optional[float], outcome: str = "completed") -> FinishedTrial:
        return self._finished(trial.number, trial.params, value, outcome)

    def _points(self, most: int, seed: int) -> list[Mapping[str, Any]]:
        """Up to `most` different points, the same each time."""
        rng = random.Random(seed)
        points: dict[str, Mapping[str, Any]] = {}
        for _ in range(50 * most):
            if len(points) == most:
                break
            params = self.space.sample(rng)
            points.setdefault(self.space.key(params), MappingProxyType(params))
        return list(points.values())

    def _history(self, most: int, seed: int = 1, leave: bool = True) -> list[FinishedTrial]:
        """Finished trials. `leave`: at least one point of the space is left untried."""
        points = self._points(most, seed)
        if leave and self.space.cardinality is not None and len(points) >= self._count_feasible():
            points.pop()
        return [self._finished(i + 1, params, math.cos(i)) for i, params in enumerate(points)]

    def _count_feasible(self) -> int:
        """Number of points of a small space; of others a lower bound."""
        return len(self._points(2 * _SMALL, seed=3))


def _run_study(own: Optimizer, space: Space, constraints: Sequence[str], goals: Mapping[str, str]) -> None:
    study = create_study(
        "check",
        space,
        maximize=[metric for metric, goal in goals.items() if goal == "maximize"],
        minimize=[metric for metric, goal in goals.items() if goal == "minimize"],
        constraints=constraints,
        algorithm=own,
        seed=_SEED,
    )
    waiting = []
    try:
        for number in range(8):
            waiting.append(study.ask())
            if number % 2:
                trial = waiting.pop(0)
                if number == 3:
                    study.tell(trial, failed="on purpose")
                else:
                    study.tell(trial, [math.cos(number)] * len(goals))
    except ExhaustedError:
        pass
    if own.pure:
        problems = study.replay().problems
        _expect(not problems, f"is pure, and does not replay: {problems[:1]}")


# --- rules ---
def _curve(number: int, values: Iterable[float], step: int = 1, **about: Any) -> Curve:
    listed = tuple(values)
    return Curve(number, tuple(step * (i + 1) for i in range(len(listed))), listed, coordinates=(0.1 * number % 1,), **about)


def _curves() -> dict[str, Curve]:
    return {
        "one report": _curve(9, [0.5]),
        "a falling curve": _curve(9, [1 / (i + 1) for i in range(30)]),
        "a rising curve": _curve(9, [1 - 1 / (i + 1) for i in range(30)]),
        "a constant curve": _curve(9, [0.25] * 30),
        "a noisy curve": _curve(9, [math.sin(7 * i) for i in range(30)]),
        "NaN first": _curve(9, [_NAN, 1.0, 0.5]),
        "only NaN": _curve(9, [_NAN] * 5),
        "infinities": _curve(9, [_INF, -_INF, 1e308, -1e308]),
        "steps far apart": _curve(9, [0.5, 0.4, 0.3], step=1_000_000),
        "a step of 0": Curve(9, (0,), (0.5,), coordinates=(0.9,)),
        "500 reports": _curve(9, [1 / (i + 1) for i in range(500)]),
    }


def _others() -> dict[str, list[Curve]]:
    falling = [_curve(n, [n / (i + 1) for i in range(30)], finished=True) for n in range(1, 9)]
    return {
        "no other trial": [],
        "one without a report": [_curve(1, [])],
        "finished trials": falling,
        "running trials": [curve._replace(finished=False) for curve in falling],
        "stopped trials": [
            curve._replace(stopped_early=True, steps=curve.steps[:n], values=curve.values[:n]) for n, curve in enumerate(falling, 1)
        ],
        "diverged trials": [_curve(n, [_NAN, _INF], finished=True, keeps_constraints=False) for n in range(1, 5)],
        "trials with other steps": [_curve(n, [0.1 * n] * n, step=n, finished=True) for n in range(1, 9)],
    }


def _judge_twice(own: StoppingRule, running: Curve, others: Sequence[Curve], goal: str) -> None:
    name = type(own).__name__
    first = verdict_of(own.judge(running, tuple(others), goal), name)
    fresh: StoppingRule = type(own)(**own._options)
    second = verdict_of(fresh.judge(running, tuple(others), goal), name)
    if own.pure:
        _expect(repr(first) == repr(second), f"is pure, and gave {first} and {second}")


def _run_judged_study(own: StoppingRule, goal: str) -> None:
    goals: dict[str, Any] = {goal: "value"}
    study = create_study("check", {"x": Float(0, 1)}, algorithm="random", stopping=own, **goals)
    for number in range(1, 9):
        trial = study.ask()
        value = _NAN
        for step in range(1, 21):
            value = float(trial["x"]) + math.exp(-step / number) * (1 if goal == "minimize" else -1)
            trial.report(step, value=value)
            if trial.should_stop():
                break
        study.tell(trial, value)
    if own.pure:
        problems = study.replay().problems
        _expect(not problems, f"is pure, and does not replay: {problems[:1]}")
