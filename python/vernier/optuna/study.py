"""Studies under Optuna's names."""

from __future__ import annotations

import copy
import os
import uuid
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Container, Iterable, Mapping, Optional, Sequence, Union

from vernier._errors import StudyExistsError
from vernier.optuna import _optimize, _tell, samplers as _samplers
from vernier.optuna._book import Book, Plan
from vernier.optuna._states import StudyDirection, TrialState
from vernier.optuna.distributions import BaseDistribution, _modern, _same, check_distribution_compatibility
from vernier.optuna.exceptions import DuplicatedStudyError
from vernier.optuna.pruners import AutomaticPruner, BasePruner, NopPruner, RulePruner
from vernier.optuna.samplers import BaseSampler, GridSampler, PartialFixedSampler, TPESampler
from vernier.optuna.storages import BaseStorage, InMemoryStorage, RDBStorage, engine_name_of, get_storage
from vernier.optuna.trial import FIXED_PARAMS, FrozenTrial, Trial, create_trial

if TYPE_CHECKING:
    import datetime

    import pandas

__all__ = [
    "MaxTrialsCallback",
    "Study",
    "StudyDirection",
    "StudySummary",
    "copy_study",
    "create_study",
    "delete_study",
    "get_all_study_names",
    "get_all_study_summaries",
    "load_study",
]

ObjectiveFunc = Callable[[Trial], Union[float, Sequence[float]]]
Callback = Callable[["Study", FrozenTrial], None]
Storage = Union[None, str, "os.PathLike[str]", BaseStorage]

_METRIC_NAMES = "study:metric_names"
_COLUMNS = (
    "number",
    "value",
    "datetime_start",
    "datetime_complete",
    "duration",
    "params",
    "user_attrs",
    "system_attrs",
    "state",
)


