"""Studies of vernier.optuna as figures and progress bars see studies of Vernier: with their numbers, names and targets."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union, cast

from vernier._errors import StateError
from vernier._trials import CurvePoint, TrialList, TrialRecord, number_of
from vernier._view import Source
from vernier.optuna._states import StudyDirection, TrialState
from vernier.optuna._tree import Node, Recent, Tree, infer
from vernier.optuna.trial import FrozenTrial

if TYPE_CHECKING:
    import vernier
    from vernier._space import Parameter
    from vernier._trials import Prediction, Trial
    from vernier.optuna.study import Study

Target = Optional[Callable[[FrozenTrial], float]]

_STATES = {
    TrialState.COMPLETE: "COMPLETED",
    TrialState.PRUNED: "COMPLETED",
    TrialState.FAIL: "FAILED",
    TrialState.RUNNING: "RUNNING",
    TrialState.WAITING: "REQUESTED",
}


class _Every(Recent):
    """Figures show every trial, also those of ranges that were given up."""

    def is_settled(self, name: str) -> bool:
        return False


class StudySource(Source):
    """``target``: what is shown of a trial instead of the objectives; less of it is better, unless the study says otherwise."""

    def __init__(self, study: Study, target: Target = None, names: Sequence[str] = ()) -> None:
        from vernier.optuna.study import Study

        if not isinstance(study, Study):
            raise TypeError(f"study: must be a study, got {study!r}")
        if target is not None and not callable(target):
            raise TypeError(f"target: must be a function of a trial, got {target!r}")
        self._study = study
        self._target = target
        directions = study.directions
        if target is not None and len(directions) > 1:
            directions = [StudyDirection.MINIMIZE]
        if names and len(names) != len(directions):
            raise ValueError(f"target_names: must be {len(directions)} names, got {list(names)!r}")
        self._names = list(names or study.metric_names or _default_names(len(directions)))
        self._goals = ["maximize" if one is StudyDirection.MAXIMIZE else "minimize" for one in directions]
        self._tree, self._definition, self._seen = Tree(), "", -1

    @property
    def name(self) -> str:
        return self._study.study_name

    @property
    def objectives(self) -> dict[str, str]:
        return dict(zip(self._names, self._goals))

    @property
    def space(self) -> dict[str, Parameter]:
        return self._refreshed().space()

    @property
    def definition(self) -> str:
        from vernier._study import create_study

        space = self.space
        if space and not self._definition:
            self._definition = create_study("space", space, minimize="value").definition
        return self._definition

    @property
    def trials(self) -> TrialList:
        self._refreshed()
        trials = self._study.get_trials(deepcopy=False)
        return TrialList([record for trial in trials if (record := self._record_of(trial)) is not None])

    @property
    def best(self) -> Optional[TrialRecord]:
        """The best trial of a study with one objective."""
        known = not self._study._is_multi_objective() and self._study._feasible()
        return self.bare(self._study._best()) if known else None

    def curve(self, trial: Union[Trial, TrialRecord, int]) -> list[CurvePoint]:
        known = self._study._book.record(number_of(trial))
        return [CurvePoint(step, 0, {self._names[0]: value}) for step, value in sorted(known.intermediate_values.items())]

    def predict(self, points: Any) -> list[Prediction]:
        raise StateError("its model has other parameters")

    def _refreshed(self) -> Tree:
        """The space of all trials that have ended."""
        ended = [trial for trial in self._study.get_trials(deepcopy=False) if trial.state.is_finished()]
        if len(ended) != self._seen:
            every = _Every()
            for trial in ended:
                every.add(trial)
            tree = infer(ended, every)
            # Also those with a single value, which algorithms need not know.
            for trial in ended:
                single = {name: dist for name, dist in trial.distributions.items() if dist.single()}
                tree.nodes.update({name: Node(name, dist) for name, dist in single.items() if not tree.knows([name])})
            self._tree, self._definition, self._seen = tree, "", len(ended)
        return self._tree

    def _record_of(self, trial: FrozenTrial) -> Optional[TrialRecord]:
        """None: it completed at a point that the space does not have."""
        tree = self._tree
        if trial.state is TrialState.COMPLETE:
            point = tree.point_of(trial.params, self._study._book.drawn(trial.number))
            return None if point is None else self.bare(trial, point)
        known = {name: tree.nodes[name].encode(value) for name, value in trial.params.items() if name in tree.nodes}
        return self.bare(trial, {name: value for name, value in known.items() if value is not None})

    def bare(self, trial: FrozenTrial, params: Mapping[str, Any] = {}) -> TrialRecord:
        """The trial with these parameters of the space. A pruned one has no value, so that it is never the best."""
        is_complete = trial.state is TrialState.COMPLETE
        metrics: dict[str, float] = {}
        if is_complete:
            values = (trial.values or []) if self._target is None else [self._target(trial)]
            metrics = {name: float(value) for name, value in zip(self._names, values)}
        started, ended = _seconds(trial.datetime_start), _seconds(trial.datetime_complete)
        return TrialRecord(
            number=trial.number,
            state=_STATES[trial.state],
            params=dict(params),
            metrics=metrics,
            last={},
            reports=len(trial.intermediate_values),
            failure="USER_ERROR" if trial.state is TrialState.FAIL else None,
            message="",
            stopped="pruned" if trial.state is TrialState.PRUNED else None,
            created=started or ended or 0.0,
            started=started,
            ended=ended,
            origin="",
            predicted_mean=None,
            predicted_deviation=None,
            expected_improvement=None,
            note="",
            feasible=all(value <= 0 for value in trial.constraints.values()) if is_complete else None,
            importance={},
            value=next(iter(metrics.values()), None),
        )


def as_study(source: StudySource) -> vernier.Study:
    """For figures and progress bars, which take it."""
    return cast("vernier.Study", source)


def _default_names(count: int) -> list[str]:
    return ["Objective Value"] if count == 1 else [f"Objective {i}" for i in range(count)]


def _seconds(time: Optional[datetime.datetime]) -> Optional[float]:
    return None if time is None else time.timestamp()
