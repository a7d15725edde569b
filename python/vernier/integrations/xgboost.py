"""XGBoost: ``xgboost.train``, ``xgboost.cv`` and its estimators."""

from __future__ import annotations

from typing import Any, Optional

import xgboost

from vernier._trials import Trial
from vernier.integrations._reports import Metrics, Reports, every_of


class VernierCallback(xgboost.callback.TrainingCallback):
    """Reports after each round of boosting, with its number as the step, from 1, and ends the training when the trial is
    stopped: ``train`` returns the booster.

    ``metrics``: names as XGBoost prints them, the set and the metric, "validation-auc"; a mapping gives them the names of the
    study; None: all. ``every``: number of rounds between reports. In distributed training, process 0 reports, and all end at
    once if any of them is told to.
    """

    def __init__(self, metrics: Metrics = None, *, every: int = 1, trial: Optional[Trial] = None) -> None:
        super().__init__()
        self._reports = Reports("XGBoost", metrics, trial)
        self._every = every_of(every)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if (epoch + 1) % self._every:
            return False
        # In cross-validation a score is a pair of mean and deviation.
        last = {
            f"{data}-{metric}": scores[-1][0] if isinstance(scores[-1], tuple) else scores[-1]
            for data, log in evals_log.items()
            for metric, scores in log.items()
        }
        self._reports.send(epoch + 1, last, xgboost.collective.get_rank() == 0)
        stop = self._reports.should_stop()
        if xgboost.collective.is_distributed():
            stop = _any(stop)
        if stop and model.attr("best_iteration") is None:
            model.set_attr(best_iteration=str(epoch))  # `cv` needs one if a callback ends it.
        return stop


def _any(stop: bool) -> bool:
    """Whether it is true in any process."""
    import numpy

    answer = xgboost.collective.allreduce(numpy.array([int(stop)]), xgboost.collective.Op.MAX)
    return bool(answer[0])