class Study:
    """A search for the best parameters. Made by ``create_study`` and ``load_study``. Thread-safe."""

    def __init__(
        self,
        study_name: str,
        storage: Storage,
        sampler: Optional[BaseSampler] = None,
        pruner: Optional[BasePruner] = None,
    ) -> None:
        self._storage = get_storage(storage)
        self._book = self._storage.find(study_name)
        self._set_up(sampler, pruner)

    def _set_up(self, sampler: Optional[BaseSampler], pruner: Optional[BasePruner]) -> None:
        # Without one, a study goes on as it began.
        if pruner is not None and not isinstance(pruner, BasePruner):
            raise TypeError(
                f"pruner: must be one of vernier.optuna.pruners, or of a class derived from BasePruner, got {pruner!r}"
            )
        self._has_sampler, self._has_pruner = sampler is not None, pruner is not None
        self._sampler = TPESampler() if sampler is None else _samplers.checked(sampler)
        self._pruner: BasePruner = AutomaticPruner() if pruner is None else pruner
        self._calls = _optimize.Calls()

    def __reduce__(self) -> Any:
        return _unpickled, (
            self.study_name,
            self._storage.path,
            None if self._storage.path else self._book.state(),
            self._sampler if self._has_sampler else None,
            self._pruner if self._has_pruner else None,
        )

    def __repr__(self) -> str:
        return f"<vernier.optuna.Study {self.study_name!r}>"

    # --- what it is ---
    @property
    def study_name(self) -> str:
        return self._book.name

    @property
    def _study_id(self) -> int:
        return self._book.serial

    @property
    def directions(self) -> list[StudyDirection]:
        return list(self._book.directions)

    @property
    def direction(self) -> StudyDirection:
        if self._is_multi_objective():
            raise RuntimeError("direction: the study has several objectives; use directions")
        return self._book.directions[0]

    def _is_multi_objective(self) -> bool:
        return len(self._book.directions) > 1

    @property
    def sampler(self) -> BaseSampler:
        return self._sampler

    @sampler.setter
    def sampler(self, sampler: BaseSampler) -> None:
        self._sampler, self._has_sampler = _samplers.checked(sampler), True

    @property
    def pruner(self) -> BasePruner:
        return self._pruner

    @pruner.setter
    def pruner(self, pruner: BasePruner) -> None:
        self._pruner, self._has_pruner = pruner, True

    @property
    def user_attrs(self) -> dict[str, Any]:
        self._book.refresh()
        return copy.deepcopy(self._book.user_attrs)

    @property
    def system_attrs(self) -> dict[str, Any]:
        self._book.refresh()
        return copy.deepcopy(self._book.system_attrs)

    def set_user_attr(self, key: str, value: Any) -> None:
        self._book.set_study_attrs(user={key: value})

    def set_system_attr(self, key: str, value: Any) -> None:
        self._book.set_study_attrs(system={key: value})

    @property
    def metric_names(self) -> Optional[list[str]]:
        return self.system_attrs.get(_METRIC_NAMES)

    def set_metric_names(self, metric_names: list[str]) -> None:
        """Names of the objectives, for messages and tables."""
        if len(metric_names) != len(self.directions):
            raise ValueError(f"metric_names: must be {len(self.directions)} names, got {len(metric_names)}")
        self._book.set_study_attrs(system={_METRIC_NAMES: list(metric_names)})

    # --- results ---
    def get_trials(self, deepcopy: bool = True, states: Optional[Container[TrialState]] = None) -> list[FrozenTrial]:
        """The trials, all or those in some states, in the order of their numbers."""
        found = [trial for trial in self._book.trials() if states is None or trial.state in states]
        return [copy.deepcopy(trial) for trial in found] if deepcopy else found

    @property
    def trials(self) -> list[FrozenTrial]:
        return self.get_trials()

    def _feasible(self) -> list[FrozenTrial]:
        """Completed trials that break no constraint."""
        complete = self.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return [trial for trial in complete if all(value <= 0 for value in trial.constraints.values())]

    @property
    def best_trial(self) -> FrozenTrial:
        if self._is_multi_objective():
            raise RuntimeError("best_trial: the study has several objectives; use best_trials")
        return copy.deepcopy(self._best())

    def _best(self) -> FrozenTrial:
        feasible = self._feasible()
        if not feasible:
            raise ValueError("best_trial: no trial has completed and satisfies the constraints")
        sign = -1 if self.direction is StudyDirection.MAXIMIZE else 1
        return min(feasible, key=lambda trial: sign * (trial.value or 0.0))

    @property
    def best_params(self) -> dict[str, Any]:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None
        return value

    @property
    def best_trials(self) -> list[FrozenTrial]:
        """The Pareto-optimal trials: no other one is as good in every objective and better in one."""
        signs = [-1 if direction is StudyDirection.MAXIMIZE else 1 for direction in self.directions]
        costs = [
            (tuple(sign * value for sign, value in zip(signs, trial.values or ())), trial) for trial in self._feasible()
        ]
        # In this order, a trial is dominated only by those before it, and by an optimal one if at all.
        optimal: list[tuple[tuple[float, ...], FrozenTrial]] = []
        for cost, trial in sorted(costs, key=lambda pair: pair[0]):
            if not any(other != cost and all(a <= b for a, b in zip(other, cost)) for other, _ in optimal):
                optimal.append((cost, trial))
        return [copy.deepcopy(trial) for _, trial in sorted(optimal, key=lambda pair: pair[1].number)]

    def trials_dataframe(self, attrs: Sequence[str] = _COLUMNS, multi_index: bool = False) -> pandas.DataFrame:
        """One row for each trial, with columns such as ``number``, ``value``, ``params_x``."""
        import pandas

        columns: dict[tuple[str, Any], list[Any]] = {}
        trials = self.get_trials(deepcopy=False)
        for i, trial in enumerate(trials):
            for column, value in self._cells(trial, attrs):
                columns.setdefault(column, [None] * len(trials))[i] = value
        order = {self._attribute(attr): i for i, attr in enumerate(attrs)}
        names = {name: i for i, name in enumerate(self.metric_names or ())}
        ordered = sorted(
            columns,
            key=lambda column: (order[column[0]], names.get(column[1], 0) if column[0] == "values" else 0, str(column[1])),
        )
        if multi_index:
            return pandas.DataFrame({column: columns[column] for column in ordered})
        return pandas.DataFrame(
            {"_".join(filter(None, map(str, column))).lstrip("_"): columns[column] for column in ordered}
        )

    def _attribute(self, attr: str) -> str:
        return "values" if attr == "value" and (self._is_multi_objective() or self.metric_names) else attr

    def _cells(self, trial: FrozenTrial, attrs: Sequence[str]) -> Iterable[tuple[tuple[str, Any], Any]]:
        for attr in map(self._attribute, attrs):
            value = getattr(trial, attr)
            if attr == "values":
                names: Sequence[Any] = self.metric_names or range(len(self.directions))
                value = dict(zip(names, value or [None] * len(names)))
            if isinstance(value, Mapping):
                yield from (((attr, name), one) for name, one in value.items())
            else:
                yield (attr, ""), value.name if isinstance(value, TrialState) else value

    # --- ask and tell ---
    def ask(self, fixed_distributions: Optional[dict[str, BaseDistribution]] = None) -> Trial:
        """Begins a trial. ``fixed_distributions``: parameters that it asks for at once."""
        known = {name: _modern(dist) for name, dist in (fixed_distributions or {}).items()}
        number = self._book.ask(self._plan(), known)
        try:
            self._sample(number)
        except BaseException:
            self._book.end(number, TrialState.FAIL, None, "the sampler failed")
            raise
        trial = Trial(self, number)
        for name, dist in known.items():
            trial._suggest(name, dist)
        return trial

    def _sample(self, number: int) -> None:
        """Tells the sampler of the trial, and takes values of one that chooses them itself."""
        sampler, record = self._sampler, copy.deepcopy(self._book.record(number))
        sampler.before_trial(self, record)
        if sampler._is_own():
            space = sampler.infer_relative_search_space(self, record)
            chosen = dict(sampler.sample_relative(self, record, space))

            def draw(name: str, dist: BaseDistribution) -> Any:
                if name in chosen:
                    if name not in space:
                        raise ValueError(f"sample_relative: chose {name!r}, which its search space does not have")
                    check_distribution_compatibility(space[name], dist)
                    if dist._contains(dist.to_internal_repr(chosen[name])):
                        return chosen[name]
                return sampler.sample_independent(self, copy.deepcopy(self._book.record(number)), name, dist)

            self._book.draw_by(number, {name: value for name, value in chosen.items() if name in space}, space, draw)

    def tell(
        self,
        trial: Union[Trial, int],
        values: Union[None, float, Sequence[float]] = None,
        state: Optional[TrialState] = None,
        skip_if_finished: bool = False,
    ) -> FrozenTrial:
        """Ends a trial, and returns its record. Without a valid value it becomes FAIL."""
        return copy.deepcopy(_tell.tell(self, trial, values, state, skip_if_finished))

    def _plan(self) -> Plan:
        sampler, pruner, now = self._sampler, self._pruner, self._book.plan
        stopping = pruner._rule() if isinstance(pruner, RulePruner) else NopPruner()._rule()
        return Plan(
            algorithm={"name": "random"} if sampler._is_own() else sampler._choice() if self._has_sampler else now.algorithm,
            stopping=stopping if self._has_pruner else now.stopping,
            seed=sampler._seed % 2**64,
            grid=sampler._search_space if isinstance(sampler, GridSampler) else None if self._has_sampler else now.grid,
            fixed=sampler._fixed_params if isinstance(sampler, PartialFixedSampler) else {},
        )

    def _should_prune(self, number: int) -> bool:
        if not self._has_pruner:
            return self._book.is_stopped(number)
        return bool(self._pruner.prune(self, copy.deepcopy(self._book.record(number))))

    # --- optimize ---
    def optimize(
        self,
        func: ObjectiveFunc,
        n_trials: Optional[int] = None,
        timeout: Optional[float] = None,
        n_jobs: int = 1,
        catch: Union[Iterable[type[Exception]], type[Exception]] = (),
        callbacks: Optional[Iterable[Callback]] = None,
        gc_after_trial: bool = False,
        show_progress_bar: bool = False,
    ) -> None:
        """Calls ``func(trial)`` for one trial after another.

        ``n_trials``: number of trials; None: until ``timeout``, ``stop`` or Ctrl-C. ``timeout``: seconds after which no trial
        is begun. ``n_jobs``: number of threads; -1: one for each core. ``catch``: exceptions that make a trial FAIL; others
        end the call as well. ``callbacks`` are called with the study and the trial after each one.
        """
        from vernier._loop import without_our_frames

        try:
            self._calls.run(self, func, n_trials, timeout, n_jobs, catch, callbacks, gc_after_trial, show_progress_bar)
        except KeyboardInterrupt as interrupt:
            raise without_our_frames(interrupt) from None

    def stop(self) -> None:
        """Ends ``optimize`` after the trials that are running. For objective functions and callbacks."""
        self._calls.stop()

    # --- other trials ---
    def enqueue_trial(
        self, params: dict[str, Any], user_attrs: Optional[dict[str, Any]] = None, skip_if_exists: bool = False
    ) -> None:
        """Adds a point to be tried next. Parameters that are not given are chosen when it runs."""
        if not isinstance(params, dict):
            raise TypeError(f"params: must be a dict of parameters to values, got {params!r}")
        if skip_if_exists and self._has_point(params):
            return
        self.add_trial(create_trial(state=TrialState.WAITING, system_attrs={FIXED_PARAMS: params}, user_attrs=user_attrs))

    def _has_point(self, params: Mapping[str, Any]) -> bool:
        for trial in self.get_trials(deepcopy=False):
            known = trial.system_attrs.get(FIXED_PARAMS, trial.params) if not trial.state.is_finished() else trial.params
            if known.keys() == params.keys() and all(_same(known[name], value) for name, value in params.items()):
                return True
        return False

    def add_trial(self, trial: FrozenTrial) -> None:
        """Adds a trial that ended elsewhere, or waits to be run. It gets a number of this study."""
        self.add_trials([trial])

    def add_trials(self, trials: Iterable[FrozenTrial]) -> None:
        added = [copy.deepcopy(trial) for trial in trials]
        for trial in added:
            trial._validate()
            if trial.values is not None and len(trial.values) != len(self.directions):
                raise ValueError(f"values: must be {len(self.directions)}, one for each objective, got {len(trial.values)}")
        if added:
            self._book.add(added)


