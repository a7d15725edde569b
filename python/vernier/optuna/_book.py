"""The trials of a study, and the study of Vernier that proposes their points.

A study of Vernier has one space. So that the program's space can grow, a study here is a series of them: when a trial has
shown that the space is another one (_tree.py), a new study of Vernier with that space takes the place of the old one, and
gets all trials so far. In a file the new one is complete before the old one is deleted, under another name, and the trials'
records are metadata of Vernier's trials: a kill at any moment loses nothing that was told.

Several processes share a file by turns. Each holds the trials in memory, and reads them again when another one may have had
the file. Trials that run elsewhere keep their leases when the study is replaced.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import math
import random
import threading
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence

import vernier
from vernier._errors import (
    ExhaustedError,
    InvalidValueError,
    LeaseLostError,
    NotFoundError,
    StateError,
)
from vernier._file import handle_of
from vernier._store import actor, is_orphan, logger
from vernier._study import Study as Engine
from vernier._trials import AskedTrial
from vernier.optuna import _draw, _records
from vernier.optuna._states import StudyDirection, TrialState
from vernier.optuna._tree import Node, Recent, Tree, infer
from vernier.optuna.distributions import BaseDistribution, CategoricalDistribution, check_distribution_compatibility
from vernier.optuna.trial import FIXED_PARAMS, FrozenTrial

if TYPE_CHECKING:
    from vernier import _core

# Namespace of the metadata.
_SPACE = "optuna"
# Marks a study of Vernier as one of ours from its creation on.
_LABELS = {"interface": "optuna"}
# A study of Vernier has at least one parameter.
_NOTHING: dict[str, Any] = {"(no parameters yet)": "-"}
_serials = itertools.count()


class Plan(NamedTuple):
    """How points are chosen and trials are stopped."""

    algorithm: Mapping[str, Any]
    stopping: Mapping[str, Any]
    seed: int = 0
    constraints: Sequence[str] = ()
    """Names of the constraints that trials have values of; each must be 0 or less."""
    grid: Optional[Mapping[str, Sequence[Any]]] = None
    """The values of GridSampler; then the space does not depend on what trials ask for."""
    fixed: Mapping[str, Any] = {}
    """Parameters with a fixed value."""

    def text(self) -> str:
        return json.dumps(self, default=repr)

    def is_like(self, other: Plan) -> bool:
        """Whether a study by the other plan can go on by this one. The seed only matters at its beginning."""
        return self._replace(seed=0).text() == other._replace(seed=0).text()


class Book:
    """Trials by number. Thread-safe: each call holds the lock, while a point is computed too."""

    def __init__(self, name: str, directions: Sequence[StudyDirection], path: Optional[str], engine_name: str) -> None:
        self.name: str = name
        self.directions: list[StudyDirection] = list(directions)
        self.path = path
        self.user_attrs: dict[str, Any] = {}
        self.system_attrs: dict[str, Any] = {}
        self.serial: int = next(_serials)
        self._engine_name = engine_name
        self._lock = threading.RLock()
        self._handle = None if path is None else handle_of(path, creates=True)
        self._openings = 0
        self._forget_all()

    def _forget_all(self) -> None:
        self._trials: list[FrozenTrial] = []
        self._drawn: dict[int, dict[str, Any]] = {}
        self._latest: dict[str, BaseDistribution] = {}
        self._recent = Recent()
        self._engine: Optional[Engine] = None
        self._tree = Tree()
        self._plan = Plan({"name": "random"}, {"rule": "none"})
        self._elsewhere: dict[int, str] = {}  # The holders of trials that run in other processes, while the study is replaced.
        self._records: dict[int, str] = {}  # The records as they were read.
        # Vernier's trial of each trial, by its number; trials that are open in this process; and the reverse of the first.
        self._placed: dict[int, int] = {}
        self._open: dict[int, AskedTrial] = {}
        self._waiting: dict[int, int] = {}  # By number of Vernier's trial.
        # What chooses the parameters of open trials instead of Vernier.
        self._own: dict[int, Callable[[str, BaseDistribution], Any]] = {}

    # --- creating and loading ---
    @staticmethod
    def create(name: str, directions: Sequence[StudyDirection], plan: Plan, path: Optional[str], engine_name: str) -> Book:
        """StudyExistsError: the file has a study of that name."""
        book = Book(name, directions, path, engine_name)
        book._plan = plan
        if book._handle is not None:
            with book._file():
                book._replace(Tree(), plan)
                book._openings = book._handle.openings
        return book

    @staticmethod
    def load(path: str, engine_name: str) -> Book:
        """NotFoundError: there is none."""
        book = Book("", [], path, engine_name)
        book.refresh()
        return book

    def state(self) -> dict[str, Any]:
        """What a study in memory is made of again (of_state), as after pickling."""
        with self._lock:
            fields = (
                "name",
                "directions",
                "user_attrs",
                "system_attrs",
                "_trials",
                "_drawn",
                "_latest",
                "_recent",
                "_plan",
            )
            return {field: getattr(self, field) for field in fields}

    @staticmethod
    def of_state(state: Mapping[str, Any]) -> Book:
        book = Book(state["name"], state["directions"], None, "optuna")
        vars(book).update(state)
        return book

    def refresh(self) -> None:
        """Reads the trials again if another process may have changed the file."""
        with self._turn():
            pass

    @contextlib.contextmanager
    def _turn(self, *, ends: bool = False) -> Iterator[None]:
        """Holds the lock and the file, with what other processes have stored in it. ``ends``: as of StoreHandle.use."""
        with self._lock, self._file(ends=ends):
            if self._handle is not None and self._openings != self._handle.openings:
                self._read()
                self._openings = self._handle.openings
            yield

    @contextlib.contextmanager
    def _file(self, *, ends: bool = False) -> Iterator[None]:
        if self._handle is None:
            yield
            return
        with self._handle.use_store(ends=ends):
            yield

    def _read(self) -> None:
        assert self.path is not None
        spare = _spare_name(self._engine_name)
        names = vernier.study_names(self.path)
        engines = {name: vernier.open_study(name, self.path) for name in (self._engine_name, spare) if name in names}
        if not engines:
            raise NotFoundError(f"study '{self.name or self._engine_name}' is not in {self.path}")
        whole = [name for name, engine in engines.items() if "whole" in self._metadata(engine)[0]]
        if not whole:
            raise NotFoundError(
                f"study '{self._engine_name}' in {self.path} was not created by vernier.optuna; "
                "vernier.open_study opens it"
            )
        self._read_from(engines[whole[0]])
        if whole[0] == spare:  # The process was killed while it replaced the study.
            if self._engine_name in engines:
                vernier.delete_study(self._engine_name, self.path, force=True)
            self._elsewhere = self._holders_elsewhere()
            self._engine = self._made(self._engine_name, self._tree, self._plan)
        if spare in engines:
            vernier.delete_study(spare, self.path, force=True)

    @staticmethod
    def _metadata(engine: Engine) -> tuple[dict[str, str], dict[int, dict[str, str]]]:
        with _store_of(engine) as core:
            return core.metadata(engine._id, _SPACE)

    def _read_from(self, engine: Engine) -> None:
        before, drawn_before, records, was_open = self._trials, self._drawn, self._records, self._open
        self._forget_all()
        engine._orphans = []  # See _end_lost.
        texts, by_trial = self._metadata(engine)
        with _store_of(engine) as core:
            reports = {row[0]: row[5] for row in core.trials(engine._id)} if len(by_trial) > 0 else {}
            leases = {leased.number: leased for leased, _, _ in core.leased(engine._id)}
        fields = json.loads(texts["study"])
        self.name = fields["name"]
        self.directions = [StudyDirection[name] for name in fields["directions"]]
        self.user_attrs, self.system_attrs = json.loads(texts["user_attrs"]), json.loads(texts["system_attrs"])
        self._engine, self._tree = engine, Tree.from_json(texts["tree"])
        self._plan = Plan(*json.loads(texts["plan"]))
        found: dict[int, FrozenTrial] = {}
        told: list[tuple[AskedTrial, FrozenTrial]] = []  # By another process, which has no lease.
        # The last of Vernier's trials for a number counts.
        for at, metadata in sorted(by_trial.items()):
            text = metadata["record"]
            number = _records.number_of(text)
            if records.get(number) == text and before[number].state.is_finished():
                trial, drawn = before[number], drawn_before[number]
            else:
                has_curve = len(self.directions) == 1 and reports[at]
                curve = {p.step: next(iter(p.metrics.values())) for p in engine.curve(at)} if has_curve else {}
                trial, drawn = _records.from_text(text, curve)
            asked, lease = was_open.get(number), leases.get(at)
            if asked is not None and lease is not None and lease.holder == asked.holder:
                asked.leased = lease
                if trial.state.is_finished():
                    told.append((asked, trial))
                else:
                    # What it asked for since it was last stored is known here only.
                    trial, drawn = before[number], drawn_before.get(number, {})
                    self._open[number] = asked
            found[number], self._drawn[number], self._records[number] = trial, drawn, text
            self._placed[number] = at
            if trial.state is TrialState.WAITING:
                self._waiting[at] = trial.number
        self._trials = [found[number] for number in sorted(found)]
        for trial in self._trials:
            self._latest.update(trial.distributions)
            if trial.state.is_finished():
                self._recent.add(trial)
        for asked, trial in told:
            self._end_here(asked, trial, "")

    # --- reading ---
    def trials(self) -> list[FrozenTrial]:
        with self._turn():
            return list(self._trials)

    def record(self, number: int) -> FrozenTrial:
        with self._lock:
            return self._trials[number]

    def drawn(self, number: int) -> dict[str, Any]:
        return dict(self._drawn.get(number, {}))

    @property
    def plan(self) -> Plan:
        return self._plan

    def is_stopped(self, number: int) -> bool:
        asked = self._open.get(number)
        return asked is not None and asked.should_stop()

    # --- attributes ---
    def set_study_attrs(self, user: Mapping[str, Any] = {}, system: Mapping[str, Any] = {}) -> None:
        with self._turn():
            texts = (
                {
                    "user_attrs": _json({**self.user_attrs, **user}, "attribute"),
                    "system_attrs": _json({**self.system_attrs, **system}, "attribute"),
                }
                if self.path
                else {}
            )
            self.user_attrs.update(user)
            self.system_attrs.update(system)
            self._set_metadata(texts, {})

    def set_trial_attrs(self, number: int, user: Mapping[str, Any] = {}, system: Mapping[str, Any] = {}) -> None:
        with self._turn():
            trial = self._trials[number]
            if trial.state.is_finished():
                from vernier.optuna.exceptions import UpdateFinishedTrialError

                raise UpdateFinishedTrialError(
                    f"trial {number} has ended as {trial.state.name}; its attributes stay as they are"
                )
            if self.path is not None:
                _json({**user, **system}, "attribute")
            # New mappings, since copies of the record share the old ones.
            trial.user_attrs = {**trial.user_attrs, **user}
            trial.system_attrs = {**trial.system_attrs, **system}
            self._save(trial)

    # --- trials that were not asked for ---
    def add(self, trials: Sequence[FrozenTrial]) -> None:
        """Adds trials that ended elsewhere, or that wait to be run. Their numbers are given here."""
        with self._turn():
            for trial in trials:
                for name, dist in trial.distributions.items():
                    if name in self._latest:
                        check_distribution_compatibility(self._latest[name], dist)
            for trial in trials:
                trial.number = trial._trial_id = len(self._trials)
                self._trials.append(trial)
                self._latest.update(trial.distributions)
                if trial.state.is_finished():
                    self._recent.add(trial)
            if self._engine is None:
                return
            ended = [trial for trial in trials if trial.state.is_finished()]
            if not self._refit(ended):
                self._copy(self._engine, trials)

    # --- a trial's life ---
    def ask(self, plan: Plan, known: Mapping[str, BaseDistribution]) -> int:
        """Begins a trial, and returns its number. ExhaustedError: a grid has no more points."""
        with self._turn():
            for name, dist in known.items():
                if name in self._latest:
                    check_distribution_compatibility(self._latest[name], dist)
            self._prepare(plan, known)
            self._end_lost()
            assert self._engine is not None
            asked = self._propose(plan)
            number = self._waiting.pop(asked.number, None)
            if number is None:
                number = len(self._trials)
                self._trials.append(_new_trial(number))
            trial = self._trials[number]
            trial.state, trial.datetime_start = TrialState.RUNNING, datetime.datetime.now()
            self._open[number], self._placed[number] = asked, asked.number
            asked.moved = _finder(self._engine_name)
            self._drawn[number] = self._tree.decode(asked.params) if self._tree.nodes else {}
            if plan.fixed:
                fixed = {**plan.fixed, **trial.system_attrs.get(FIXED_PARAMS, {})}
                trial.system_attrs = {**trial.system_attrs, FIXED_PARAMS: fixed}
            self._save(trial)
            return number

    def draw_by(
        self,
        number: int,
        chosen: Mapping[str, Any],
        space: Mapping[str, BaseDistribution],
        draw: Callable[[str, BaseDistribution], Any],
    ) -> None:
        """Gives the trial the values of a sampler of the program: those chosen already, and a function for the others."""
        with self._lock:
            # As plain values, which can be stored.
            plain = {name: space[name].to_external_repr(space[name].to_internal_repr(value)) for name, value in chosen.items()}
            self._drawn[number], self._own[number] = plain, draw

    def suggest(self, number: int, name: str, dist: BaseDistribution) -> Any:
        """The value of a parameter that the trial asks for the first time."""
        with self._lock:
            trial = self._trials[number]
            if trial.state.is_finished():
                raise RuntimeError(f"trial {number} has ended as {trial.state.name}, and gets no more parameters")
            if name in self._latest:
                check_distribution_compatibility(self._latest[name], dist)
            value = self._value(trial, name, dist)
            trial.params, trial.distributions = {**trial.params, name: value}, {**trial.distributions, name: dist}
            self._latest[name] = dist
            return value

    def _value(self, trial: FrozenTrial, name: str, dist: BaseDistribution) -> Any:
        fixed = trial.system_attrs.get(FIXED_PARAMS, {})
        drawn = self._drawn.get(trial.number, {})
        if self._plan.grid is not None:  # The values of a grid are the user's, too.
            fixed = {**drawn, **fixed}
        if name in fixed:
            value = fixed[name]
            internal = dist.to_internal_repr(value)
            if not dist._contains(internal):
                warnings.warn(f"parameter {name!r}: the given value {value!r} is outside {dist}", stacklevel=5)
            return dist.to_external_repr(internal)
        if trial.number in self._own:
            value = self._own[trial.number](name, dist)
            internal = dist.to_internal_repr(value)
            if not dist._contains(internal):
                raise ValueError(f"sampler: must give {name!r} a value of {dist}, got {value!r}")
            return dist.to_external_repr(internal)
        if name in drawn:
            try:
                internal = dist.to_internal_repr(drawn[name])
                if dist._contains(internal):
                    return dist.to_external_repr(internal)
            except ValueError:
                pass
        return _draw.draw(dist, random.Random(f"{self._plan.seed}/{trial.number}/{name}"))

    def report(self, number: int, step: int, value: float) -> None:
        with self._turn():
            trial, asked = self._trials[number], self._open.get(number)
            if trial.state.is_finished():
                return  # Its lease has ended, and another process has ended it.
            trial.intermediate_values = {**trial.intermediate_values, step: value}
            self._save(trial)
            if asked is not None:
                asked.report(step, {"value": value})

    def end(self, number: int, state: TrialState, values: Optional[Sequence[float]], message: str = "") -> FrozenTrial:
        with self._turn(ends=True):
            trial = self._trials[number]
            if trial.state.is_finished():
                logger().warning("trial %d was given up by another process, since this one was not heard of", number)
                return trial
            trial.values = None if values is None else list(values)
            trial.datetime_complete, trial.state = datetime.datetime.now(), state
            self._recent.add(trial)
            asked, is_own = self._open.pop(number, None), self._own.pop(number, None) is not None
            # What was recorded counts, whatever becomes of Vernier's trial.
            self._save(trial)
            if asked is not None and not self._refit([trial]):
                self._end_here(asked, trial, message, is_own)
            return trial

    def _end_here(self, asked: AskedTrial, trial: FrozenTrial, message: str, is_own: bool = False) -> None:
        """Ends Vernier's trial as the trial has ended. ``is_own``: the program chose its point."""
        assert self._engine is not None
        point = self._point_of(trial)
        if trial.state is TrialState.FAIL or point == asked.params:
            self._end_of(self._engine, asked, trial, message)
        elif point is None and FIXED_PARAMS in trial.system_attrs:
            self._engine._cancel(asked.leased, "its parameters lie outside the space")
        elif is_own:
            self._engine._cancel(asked.leased, "the program's sampler chose another point")
            self._copy(self._engine, [trial])
        else:
            # The program left no choice but another point, as with a range that depends on other parameters.
            self._engine.tell(asked, infeasible=f"the program changed it to {trial.params}")
            if point is not None:
                self._copy(self._engine, [trial])

    # --- Vernier's study ---
    def _prepare(self, plan: Plan, known: Mapping[str, BaseDistribution]) -> None:
        """Makes a study of Vernier with the plan, and with a space that has the known parameters."""
        plan = plan._replace(constraints=self._plan.constraints)
        tree = self._tree
        if plan.grid is not None:
            tree = Tree({name: Node(name, CategoricalDistribution(values)) for name, values in plan.grid.items()})
        elif (
            self._engine is None
            or plan.fixed != self._plan.fixed
            or not tree.knows(n for n, d in known.items() if not d.single())
        ):
            tree = self._inferred(
                plan, {**{n: d for n, d in self._latest.items() if n in tree.nodes and n in known}, **known}
            )
        if self._engine is None or tree != self._tree or not plan.is_like(self._plan):
            self._replace(tree, plan)

    def _inferred(self, plan: Plan, known: Mapping[str, BaseDistribution] = {}) -> Tree:
        ended = [trial for trial in self._trials if trial.state.is_finished()]
        tree = infer(ended, self._recent, known, self._tree.outside | set(plan.fixed))
        tree.repeats = self._tree.repeats and tree.is_finite()
        return tree

    def _refit(self, ended: Sequence[FrozenTrial]) -> bool:
        """Replaces Vernier's study if these trials show that the space is another one, and returns whether it did."""
        plan, tree = self._plan, self._tree
        constraints = sorted({*plan.constraints, *(name for trial in ended for name in trial.constraints)})
        if plan.grid is None and not all(tree.explains(trial, self._recent) for trial in ended):
            tree = self._inferred(plan)
        if tree == self._tree and constraints == list(plan.constraints):
            return False
        self._replace(tree, plan._replace(constraints=constraints))
        return True

    def _replace(self, tree: Tree, plan: Plan) -> None:
        name, spare = self._engine_name, _spare_name(self._engine_name)
        self._elsewhere = self._holders_elsewhere()
        if self.path is None or self._engine is None:
            self._engine = self._made(name, tree, plan)
            return
        self._made(spare, tree, plan)
        vernier.delete_study(name, self.path, force=True)
        self._engine = self._made(name, tree, plan)
        vernier.delete_study(spare, self.path, force=True)

    def _holders_elsewhere(self) -> dict[int, str]:
        """The holders of trials that run in other processes."""
        if self.path is None or self._engine is None:
            return {}
        with _store_of(self._engine) as core:
            holders = {leased.number: leased.holder for leased, _, _ in core.leased(self._engine._id)}
        return {
            number: holders[at]
            for number, at in self._placed.items()
            if at in holders and number not in self._open and not self._trials[number].state.is_finished()
        }

    def _made(self, name: str, tree: Tree, plan: Plan) -> Engine:
        """A study of Vernier with all trials."""
        engine, self._tree = self._created(name, tree, plan)
        self._plan, self._waiting = plan, {}
        self._copy(engine, self._trials)
        if self.path is not None:
            study = {"name": self.name, "directions": [direction.name for direction in self.directions]}
            texts = {
                "study": json.dumps(study),
                "tree": self._tree.to_json(),
                "plan": plan.text(),
                "whole": "yes",
                "user_attrs": json.dumps(self.user_attrs),
                "system_attrs": json.dumps(self.system_attrs),
            }
            with _store_of(engine) as core:
                core.set_metadata(engine._id, _SPACE, texts, {}, actor())
        return engine

    def _created(self, name: str, tree: Tree, plan: Plan) -> tuple[Engine, Tree]:
        """An empty study of Vernier, and its space: parameters that it refuses are left out."""
        objectives = dict(zip(self._metrics(), self.directions))
        while True:
            space = tree.space()
            try:
                engine = vernier.create_study(
                    name,
                    space or {key: [value] for key, value in _NOTHING.items()},
                    maximize=[metric for metric, direction in objectives.items() if direction is StudyDirection.MAXIMIZE],
                    minimize=[
                        metric for metric, direction in objectives.items() if direction is not StudyDirection.MAXIMIZE
                    ],
                    algorithm=plan.algorithm if space else "random",
                    stopping=plan.stopping if len(objectives) == 1 else "none",
                    outcome_constraints=[f"constraint_{i} <= 0" for i in range(len(plan.constraints))],
                    seed=plan.seed,
                    labels=_LABELS,
                    storage=self.path,
                )
                return engine, tree
            except InvalidValueError as error:
                refused = {name for name in tree.nodes if error.field.startswith(f"parameters.{name}.")}
                if not refused:
                    raise
                logger().warning("a parameter is drawn at random: %s", error)
                tree = tree.without(refused)

    def _metrics(self) -> list[str]:
        return ["value"] if len(self.directions) == 1 else [f"value_{i}" for i in range(len(self.directions))]

    def _values_of(self, trial: FrozenTrial) -> dict[str, float]:
        """The metrics of a trial that has values."""
        known = trial.constraints
        broken = {f"constraint_{i}": known[name] for i, name in enumerate(self._plan.constraints) if name in known}
        return {**dict(zip(self._metrics(), trial.values or ())), **broken}

    def _point_of(self, trial: FrozenTrial) -> Optional[dict[str, Any]]:
        """The trial's point in the space; None: it lies outside."""
        if any(trial.params.get(name, value) != value for name, value in self._plan.fixed.items()):
            return None
        point = self._tree.point_of(trial.params, self._drawn.get(trial.number, {}))
        return point if self._tree.nodes else dict(_NOTHING)

    def _random_point(self, params: Mapping[str, Any], number: int) -> dict[str, Any]:
        """These parameters, and random values for the others."""
        rng = random.Random(f"{self._plan.seed}/{number}")
        drawn = {name: _draw.draw(node.distribution, rng) for name, node in self._tree.nodes.items()}
        within = {name: value for name, value in params.items() if not self._tree.is_outside(name, value)}
        return self._tree.point_of(within, drawn) or dict(_NOTHING)

    # --- trials of Vernier ---
    def _propose(self, plan: Plan) -> AskedTrial:
        assert self._engine is not None
        if self._tree.nodes or self._waiting:
            try:
                return self._engine._ask(_ignore)
            except ExhaustedError:
                if plan.algorithm["name"] == "grid" or self._tree.repeats:
                    raise
            # All of a finite space was tried: go on as Optuna does.
            self._replace(replace(self._tree, repeats=True), self._plan)
            return self._engine._ask(_ignore)
        return self._leased(self._engine, self._random_point({}, len(self._trials)), [], {})

    def _leased(
        self, engine: Engine, point: dict[str, Any], curve: list[tuple[int, dict[str, float]]], texts: dict[str, str]
    ) -> AskedTrial:
        """A trial of Vernier that runs at a given point. No other trial may be waiting."""
        with _store_of(engine) as core:
            core.add_trials(engine._id, [(point, None, curve, texts)], _SPACE, actor())
        return engine._ask(_ignore)

    def _copy(self, engine: Engine, trials: Iterable[FrozenTrial]) -> None:
        """Adds trials to a study of Vernier. Those to be run come last, since they are the next to be asked for."""
        batch: list[tuple[FrozenTrial, dict[str, Any]]] = []
        for trial in sorted(trials, key=lambda trial: trial.state is TrialState.WAITING):
            point = self._point_of(trial)
            is_result = trial.state is TrialState.COMPLETE and all(map(math.isfinite, trial.values or ()))
            if is_result and point is not None:
                batch.append((trial, point))
            else:
                self._copy_results(engine, batch)
                batch = []
                self._copy_one(engine, trial, point)
        self._copy_results(engine, batch)

    def _copy_results(self, engine: Engine, batch: Sequence[tuple[FrozenTrial, dict[str, Any]]]) -> None:
        rows: list[Any] = [(point, self._values_of(trial), _curve(trial), self._texts(trial)) for trial, point in batch]
        with _store_of(engine) as core:
            numbers = core.add_trials(engine._id, rows, _SPACE, actor())
        for (trial, _), number in zip(batch, numbers):
            if number:
                self._placed[trial.number] = number
            else:
                self._copy_one(engine, trial, None)

    def _copy_one(self, engine: Engine, trial: FrozenTrial, point: Optional[dict[str, Any]]) -> None:
        number, texts, curve = trial.number, self._texts(trial), _curve(trial)
        elsewhere = self._elsewhere.get(number)
        is_running = trial.state is TrialState.RUNNING and (number in self._open or elsewhere is not None)
        if trial.state is TrialState.WAITING or point is None or (trial.state is TrialState.RUNNING and not is_running):
            anywhere = self._random_point(trial.system_attrs.get(FIXED_PARAMS, trial.params), number)
            with _store_of(engine) as core:
                [at] = core.add_trials(engine._id, [(anywhere, None, [], texts)], _SPACE, actor())
                if not at:  # A value that the program gave is not quite in the space.
                    [at] = core.add_trials(engine._id, [(self._random_point({}, number), None, [], texts)], _SPACE, actor())
                if trial.state is TrialState.WAITING:
                    self._waiting[at] = number
                else:
                    core.stop_trial(engine._id, at, "its parameters lie outside the space", actor())
            self._placed[number] = at
            return
        if elsewhere is not None:
            with _store_of(engine) as core:
                core.add_trials(engine._id, [(point, None, curve, texts)], _SPACE, actor())
                [(leased, _, _)] = core.suggest(engine._id, 1, elsewhere)
            self._placed[number] = leased.number
            return
        asked = self._leased(engine, point, curve, texts)
        self._placed[number] = asked.number
        if is_running:
            old, self._open[number] = self._open[number], asked
            asked.moved = _finder(self._engine_name)
            old._handle.release(old.holder)
        else:
            self._end_of(engine, asked, trial, "")

    def _end_of(self, engine: Engine, asked: AskedTrial, trial: FrozenTrial, message: str) -> None:
        """Ends a trial of Vernier as the trial has ended."""
        if trial.state is TrialState.FAIL:
            engine.tell(asked, failed=message or "failed")
        elif trial.state is TrialState.COMPLETE:
            engine.tell(asked, self._values_of(trial))
        elif trial.values is not None and all(map(math.isfinite, trial.values)):
            if not asked.should_stop():
                with _store_of(engine) as core:
                    core.stop_trial(engine._id, asked.number, "pruned by the program", actor())
            engine.tell(asked, self._values_of(trial))
        else:
            engine.tell(asked, infeasible="pruned without a value")

    def _end_lost(self) -> None:
        """Ends trials of processes that have died, or whose lease has expired, and puts their points first in the queue."""
        engine = self._engine
        if self.path is None or engine is None:
            return
        with _store_of(engine) as core:
            core.tick()  # Ends leases that are due.
            leased = {row[0].number: row for row in core.leased(engine._id)}
        by_place = {at: number for number, at in self._placed.items()}
        for at, row in list(leased.items()):
            if not is_orphan(row[0].holder):
                continue
            del leased[at]
            asked = AskedTrial(engine._handle, *row)
            trial = self._trials[by_place[at]] if at in by_place else None
            with contextlib.suppress(LeaseLostError, StateError):
                if trial is not None and trial.state.is_finished():
                    self._end_here(asked, trial, "")
                else:
                    engine.tell(asked, failed="the process has died")
        for trial in [trial for trial in self._trials if trial.state is TrialState.RUNNING]:
            number = trial.number
            if number in self._open or self._placed[number] in leased:
                continue
            with contextlib.suppress(StateError), _store_of(engine) as core:
                core.stop_trial(engine._id, self._placed[number], "its process was not heard of", actor())
            trial.state, trial.datetime_complete = TrialState.FAIL, datetime.datetime.now()
            self._save(trial)
            again = _new_trial(len(self._trials))
            fixed = {**self._drawn.get(number, {}), **trial.params, **trial.system_attrs.get(FIXED_PARAMS, {})}
            again.system_attrs = {FIXED_PARAMS: fixed, "retried": number}
            again.user_attrs = dict(trial.user_attrs)
            self._trials.append(again)
            self._copy(engine, [again])

    # --- metadata ---
    def _texts(self, trial: FrozenTrial) -> dict[str, str]:
        if self.path is None:
            return {}
        try:
            return {"record": _records.to_text(trial, self._drawn.get(trial.number, {}))}
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"trial {trial.number}: its parameters and attributes must be None, bool, int, float, str, or lists and "
                f"mappings of them, to be stored: {error}"
            ) from None

    def _save(self, trial: FrozenTrial) -> None:
        if self.path is not None:
            self._set_metadata({}, {self._placed[trial.number]: self._texts(trial)})

    def _set_metadata(self, study: dict[str, str], trials: dict[int, dict[str, str]]) -> None:
        if self.path is not None and self._engine is not None:
            with _store_of(self._engine) as core:
                core.set_metadata(self._engine._id, _SPACE, study, trials, actor())


