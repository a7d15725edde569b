"""Keras, of version 3 or as a part of TensorFlow."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional

import keras

from vernier._trials import Trial
from vernier.integrations._reports import Metrics, Reports


class VernierCallback(keras.callbacks.Callback):
    """Reports after each epoch, with the number of the epoch as the step, from 1, and stops the training when the trial is
    stopped: ``fit`` returns, and the model is that of the last epoch.

    ``metrics``: names of logs, such as "val_accuracy"; a mapping gives them the names of the study,
    ``{"accuracy": "val_accuracy"}``; None: all logs. An epoch without validation (``validation_freq``) is not reported if a
    metric of validation is wanted.

    Under a strategy of several workers (``TF_CONFIG``) only the chief reports, and no worker is stopped by the callback, since
    all must end at the same step: there Vernier ends the programs themselves.
    """

    def __init__(self, metrics: Metrics = None, *, trial: Optional[Trial] = None) -> None:
        super().__init__()
        self._reports = Reports("Keras", metrics, trial)
        self._is_chief, self._is_alone = _place()
        self._logs: Optional[dict[str, Any]] = None  # Of the last epoch, if it was not reported.
        self._has_reported = False

    def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        if not self._is_chief:
            return
        self._logs = dict(logs or {})
        lacking = self._reports.lacks(self._logs)
        is_unvalidated = not any(name.startswith("val_") for name in self._logs)
        if lacking and is_unvalidated and all(name.startswith("val_") for name in lacking):
            return
        self._reports.send(epoch + 1, self._logs)
        self._has_reported = True
        if self._is_alone and self._reports.should_stop():
            self.model.stop_training = True

    def on_train_end(self, logs: Optional[Mapping[str, Any]] = None) -> None:
        if self._logs and not self._has_reported:
            raise self._reports.missing(self._logs)


def _place() -> tuple[bool, bool]:
    """Whether this process is the chief, and whether it is the only worker."""
    config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    cluster, task = config.get("cluster", {}), config.get("task", {})
    workers = sum(len(cluster.get(role, ())) for role in ("chief", "master", "worker"))
    has_chief = bool(cluster.get("chief") or cluster.get("master"))
    role, index = task.get("type", "chief"), int(task.get("index", 0))
    is_chief = role in ("chief", "master") or (not has_chief and role == "worker" and index == 0)
    return is_chief, workers <= 1
