"""Hyperparameter tuning.

    import vernier

    study = vernier.create_study("digits", {"lr": vernier.Float(1e-5, 0.1, log=True), "opt": ["sgd", "adam"]},
                                 maximize="accuracy")
    study.optimize(train, trials=50)      # train(trial) returns the accuracy with trial.params
    print(study.best)

In a program that `vernier run` starts: `vernier.params()`, `vernier.report(step=12, accuracy=0.93)`,
`vernier.should_stop()`.
"""

from typing import TYPE_CHECKING, Any

from vernier._errors import (
    AccessDeniedError,
    AlgorithmError,
    ExhaustedError,
    InvalidValueError,
    LeaseLostError,
    NotFoundError,
    ParallelLimitError,
    ServerUnavailableError,
    StateError,
    StoreBusyError,
    StoreError,
    StudyExistsError,
    TooManyFailuresError,
    TrialStopped,
    VernierError,
)
from vernier._imports import import_study
from vernier._own import (
    Curve,
    EarlierStudy,
    FinishedTrial,
    Optimizer,
    PendingTrial,
    Problem,
    SearchSpace,
    StoppingRule,
    Suggestion,
    Suggestions,
    SuggestRequest,
    Verdict,
)
from vernier._space import Bool, Categorical, Discrete, Float, Int, Parameter
from vernier._study import Replay, Study, create_study, delete_study, open_study, study_names
from vernier._trials import CurvePoint, Prediction, Trial, TrialList, TrialRecord
from vernier.trainer import params, report, should_stop

if TYPE_CHECKING:
    from vernier import plots
    from vernier._server import Event, Job, LogLine, Server, ServerStatus, ServerStudy, connect

__version__ = "0.1.0"

# Imported when they are used, as figures are, so that programs without a server do not load what it needs.
_OF_SERVERS = ("Event", "Job", "LogLine", "Server", "ServerStatus", "ServerStudy", "connect")


def __getattr__(name: str) -> Any:
    if name == "plots":
        import importlib

        return importlib.import_module("vernier.plots")
    if name not in _OF_SERVERS:
        raise AttributeError(f"module 'vernier' has no attribute {name!r}")
    from vernier import _server

    return getattr(_server, name)


__all__ = [
    "AccessDeniedError",
    "AlgorithmError",
    "Bool",
    "Categorical",
    "Curve",
    "CurvePoint",
    "Discrete",
    "EarlierStudy",
    "Event",
    "ExhaustedError",
    "FinishedTrial",
    "Float",
    "Int",
    "InvalidValueError",
    "Job",
    "LeaseLostError",
    "LogLine",
    "NotFoundError",
    "Optimizer",
    "ParallelLimitError",
    "Parameter",
    "PendingTrial",
    "Prediction",
    "Problem",
    "Replay",
    "SearchSpace",
    "Server",
    "ServerStatus",
    "ServerStudy",
    "ServerUnavailableError",
    "StateError",
    "StoppingRule",
    "StoreBusyError",
    "StoreError",
    "Study",
    "StudyExistsError",
    "SuggestRequest",
    "Suggestion",
    "Suggestions",
    "TooManyFailuresError",
    "Trial",
    "TrialList",
    "TrialRecord",
    "TrialStopped",
    "Verdict",
    "VernierError",
    "connect",
    "create_study",
    "delete_study",
    "import_study",
    "open_study",
    "params",
    "plots",
    "report",
    "should_stop",
    "study_names",
]