class StudySummary:
    """A study without its trials."""

    def __init__(self, study: Study, include_best_trial: bool) -> None:
        trials = study.get_trials(deepcopy=False)
        starts = [trial.datetime_start for trial in trials if trial.datetime_start is not None]
        self.study_name: str = study.study_name
        self.directions: list[StudyDirection] = study.directions
        self.best_trial: Optional[FrozenTrial] = None
        if include_best_trial and not study._is_multi_objective() and study._feasible():
            self.best_trial = study.best_trial
        self.user_attrs: dict[str, Any] = study.user_attrs
        self.system_attrs: dict[str, Any] = study.system_attrs
        self.n_trials: int = len(trials)
        self.datetime_start: Optional[datetime.datetime] = min(starts, default=None)
        self._study_id = study._study_id

    @property
    def direction(self) -> StudyDirection:
        if len(self.directions) > 1:
            raise RuntimeError("direction: the study has several objectives; use directions")
        return self.directions[0]

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if isinstance(other, StudySummary) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self._study_id < other._study_id if isinstance(other, StudySummary) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return self._study_id <= other._study_id if isinstance(other, StudySummary) else NotImplemented

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


class MaxTrialsCallback:
    """Stops ``optimize`` once the study has ``n_trials`` trials in ``states``; None: in any state."""

    def __init__(self, n_trials: int, states: Optional[Container[TrialState]] = (TrialState.COMPLETE,)) -> None:
        self._n_trials = n_trials
        self._states = states

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        if len(study.get_trials(deepcopy=False, states=self._states)) >= self._n_trials:
            study.stop()


