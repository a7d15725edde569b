"""The parameters that all trials have in common, for samplers of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Optional

from vernier.optuna._states import TrialState
from vernier.optuna.distributions import BaseDistribution
from vernier.optuna.trial import FrozenTrial

if TYPE_CHECKING:
    from vernier.optuna.study import Study

__all__ = ["IntersectionSearchSpace", "intersection_search_space"]


def intersection_search_space(trials: Iterable[FrozenTrial], include_pruned: bool = False) -> dict[str, BaseDistribution]:
    """The parameters that every completed trial asked for with the same distribution, by name. ``include_pruned``: pruned
    trials count, too."""
    states = (TrialState.COMPLETE, TrialState.PRUNED) if include_pruned else (TrialState.COMPLETE,)
    common: Optional[dict[str, BaseDistribution]] = None
    for trial in trials:
        if trial.state in states:
            known = trial.distributions
            common = dict(known) if common is None else {n: d for n, d in common.items() if known.get(n) == d}
    return dict(sorted((common or {}).items()))


class IntersectionSearchSpace:
    """intersection_search_space of one study."""

    def __init__(self, include_pruned: bool = False) -> None:
        self._include_pruned = include_pruned
        self._study: Optional[Study] = None

    def calculate(self, study: Study) -> dict[str, BaseDistribution]:
        """ValueError: it was called with another study before."""
        if self._study is not None and self._study._book is not study._book:
            raise ValueError("study: must be the one of the first call")
        self._study = study
        return intersection_search_space(study.get_trials(deepcopy=False), self._include_pruned)
