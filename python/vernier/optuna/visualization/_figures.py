"""Optuna's figures as figures of Vernier, which plotly or matplotlib draws."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

from vernier import plots
from vernier._values import whole
from vernier._view import View
from vernier.optuna import _source
from vernier.optuna._source import Target, as_study
from vernier.optuna._states import TrialState
from vernier.optuna.exceptions import NotSupportedError
from vernier.optuna.importance import checked_source, get_param_importances

if TYPE_CHECKING:
    import vernier
    from vernier.optuna.study import Study

Studies = Union["Study", Iterable["Study"]]

_VALUE = "Objective Value"


def plot_optimization_history(
    study: Studies, *, target: Target = None, target_name: str = _VALUE, error_bar: bool = False
) -> plots.Figure:
    """The value of each trial, and the best so far; of several studies the best so far."""
    if error_bar:
        raise NotSupportedError("error_bar: no figure has it; leave it out, and each study has a line of its own")
    studies = _several(study, target, target_name)
    return plots.history(studies[0]) if len(studies) == 1 else plots.compare(*studies)


def plot_intermediate_values(study: Study) -> plots.Figure:
    """What each trial reported, step by step."""
    return plots.curves(_one(study, None, _VALUE))


def plot_slice(
    study: Study, params: Optional[Sequence[str]] = None, *, target: Target = None, target_name: str = _VALUE
) -> plots.Figure:
    """The value along each parameter, and the mean of a model."""
    shown = _one(study, target, target_name)
    return plots.slice(shown, *_chosen(shown, params))


def plot_contour(
    study: Study, params: Optional[Sequence[str]] = None, *, target: Target = None, target_name: str = _VALUE
) -> plots.Figure:
    """The mean of a model over two parameters: the two most important ones of ``params``, or of all."""
    shown = _one(study, target, target_name)
    return _over_two("contour", shown, study, params, target)


def plot_rank(
    study: Study, params: Optional[Sequence[str]] = None, *, target: Target = None, target_name: str = _VALUE
) -> plots.Figure:
    """Trials over two parameters, coloured by their rank: the two most important ones of ``params``, or of all."""
    shown = _one(study, target, target_name)
    return _over_two("rank", shown, study, params, target)


def plot_parallel_coordinate(
    study: Study, params: Optional[Sequence[str]] = None, *, target: Target = None, target_name: str = _VALUE
) -> plots.Figure:
    """A line for each trial through all parameters and the value."""
    shown = _one(study, target, target_name)
    return plots.parallel(shown, parameters=_chosen(shown, params))


def plot_param_importances(
    study: Study,
    evaluator: Any = None,
    params: Optional[Sequence[str]] = None,
    *,
    target: Target = None,
    target_name: str = _VALUE,
) -> plots.Figure:
    """How much each parameter matters, for each objective."""
    source = _source.StudySource(study)
    title = f"{source.name}: importance of the parameters"
    if len(source.objectives) == 1 or target is not None:
        targets = {target_name: target}
    else:
        targets = {name: _value_of(i) for i, name in enumerate(source.objectives)}
    if len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))) < 2:
        return plots.Figure(title, empty="fewer than two trials have completed")
    shares = {
        name: get_param_importances(study, evaluator=evaluator, params=params, target=one) for name, one in targets.items()
    }
    return plots._bars(title, shares, "total effects in a Gaussian process fitted to the completed trials")


def plot_edf(study: Studies, *, target: Target = None, target_name: str = _VALUE) -> plots.Figure:
    """The share of trials up to each value, of one study or several."""
    studies = _several(study, target, target_name)
    return plots.edf(*studies) if studies else plots.Figure("no study", empty="there is no study")


def plot_timeline(study: Study, n_recent_trials: Optional[int] = None) -> plots.Figure:
    """When each trial ran, and how it ended."""
    last = None if n_recent_trials is None else whole(n_recent_trials, "n_recent_trials", 1)
    return plots.timeline(as_study(_source.StudySource(study)), last=last)


def plot_pareto_front(
    study: Study,
    *,
    target_names: Optional[Sequence[str]] = None,
    include_dominated_trials: bool = True,
    axis_order: Optional[Sequence[int]] = None,
    constraints_func: Any = None,
    targets: Any = None,
) -> plots.Figure:
    """Two objectives of every completed trial, and those that none dominates."""
    for name, given in (("targets", targets), ("constraints_func", constraints_func)):
        if given is not None:
            raise NotSupportedError(f"{name}: the figure shows the objectives and constraints of the study; leave it out")
    if not include_dominated_trials:
        raise NotSupportedError("include_dominated_trials: the figure shows all trials; leave it out")
    source = _source.StudySource(study, None, target_names or ())
    names = list(source.objectives)
    if len(names) != 2:
        raise NotSupportedError(f"plot_pareto_front: draws two objectives, and the study has {len(names)}")
    order = [0, 1] if axis_order is None else list(axis_order)
    if sorted(order) != [0, 1]:
        raise ValueError(f"axis_order: must be [0, 1] or [1, 0], got {axis_order!r}")
    return plots.pareto(as_study(source), *(names[i] for i in order))


def plot_hypervolume_history(study: Study, reference_point: Sequence[float]) -> plots.Figure:
    """The volume that the Pareto-optimal trials dominate, after each trial."""
    if len(getattr(study, "directions", (0, 0))) < 2:
        raise ValueError("study: must have several objectives")
    return plots.hypervolume(as_study(_source.StudySource(study)), reference_point)


def plot_terminator_improvement(*arguments: Any, **options: Any) -> plots.Figure:
    raise NotSupportedError("plot_terminator_improvement: Vernier has no terminators; see plot_optimization_history")


def _value_of(objective: int) -> Target:
    return lambda trial: trial.values[objective] if trial.values else math.nan


def _one(study: Study, target: Target, target_name: str) -> vernier.Study:
    if target is not None and target_name == _VALUE:
        warnings.warn("target_name: is not given, so that the target is called 'Objective Value'", stacklevel=4)
    return as_study(checked_source(study, target, [target_name]))


def _several(study: Studies, target: Target, target_name: str) -> list[vernier.Study]:
    studies: list[Any] = list(study) if isinstance(study, Iterable) else [study]
    return [_one(one, target, target_name) for one in studies]


def _chosen(shown: vernier.Study, params: Optional[Sequence[str]]) -> list[str]:
    """Of a study without trials, nothing is known that could be wrong."""
    return list(params or ()) if shown.space else []


def _over_two(
    kind: str, shown: vernier.Study, study: Study, params: Optional[Sequence[str]], target: Target
) -> plots.Figure:
    view = View(shown)
    names = [view.parameter(name, f"params[{i}]") for i, name in enumerate(_chosen(shown, params) or view.space)]
    if len(names) < 2:
        return plots.Figure(f"{shown.name}: {kind}", empty="it needs two parameters")
    if len(names) > 2 and len(view.values(view.objective(None))) >= 2:
        names = list(get_param_importances(study, params=names, target=target))
    draw = plots.contour if kind == "contour" else plots.rank
    return draw(shown, names[0], names[1])