@contextlib.contextmanager
def _store_of(engine: Engine) -> Iterator[_core.Store]:
    with engine._handle.use_store() as core:
        yield core


def _finder(engine_name: str) -> Callable[[AskedTrial], None]:
    """Finds a trial again after another process has replaced the study. By its holder, so that it needs no turn at the file."""

    def find(trial: AskedTrial) -> None:
        with trial._handle.use() as core:
            for name in (engine_name, _spare_name(engine_name)):
                with contextlib.suppress(NotFoundError):
                    for leased, _, _ in core.leased(core.find_study(name)):
                        if leased.holder == trial.holder:
                            trial.leased = leased
                            return
        trial._handle.release(trial.holder)

    return find


def _ignore(holder: str) -> None:
    pass


def _new_trial(number: int) -> FrozenTrial:
    return FrozenTrial(number, TrialState.WAITING, None, None, None, {}, {}, {}, {}, {}, number)


def _curve(trial: FrozenTrial) -> list[tuple[int, dict[str, float]]]:
    return [(step, {"value": value}) for step, value in sorted(trial.intermediate_values.items())]


def _spare_name(engine_name: str) -> str:
    """Where a study is while it is replaced."""
    return f"{engine_name[:110]}--replacement"


def _json(value: Any, what: str) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what}: must be None, bool, int, float, str, or lists and mappings of them, to be stored: {error}"
        ) from None
