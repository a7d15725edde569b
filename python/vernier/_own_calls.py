"""Calls of the algorithms and stopping rules that users write. The extension module calls what is here; nothing that a user
raises leaves it."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, TypeVar

from vernier import _own, _values
from vernier._errors import ExhaustedError, Interrupted, InvalidValueError, StateError, VernierError
from vernier._store import here, logger

if TYPE_CHECKING:
    from vernier import _core
    from vernier._values import Value

# "OK", the points, the state; or a code and a message.
_Answer = tuple[Any, ...]
_T = TypeVar("_T")


class Missing(Exception):
    """The class is not known in this process."""


class Classes:
    """The classes that studies of one store may name. Thread-safe: each change is of one dict, at once."""

    def __init__(self) -> None:
        self._known: dict[str, type[_own._Own]] = {}
        self._lock = threading.Lock()
        # Threads that call a user's class, and whether they were interrupted; guarded by _lock.
        self._calling: dict[int, bool] = {}

    def add(self, cls: Any, base: type[_own._Own], field: str) -> None:
        if not isinstance(cls, type) or not issubclass(cls, base) or cls is base:
            raise TypeError(f"{field}: must be a class derived from vernier.{base.__name__}, got {cls!r}")
        name = _checked_name(cls, base)
        other = self._known.get(name)
        if other is not None and not issubclass(other, base):
            raise TypeError(f"{field}: an algorithm and a stopping rule of one storage are both called '{name}'")
        if getattr(cls, base._method) is getattr(base, base._method):
            raise TypeError(f"{field}: {cls.__name__} must define {base._method}")
        # A later class of the same name takes the place of the earlier one: in a notebook, a cell was run again.
        self._known[name] = cls

    def find(self, name: str, base: type[_own._Own]) -> Optional[type[_own._Own]]:
        cls = self._known.get(name)
        return cls if cls is not None and issubclass(cls, base) else None

    def of(self, algorithm: Optional[str], rule: Optional[str]) -> tuple[Optional[type], Optional[type]]:
        """The classes of these names, as far as they are known."""
        return (algorithm and self.find(algorithm, _own.Optimizer) or None, rule and self.find(rule, _own.StoppingRule) or None)

    def require(self, study: str, algorithm: Optional[str], rule: Optional[str]) -> None:
        """Raises StateError unless both classes are known, as far as the study has any."""
        for name, base, field in ((algorithm, _own.Optimizer, "algorithm"), (rule, _own.StoppingRule, "stopping")):
            if name is not None and self.find(name, base) is None:
                raise StateError(
                    f"study '{study}' has {base._kind} '{name}', a Python class that this process was not given: "
                    f"open_study(…, {field}=CLASS) gives it"
                )

    # --- calls ---
    def call(self, function: Callable[[], _T]) -> _T:
        """Calls user code, which must not call the study that waits for it.  Interrupted: ``interrupt`` has ended it."""
        here.error = None
        here.inside += 1
        try:
            try:
                with self._lock:
                    self._calling[threading.get_ident()] = False
                return function()
            finally:
                self._end_call()
        finally:
            here.inside -= 1

    def _end_call(self) -> None:
        try:
            self._leave()
        except Interrupted:  # It may have come there, at any line.
            with self._lock:
                self._calling.pop(threading.get_ident(), None)
            raise

    def _leave(self) -> None:
        with self._lock:
            is_interrupted = self._calling.pop(threading.get_ident(), False)
            if is_interrupted:
                _set_exception(threading.get_ident(), None)  # If it has not come yet, it is raised here, and nowhere later.
        if is_interrupted:
            raise Interrupted

    def interrupt(self) -> None:
        """Ends what users' classes do now, in all threads, once they execute Python code."""
        with self._lock:
            for thread, is_interrupted in self._calling.items():
                if not is_interrupted:
                    self._calling[thread] = True
                    _set_exception(thread, Interrupted)

    # --- called by the extension module ---
    def bind_optimizer(
        self,
        options: dict[str, Value],
        space: _core.Space,
        objectives: list[tuple[str, bool]],
        outcome_constraints: list[str],
        earlier: list[tuple[str, tuple[_own.FinishedTrial, ...], tuple[Mapping[str, Value], ...]]],
    ) -> _Answer:
        problem = _own.Problem(
            _own.SearchSpace._of(space),
            {metric: "maximize" if is_max else "minimize" for metric, is_max in objectives},
            tuple(outcome_constraints),
            tuple(_own.EarlierStudy(*row) for row in earlier),
        )
        return self._bound("algorithm", options, lambda name, rest: BoundOptimizer(self, name, rest, problem))

    def bind_rule(self, options: dict[str, Value], is_max: bool) -> _Answer:
        goal = "maximize" if is_max else "minimize"
        return self._bound("stopping", options, lambda name, rest: BoundRule(self, name, rest, goal))

    def _bound(self, field: str, options: dict[str, Value], make: Callable[[str, dict[str, Value]], _Bound]) -> _Answer:
        name = options.get("class")
        if not isinstance(name, str) or not name:
            return "ERROR", f"{field}.class", f"must be the name of a Python class, got {name!r}"
        bound = make(name, {key: value for key, value in options.items() if key != "class"})
        try:
            self.call(bound.check)
        except Missing:
            pass  # The study can still be read.
        except ValueError as error:
            given = error.field if isinstance(error, VernierError) else ""
            return "ERROR", given or field, f"{name}: {error}"
        except Exception as error:
            here.error = error
            return "ERROR", field, f"{name}: {_values.described(error)}"
        except BaseException as error:
            here.error = error
            return "ERROR", field, "interrupted"
        return "OK", bound, name, json.dumps(options, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _set_exception(thread: int, kind: Optional[type[BaseException]]) -> None:
    """Raises an exception in a thread, at its next line of Python code; None takes back one that has not been raised yet."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None if kind is None else ctypes.py_object(kind))


def _checked_name(cls: type[_own._Own], base: type[_own._Own]) -> str:
    from vernier import _core

    name = _values.text(_own.name_of(cls), f"{cls.__name__}.name")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name):
        raise InvalidValueError(f"{cls.__name__}.name: must be 1 to 64 letters, digits, '.', '_' and '-', got {name!r}")
    if name in (*_core.algorithms, *_core.stopping_rules):
        raise InvalidValueError(f"{cls.__name__}.name: '{name}' is a name of Vernier's own; choose another one")
    if not _values.text(cls.version, f"{cls.__name__}.version"):
        raise InvalidValueError(f"{cls.__name__}.version: must not be empty")
    return name


class _Bound:
    """A class with the options of a study."""

    _base: type[_own._Own]

    def __init__(self, classes: Classes, name: str, options: dict[str, Value]) -> None:
        self._classes = classes
        self._name = name
        self._options = options
        self._made: Optional[_own._Own] = None

    def version(self, is_replay: bool) -> str:
        """Another one in a replay of a class that is not pure, so that what it did is not compared."""
        cls = self._classes.find(self._name, self._base)
        if cls is None:
            return f"unknown: this process was given no class '{self._name}'"
        return f"{cls.version}, which does not declare pure = True" if is_replay and not cls.pure else cls.version

    def check(self) -> None:
        self._instance()

    def _instance(self) -> Any:
        cls = self._classes.find(self._name, self._base)
        if cls is None:
            raise Missing
        made = self._made
        if type(made) is not cls:
            made = self._made = cls(**self._options)
        return made


class BoundOptimizer(_Bound):
    _base = _own.Optimizer

    def __init__(self, classes: Classes, name: str, options: dict[str, Value], problem: _own.Problem) -> None:
        super().__init__(classes, name, options)
        self._problem = problem

    def check(self) -> None:
        self._instance().check(self._problem)

    def suggest(
        self,
        finished: tuple[_own.FinishedTrial, ...],
        pending: tuple[tuple[int, Mapping[str, Value]], ...],
        state: str,
        seed: int,
        count: int,
    ) -> _Answer:
        title = f"algorithm '{self._name}'"
        try:
            waiting = tuple(_own.PendingTrial(*row) for row in pending)
            request = _own.SuggestRequest(self._problem, finished, waiting, state, seed, count)
            answer = self._classes.call(lambda: self._instance().suggest(request))
        except Missing:
            return "MISSING", f"{title} is a Python class that this process was not given"
        except ExhaustedError as error:
            return "EXHAUSTED", f"{title}: {error}"
        except Exception as error:
            here.error = error
            logger().error("%s failed", title, exc_info=error)
            return "ERROR", f"{title} failed: {_values.described(error)}"
        except BaseException as error:
            here.error = error
            return "INTERRUPTED", f"{title} was interrupted"
        try:
            return ("OK", *_own.normalized(answer, count, self._problem.space, self._name))
        except Exception as error:
            here.error = error
            return "ERROR", f"{title}: {error}"


class BoundRule(_Bound):
    _base = _own.StoppingRule
    curve = _own.Curve

    def __init__(self, classes: Classes, name: str, options: dict[str, Value], goal: str) -> None:
        super().__init__(classes, name, options)
        self._goal = goal
        self._logged: set[str] = set()

    def judge(self, running: _own.Curve, others: tuple[_own.Curve, ...]) -> tuple[bool, dict[str, float], str]:
        title = f"stopping rule '{self._name}'"
        try:
            answer = self._classes.call(lambda: self._instance().judge(running, others, self._goal))
            return _own.verdict_of(answer, self._name)
        except Missing:
            return False, {}, f"{title} is a Python class that this process was not given"
        except Exception as error:
            return False, {}, self._failed(title, error)
        except BaseException as error:
            here.error = error
            return False, {}, f"{title} was interrupted"

    def _failed(self, title: str, error: Exception) -> str:
        """Logs each failure once, not at each report of each trial."""
        message = f"{title} failed, and the trial goes on: {_values.described(error)}"
        if message not in self._logged:
            self._logged.add(message)
            logger().error("%s", message, exc_info=error)
        return message
