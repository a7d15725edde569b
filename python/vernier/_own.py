"""Own algorithms and stopping rules. The classes that users derive from, and the values that these work with."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, ClassVar, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from vernier import _space, _values
from vernier._errors import InvalidValueError
from vernier._values import Value

if TYPE_CHECKING:
    import random

    from vernier import _core

# Points that SearchSpace.sample tries before it gives up on the constraints.
_TRIES = 10_000


class SearchSpace:
    """A search space as algorithms see it. Coordinates are numbers in [0, 1], one for each parameter in the order of
    ``parameters``, whatever their types and scales: an algorithm can work on the unit cube alone.

    ``SearchSpace({"x": vernier.Float(0, 1)}, constraints=["x <= 0.5"])`` makes one, for tests.
    """

    def __init__(self, space: _space.Space, constraints: Sequence[str] = ()) -> None:
        from vernier import _core

        definition = {
            "study": "space",
            "objective": {"minimize": "value"},
            "parameters": _space.parameters_of(space),
            "constraints": list(constraints),
        }
        self._core = _core.Space.parse(json.dumps(definition, allow_nan=False))
        self._parameters: Optional[dict[str, _space.Parameter]] = None

    @classmethod
    def _of(cls, core: _core.Space) -> SearchSpace:
        space = cls.__new__(cls)
        space._core, space._parameters = core, None
        return space

    def __repr__(self) -> str:
        return f"SearchSpace({self.parameters!r})"

    @property
    def parameters(self) -> dict[str, _space.Parameter]:
        """Float, Int, Discrete, Categorical and Bool objects by name, as in the study."""
        if self._parameters is None:
            self._parameters = {row[0]: _parameter(*row[1:]) for row in self._core.parameters()}
        return dict(self._parameters)

    @property
    def constraints(self) -> list[str]:
        """Expressions that every point satisfies."""
        return self._core.constraints()

    @property
    def cardinality(self) -> Optional[int]:
        """Number of points, constraints not considered; None if infinite."""
        return self._core.cardinality()

    def decode(self, coordinates: Iterable[float]) -> dict[str, Value]:
        """The point at these coordinates. Those of inactive parameters are ignored. Its values are legal; constraints are
        not considered."""
        return self._core.decode([float(one) for one in coordinates])

    def encode(self, params: Mapping[str, Any]) -> list[Optional[float]]:
        """The coordinates of a point; None for inactive parameters."""
        return self._core.encode(_plain(params, "params"))

    def embed(self, params: Mapping[str, Any]) -> list[float]:
        """Coordinates between which distances mean something: one for each number, and one for each value of a category.
        Inactive parameters are in the middle."""
        return self._core.embed(_plain(params, "params"))

    def check(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """Returns the point with numbers of the types of their parameters.

        InvalidValueError: a value is missing or illegal, or a constraint is violated; the message names it.
        """
        return self._core.checked(_plain(params, "params"))

    def satisfies(self, params: Mapping[str, Any]) -> bool:
        """Whether the constraints hold at a point with legal values."""
        return self._core.satisfies(_plain(params, "params"))

    def key(self, params: Mapping[str, Any]) -> str:
        """A text that is equal for equal points, and different for different ones."""
        return self._core.key(_plain(params, "params"))

    def sample(self, rng: random.Random) -> dict[str, Value]:
        """A random point, uniform on the scales of the parameters, that satisfies the constraints."""
        count = len(self._core.parameters()) if self._parameters is None else len(self._parameters)
        for _ in range(_TRIES):
            params = self._core.decode([rng.random() for _ in range(count)])
            if self._core.satisfies(params):
                return params
        raise InvalidValueError(f"constraints: none of {_TRIES} random points satisfies {', '.join(self.constraints)}")


def _parameter(
    kind: str, arguments: tuple[Any, ...], when: dict[str, list[Value]], default: Optional[Value]
) -> _space.Parameter:
    common: dict[str, Any] = {"when": when or None, "default": default}
    if kind in ("Float", "Int"):
        low, high, log, reverse_log, step, points = arguments
        make: Any = getattr(_space, kind)
        made: _space.Parameter = make(low, high, log=log, reverse_log=reverse_log, step=step, points=points, **common)
        return made
    if kind == "Discrete":
        return _space.Discrete(*arguments, **common)
    return _space.Categorical(*arguments, **common) if kind == "Categorical" else _space.Bool(**common)


def _plain(params: Mapping[str, Any], field: str) -> dict[str, Value]:
    from vernier._trials import params_of

    return params_of(params, field)


# --- what algorithms get ---
class FinishedTrial(NamedTuple):
    """A trial that has ended."""

    number: int
    params: Mapping[str, Value]
    outcome: str
    """"completed", "stopped" (early: the values are the last ones), "failed" (it may succeed another time), "infeasible"."""
    values: tuple[float, ...]
    """One for each objective, maybe NaN or infinite; none if it failed."""
    slacks: tuple[float, ...] = ()
    """One for each outcome constraint: 0 or more if it is satisfied, negative if not, NaN if unknown."""
    expected_end: Optional[tuple[float, float]] = None
    """Mean and deviation of the value that it would have ended with, if the rule that stopped it predicts that."""

    @property
    def value(self) -> Optional[float]:
        """The value of the first objective; None if it failed."""
        return self.values[0] if self.values else None


class PendingTrial(NamedTuple):
    """A trial that has not ended."""

    number: int
    params: Mapping[str, Value]


class EarlierStudy(NamedTuple):
    """A study that this one was started from (``warm_start``)."""

    name: str
    trials: tuple[FinishedTrial, ...]
    """Completed trials of which the points are in this space."""
    tried: tuple[Mapping[str, Value], ...]
    """Other points that it tried."""


class Problem(NamedTuple):
    """What to optimize, in which space."""

    space: SearchSpace
    objectives: dict[str, str]
    """The metrics to "maximize" or "minimize", the first one first."""
    outcome_constraints: tuple[str, ...] = ()
    earlier: tuple[EarlierStudy, ...] = ()


class SuggestRequest:
    """What an algorithm decides from. Equal for equal logs of a study, also in another process."""

    def __init__(
        self,
        problem: Problem,
        finished: Sequence[FinishedTrial] = (),
        pending: Sequence[PendingTrial] = (),
        state: str = "",
        seed: int = 0,
        count: int = 1,
    ) -> None:
        self.problem = problem
        self.finished: tuple[FinishedTrial, ...] = tuple(finished)
        """Trials that have ended, in the order in which they ended."""
        self.pending: tuple[PendingTrial, ...] = tuple(pending)
        """Trials that have not ended, among them those whose points wait to be tried."""
        self.state = state
        """What the last call returned in Suggestions.state; empty at first. Any text must give a valid answer."""
        self.seed = seed
        """The only source of randomness: a number of 64 bits, another one for each call, which follows from the seed of the
        study; for ``numpy.random.default_rng(request.seed)``."""
        self.count = count
        """Largest number of points to return."""
        self._rng: Optional[random.Random] = None
        self._tried: Optional[set[str]] = None

    @property
    def space(self) -> SearchSpace:
        """The search space: that of the problem."""
        return self.problem.space

    @property
    def objectives(self) -> dict[str, str]:
        """The metrics to "maximize" or "minimize", the first one first."""
        return self.problem.objectives

    @property
    def rng(self) -> random.Random:
        """A stream of random numbers of the standard library, seeded with ``seed``."""
        if self._rng is None:
            import random

            self._rng = random.Random(self.seed)
        return self._rng

    def tried(self, params: Mapping[str, Any]) -> bool:
        """Whether a finished or pending trial, or one of an earlier study, has this point."""
        if self._tried is None:
            self._tried = {self.space.key(trial.params) for trial in self.finished}
            self._tried.update(self.space.key(trial.params) for trial in self.pending)
            for study in self.problem.earlier:
                for earlier in (*(trial.params for trial in study.trials), *study.tried):
                    with contextlib.suppress(InvalidValueError):  # It may lack parameters of this space.
                        self._tried.add(self.space.key(earlier))
        return self.space.key(params) in self._tried


# --- what algorithms return ---
class Suggestion(NamedTuple):
    """A point to try, with its reasons. ``origin``: how it was found, such as "model" or "random"; the name of the
    algorithm if empty. ``predicted_mean``, ``predicted_deviation``: of the first objective, in its own units."""

    params: Mapping[str, Any]
    origin: str = ""
    acquisition: Optional[float] = None
    predicted_mean: Optional[float] = None
    predicted_deviation: Optional[float] = None
    note: str = ""


class Suggestions(NamedTuple):
    """Points to try, best first, and the state for the next call, a short text."""

    points: Sequence[Union[Suggestion, Mapping[str, Any]]]
    state: str = ""


Suggested = Union[Suggestions, Suggestion, Mapping[str, Any], Sequence[Union[Suggestion, Mapping[str, Any]]]]


# --- what rules get and return ---
class Curve(NamedTuple):
    """What a trial has reported of the first objective, in the order of steps."""

    trial: int
    steps: tuple[int, ...]
    values: tuple[float, ...]
    """As reported, in the user's units and sign; may be NaN."""
    finished: bool = False
    """The trial has completed, stopped early or not."""
    stopped_early: bool = False
    keeps_constraints: bool = True
    """False: it finished, and an outcome constraint is violated or unknown. It is no best trial."""
    coordinates: tuple[float, ...] = ()
    """Where its point lies in the space, as by SearchSpace.embed."""


