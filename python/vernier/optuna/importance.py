"""Importances of parameters under Optuna's names, by a Gaussian process that is fitted to the completed trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from vernier import _effects
from vernier._view import View, model_of
from vernier.optuna._source import StudySource, Target, as_study
from vernier.optuna.exceptions import NotSupportedError

if TYPE_CHECKING:
    from vernier.optuna.study import Study

__all__ = [
    "BaseImportanceEvaluator",
    "FanovaImportanceEvaluator",
    "MeanDecreaseImpurityImportanceEvaluator",
    "PedAnovaImportanceEvaluator",
    "get_param_importances",
]


def get_param_importances(
    study: Study,
    *,
    evaluator: Optional[BaseImportanceEvaluator] = None,
    params: Optional[Sequence[str]] = None,
    target: Target = None,
    normalize: bool = True,
) -> dict[str, float]:
    """How much each parameter matters, the most important first: total effects (Jansen, 1999) in the mean of a Gaussian
    process that is fitted to the completed trials. ``params``: some of them. ``target``: a function of a trial, instead of
    the objective. ``normalize``: as shares of 1; otherwise as shares of the variance of the mean.

    ValueError: the study has several objectives and there is no ``target``; fewer than two trials completed; there is no such
    parameter.
    """
    if evaluator is not None:
        raise NotSupportedError(
            f"evaluator: importances are those of Vernier's Gaussian process; leave it out, got {type(evaluator).__name__}"
        )
    view = View(as_study(checked_source(study, target)))
    metric = view.objective(None)
    names = list(view.space) if params is None else [view.parameter(name, f"params[{i}]") for i, name in enumerate(params)]
    if params is not None and not names:
        return {}
    completed = len(view.values(metric))
    if completed < 2:
        raise ValueError(f"study: must have at least two completed trials, got {completed}")
    model, _ = model_of(view, metric)
    effects = {} if model is None else _effects.total_effects(view, metric, model)
    found = {name: effects.get(name, 0.0) for name in names}
    if normalize:
        total = sum(found.values())
        # Where nothing matters, each matters as much as the others.
        found = {name: effect / total if total > 0 else 1 / len(found) for name, effect in found.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def checked_source(study: Study, target: Target, names: Sequence[str] = ()) -> StudySource:
    """What figures of one value are made of."""
    if target is None and len(getattr(study, "directions", ())) > 1:
        raise ValueError("target: must be a function of a trial, as the study has several objectives")
    return StudySource(study, target, names)


class BaseImportanceEvaluator:
    """A way to compute importances. Vernier has one, so that get_param_importances takes none of these."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass


class FanovaImportanceEvaluator(BaseImportanceEvaluator):
    """As BaseImportanceEvaluator."""


class MeanDecreaseImpurityImportanceEvaluator(BaseImportanceEvaluator):
    """As BaseImportanceEvaluator."""


class PedAnovaImportanceEvaluator(BaseImportanceEvaluator):
    """As BaseImportanceEvaluator."""
