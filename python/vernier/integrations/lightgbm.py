"""LightGBM: ``lightgbm.train``, ``lightgbm.cv`` and its estimators."""

from __future__ import annotations

from typing import Any, Optional

from lightgbm.callback import EarlyStopException

from vernier._trials import Trial
from vernier.integrations._reports import Metrics, Reports, every_of


class VernierCallback:
    """Reports after each iteration, with its number as the step, from 1, and ends the training when the trial is stopped:
    ``train`` returns the booster, with ``best_iteration`` the last one.

    ``metrics``: names of a set and a metric, "valid_0-auc"; a mapping gives them the names of the study; None: all.
    ``every``: number of iterations between reports. For a process of its own, not for distributed training.
    """

    order = 25  # After the records of evaluations, before early stopping of LightGBM's own, which would hide the last value.
    before_iteration = False

    def __init__(self, metrics: Metrics = None, *, every: int = 1, trial: Optional[Trial] = None) -> None:
        self._reports = Reports("LightGBM", metrics, trial)
        self._every = every_of(every)

    def __call__(self, env: Any) -> None:
        step = env.iteration - env.begin_iteration + 1
        if step % self._every:
            return
        # (set, metric, value, whether larger is better), in cross-validation with a deviation.
        results = env.evaluation_result_list or []
        self._reports.send(step, {f"{data}-{metric}": value for data, metric, value, *_ in results})
        if self._reports.should_stop():
            raise EarlyStopException(env.iteration, results)
