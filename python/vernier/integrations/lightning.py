"""PyTorch Lightning 2, as ``lightning`` or ``pytorch_lightning``."""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from vernier._trials import Trial
from vernier.integrations._reports import Metrics, Reports


class VernierCallback(Callback):
    """Reports after each validation, or after each epoch of training if there is no validation, and stops the training when
    the trial is stopped: ``fit`` returns as at its end.

    The step is the number of the report, from 1: that of the epoch if each epoch is validated once. It goes on from a
    checkpoint. ``metrics``: names of ``trainer.callback_metrics``, such as "val_loss", as logged by ``self.log``; a mapping
    gives them the names of the study; None: all. In distributed training, process 0 reports, and all stop at once if any of
    them is told to; log with ``sync_dist=True`` what all of them measure.
    """

    def __init__(self, metrics: Metrics = None, *, trial: Optional[Trial] = None) -> None:
        super().__init__()
        self._reports = Reports("Lightning", metrics, trial)
        self._step = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        # Lightning would end the program at the next batch, before it can write its result.
        self._reports.take_sigterm()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.state.fn == "fit" and not trainer.sanity_checking:
            self._report(trainer)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.enable_validation:
            self._report(trainer)

    def state_dict(self) -> dict[str, Any]:
        return {"step": self._step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._step = int(state_dict["step"])

    def _report(self, trainer: Any) -> None:
        self._step += 1
        self._reports.send(self._step, trainer.callback_metrics, trainer.is_global_zero)
        # In each process, since from the first call on SIGTERM does not end it; and the answer must be the same in all.
        stop = self._reports.should_stop()
        if trainer.strategy.reduce_boolean_decision(stop, all=False):
            trainer.should_stop = True