def _directions(direction: Any, directions: Any) -> list[StudyDirection]:
    if direction is not None and directions is not None:
        raise ValueError("direction and directions: give one of them")
    if directions is None:
        directions = ["minimize" if direction is None else direction]
    elif isinstance(directions, str) or len(directions) == 0:
        raise ValueError(f"directions: must be a list of at least one direction, got {directions!r}")
    found = []
    for one in directions:
        name = one.name if isinstance(one, StudyDirection) else str(one).upper()
        if name not in ("MINIMIZE", "MAXIMIZE"):
            raise ValueError(f"direction: must be 'minimize' or 'maximize', got {one!r}")
        found.append(StudyDirection[name])
    return found


def create_study(
    *,
    storage: Storage = None,
    sampler: Optional[BaseSampler] = None,
    pruner: Optional[BasePruner] = None,
    study_name: Optional[str] = None,
    direction: Union[None, str, StudyDirection] = None,
    load_if_exists: bool = False,
    directions: Optional[Sequence[Union[str, StudyDirection]]] = None,
) -> Study:
    """Creates a study. ``storage``: "sqlite:///a.db", a store of Vernier's command line; None: memory.

    DuplicatedStudyError: the storage has one of that name, and not ``load_if_exists``.
    """
    if study_name is not None and not isinstance(study_name, str):
        raise TypeError(f"study_name: must be text, got {study_name!r}")
    place = get_storage(storage)
    name = f"no-name-{uuid.uuid4()}" if study_name is None else study_name
    wanted = _directions(direction, directions)
    study = Study.__new__(Study)
    study._storage = place
    try:
        study._book = place.find(name)
        study._set_up(sampler, pruner)
    except KeyError as error:
        if "vernier.open_study" in str(error):
            raise DuplicatedStudyError(error.args[0]) from None
        first = Plan({"name": "gp"}, AutomaticPruner()._rule())
        study._book = Book(name, wanted, None, "")
        study._book._plan = first
        study._set_up(sampler, pruner)
        engine_name = engine_name_of(name) if place.path else "optuna"
        try:
            study._book = Book.create(name, wanted, study._plan(), place.path, engine_name)
        except StudyExistsError:  # Another process was faster.
            study._book = place.find(name)
        else:
            place.keep(study._book)
            _optimize.logger().info("A new study was created: %s", name)
            return study
    if not load_if_exists:
        raise DuplicatedStudyError(f"the storage has a study {name!r}; load_if_exists=True continues it")
    _optimize.logger().info("Using the study %r of the storage", name)
    return study