class Verdict(NamedTuple):
    """Whether to stop a trial, why in one sentence, and the numbers that were compared. "expected_end" and
    "expected_end_deviation" predict the value that the trial would have ended with: algorithms learn that instead of its
    last value."""

    stop: bool
    explanation: str = ""
    numbers: Mapping[str, float] = {}


# --- what users derive from ---
class _Own:
    name: ClassVar[str] = ""
    """What studies call it; by default the name of the class."""
    version: ClassVar[str] = "1"
    """Change it whenever equal arguments give other answers: the log of a study names the version of each."""
    pure: ClassVar[bool] = False
    """Whether equal arguments always give equal answers: it takes randomness from the request alone, and depends on no clock,
    file, or earlier call. ``Study.replay`` verifies the answers of pure classes only."""
    _options: dict[str, Value]
    _kind: ClassVar[str]
    _method: ClassVar[str]
    _reserved: ClassVar[frozenset[str]]

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        self = super().__new__(cls)
        self._options = _options_of(cls, arguments, options)
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Value]]:
        return (), self._options

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._options.items())})"


class Optimizer(_Own):
    """Base class of algorithms that users write. A random search:

        class Dice(vernier.Optimizer):
            pure = True

            def suggest(self, request):
                for _ in range(1000):
                    params = request.space.sample(request.rng)
                    if not request.tried(params):
                        return params
                raise vernier.ExhaustedError("1000 random points were all tried")

        study = vernier.create_study("s", space, minimize="loss", algorithm=Dice())

    The arguments of the constructor are the options, stored with the study: booleans, numbers and text. An object is made of
    the stored options for each study, so that nothing else may be kept in it that suggestions depend on.
    """

    _kind = "algorithm"
    _method = "suggest"
    _reserved = frozenset({"name", "class"})

    def check(self, problem: Problem) -> None:
        """Called when a study is created or opened. Raise ValueError for a problem that the algorithm cannot handle."""

    def suggest(self, request: SuggestRequest) -> Suggested:
        """Returns 1 to ``request.count`` points, best first: mappings of parameters to values, or Suggestion objects; or
        Suggestions, with a state for the next call. Called from any thread, without a lock; may take long.

        Points are legal, and away from ``request.pending``. In a finite space, no point of a finished or pending trial is
        returned again: raise ExhaustedError once none is left.
        """
        raise NotImplementedError


