"""The Trainer of Hugging Face's Transformers."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from transformers import TrainerCallback

from vernier._trials import Trial
from vernier.integrations._reports import Metrics, Reports


class VernierCallback(TrainerCallback):
    """Reports after each evaluation, with its number as the step, from 1, and stops the training when the trial is stopped:
    ``train`` returns as at its end. The number goes on from a checkpoint.

    ``metrics``: names as in ``trainer.evaluate()``, such as "eval_loss"; a mapping gives them the names of the study; None:
    all. If there are several sets to evaluate, the metrics of all of them are reported together. In distributed training,
    process 0 reports, and all stop at once if any of them is told to.
    """

    def __init__(self, metrics: Metrics = None, *, trial: Optional[Trial] = None) -> None:
        self._reports = Reports("the Trainer", metrics, trial)
        self._seen: dict[str, float] = {}  # Of the last evaluation, if it was not reported.
        self._at = -1

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Optional[Mapping[str, float]] = None, **rest: Any
    ) -> None:
        if self._at != state.global_step:
            self._check()
            self._seen, self._at = {}, state.global_step
        self._seen.update(metrics or {})
        if self._reports.lacks(self._seen):
            return  # They may belong to another set.
        evaluations = {entry.get("step") for entry in state.log_history if any(k.startswith("eval_") for k in entry)}
        self._reports.send(len(evaluations | {state.global_step}), self._seen, state.is_world_process_zero)
        if _any(self._reports.should_stop()):
            control.should_training_stop = True
        self._seen = {}

    def on_step_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self._check()

    def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self._check()

    def _check(self) -> None:
        if self._seen:
            raise self._reports.missing(self._seen)


def _any(stop: bool) -> bool:
    """Whether it is true in any process."""
    import torch.distributed as distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return stop
    answers: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(answers, stop)
    return any(answers)