def load_study(
    *,
    study_name: Optional[str],
    storage: Storage,
    sampler: Optional[BaseSampler] = None,
    pruner: Optional[BasePruner] = None,
) -> Study:
    """Opens a study of a storage.  KeyError: there is none of that name. ``study_name`` may be None if there is only one."""
    place = get_storage(storage)
    if study_name is None:
        names = place.names()
        if len(names) != 1:
            raise ValueError(f"study_name: must be given, as the storage has {len(names)} studies")
        study_name = names[0]
    return Study(study_name, place, sampler, pruner)


def delete_study(*, study_name: str, storage: Storage) -> None:
    """Deletes a study with its trials.  KeyError: there is none of that name."""
    get_storage(storage).delete(study_name)


def copy_study(
    *, from_study_name: str, from_storage: Storage, to_storage: Storage, to_study_name: Optional[str] = None
) -> None:
    """Copies a study with its trials to another storage, or under another name."""
    source = load_study(study_name=from_study_name, storage=from_storage)
    target = create_study(study_name=to_study_name or from_study_name, storage=to_storage, directions=source.directions)
    target._book.set_study_attrs(user=source.user_attrs, system=source.system_attrs)
    target.add_trials(source.get_trials(deepcopy=False))


def get_all_study_names(storage: Storage) -> list[str]:
    return get_storage(storage).names()


def get_all_study_summaries(storage: Storage, include_best_trial: bool = True) -> list[StudySummary]:
    place = get_storage(storage)
    return [StudySummary(Study(name, place), include_best_trial) for name in place.names()]


def _unpickled(
    name: str, path: Optional[str], state: Any, sampler: Optional[BaseSampler], pruner: Optional[BasePruner]
) -> Study:
    if path is not None:
        return Study(name, RDBStorage(path), sampler, pruner)
    place = InMemoryStorage()
    place.keep(Book.of_state(state))
    return Study(name, place, sampler, pruner)