class StoppingRule(_Own):
    """Base class of stopping rules that users write. One that stops a trial without a new best value for some reports:

        class Plateau(vernier.StoppingRule):
            pure = True

            def __init__(self, patience: int = 5) -> None:
                self.patience = patience

            def judge(self, running, others, goal):
                best = (min if goal == "minimize" else max)(running.values)
                age = len(running.values) - 1 - running.values.index(best)
                return vernier.Verdict(age >= self.patience, f"its best value is {age} reports old")

    The constructor is that of Optimizer.
    """

    _kind = "stopping rule"
    _method = "judge"
    _reserved = frozenset({"rule", "class", "act", "when"})

    def judge(self, running: Curve, others: Sequence[Curve], goal: str) -> Union[Verdict, bool]:
        """Whether the trial ``running`` should end now: called after each of its reports. ``others``: curves of all other
        trials, in the order of their numbers. ``goal``: "maximize" or "minimize".

        Other trials report while it runs. If they do, a verdict that stops the trial is asked for once more, under the lock
        of the study: it must neither call a study nor wait for a lock or a thread. An exception lets the trial go on, and is logged.
        """
        raise NotImplementedError


def _options_of(cls: type[_Own], arguments: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Value]:
    """The arguments of a constructor by name, with defaults. One that is None is left out: None must be its default."""
    if cls.__init__ is object.__init__:
        if arguments or options:
            raise TypeError(f"{cls.__name__}: has no options")
        return {}
    import inspect

    signature = inspect.signature(cls.__init__)
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{cls.__name__}.__init__: must name each option, got {parameter}")
        if parameter.name in cls._reserved:
            raise TypeError(f"{cls.__name__}.__init__: '{parameter.name}' cannot be the name of an option")
    try:
        bound = signature.bind(None, *arguments, **options)
    except TypeError as error:
        raise TypeError(f"{cls.__name__}: {error}") from None
    bound.apply_defaults()
    values = list(bound.arguments.items())[1:]
    return {name: _option(value, f"{cls.__name__}.{name}") for name, value in values if value is not None}


def _option(value: Any, field: str) -> Value:
    plain = _values.plain(value, field)
    if isinstance(plain, float):
        _values.finite(plain, field)
    if isinstance(plain, int) and not -(2**63) <= plain < 2**63:
        raise InvalidValueError(f"{field}: must fit into 64 bits, got {plain}", field=field)
    return plain


def name_of(cls: type[_Own]) -> str:
    """The name of a class in a study."""
    return cls.name or cls.__name__


def class_of(choice: Any) -> Optional[type[_Own]]:
    """The class of an algorithm or a rule that a user gives, as an object or a class; None if it is neither."""
    cls = choice if isinstance(choice, type) else type(choice)
    return cls if issubclass(cls, _Own) else None


def definition_of(own: _Own, key: str) -> dict[str, Value]:
    """The algorithm or the rule as in a study file."""
    return {key: "python", "class": name_of(type(own)), **own._options}


def normalized(
    answer: Any, count: int, space: SearchSpace, origin: str
) -> tuple[list[tuple[dict[str, Value], str, Optional[float], Optional[float], Optional[float], str]], str]:
    """What ``suggest`` returned as rows of the fields of Suggestion, and the state.

    TypeError, InvalidValueError: it is no 1 to ``count`` points of the space.
    """
    state = ""
    if isinstance(answer, Suggestions):
        answer, state = answer.points, _values.text(answer.state, "state")
    if isinstance(answer, (Suggestion, Mapping)):
        answer = [answer]
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Sequence):
        raise TypeError(f"suggest: must return a point, a list of points or Suggestions, got {answer!r}")
    if not 1 <= len(answer) <= count:
        raise InvalidValueError(f"suggest: must return 1 to {count} points, got {len(answer)}", field="suggest")
    return [_row(one, f"suggest[{i}]", space, origin) for i, one in enumerate(answer)], state


def _row(
    one: Any, field: str, space: SearchSpace, origin: str
) -> tuple[dict[str, Value], str, Optional[float], Optional[float], Optional[float], str]:
    if not isinstance(one, Suggestion):
        if not isinstance(one, Mapping):
            raise TypeError(f"{field}: must be a mapping of parameters to values or a Suggestion, got {one!r}")
        one = Suggestion(one)
    try:
        params = space._core.checked(_plain(one.params, field))
    except InvalidValueError as error:
        text = str(error)
        if text.startswith("point."):
            text = field + text[len("point") :]
        where = text if text.startswith(field) else f"{field}: {text}"
        raise InvalidValueError(where, error.reason, error.field) from None
    deviation = _number(one.predicted_deviation, f"{field}.predicted_deviation")
    if deviation is not None and deviation < 0:
        raise InvalidValueError(f"{field}.predicted_deviation: must be at least 0, got {deviation}")
    return (
        params,
        _values.text(one.origin, f"{field}.origin") or origin,
        _number(one.acquisition, f"{field}.acquisition"),
        _number(one.predicted_mean, f"{field}.predicted_mean"),
        deviation,
        _values.text(one.note, f"{field}.note"),
    )


def _number(value: Any, field: str) -> Optional[float]:
    return None if value is None else float(_values.finite(value, field))


def verdict_of(answer: Any, name: str) -> tuple[bool, dict[str, float], str]:
    """What ``judge`` returned, as plain values."""
    if not isinstance(answer, Verdict):
        if answer is None:
            raise TypeError("judge: must be a Verdict, true or false, got None")
        answer = Verdict(_values.flag(answer, "judge"))
    stop = _values.flag(answer.stop, "verdict.stop")
    if not isinstance(answer.numbers, Mapping):
        raise TypeError(f"verdict.numbers: must be a mapping of names to numbers, got {answer.numbers!r}")
    numbers = {
        _values.text(key, "verdict.numbers"): _values.metric(value, f"verdict.numbers.{key}")
        for key, value in answer.numbers.items()
    }
    explanation = _values.text(answer.explanation, "verdict.explanation")
    return stop, numbers, explanation or f"rule '{name}' {'stops the trial' if stop else 'lets the trial go on'}"


