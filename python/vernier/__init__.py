"""Hyperparameter tuning.

    import vernier

    study = vernier.create_study("digits", {"lr": vernier.Float(1e-5, 0.1, log=True), "opt": ["sgd", "adam"]},
                                 maximize="accuracy")
    study.optimize(train, trials=50)      # train(trial) returns the accuracy with trial.params
    print(study.best)

In a program that `vernier run` starts: `vernier.params()`, `vernier.report(step=12, accuracy=0.93)`,
`vernier.should_stop()`.
"""

from vernier._errors import (
    ExhaustedError,
    InvalidValueError,
    LeaseLostError,
    NotFoundError,
    ParallelLimitError,
    StateError,
    StoreBusyError,
    StoreError,
    StudyExistsError,
    TooManyFailuresError,
    TrialStopped,
    VernierError,
)
from vernier._space import Bool, Categorical, Discrete, Float, Int, Parameter
from vernier._study import Replay, Study, create_study, delete_study, open_study, study_names
from vernier._trials import CurvePoint, Prediction, Trial, TrialList, TrialRecord
from vernier.trainer import params, report, should_stop

__version__ = "0.1.0"

__all__ = [
    "Bool",
    "Categorical",
    "CurvePoint",
    "Discrete",
    "ExhaustedError",
    "Float",
    "Int",
    "InvalidValueError",
    "LeaseLostError",
    "NotFoundError",
    "ParallelLimitError",
    "Parameter",
    "Prediction",
    "Replay",
    "StateError",
    "StoreBusyError",
    "StoreError",
    "Study",
    "StudyExistsError",
    "TooManyFailuresError",
    "Trial",
    "TrialList",
    "TrialRecord",
    "TrialStopped",
    "VernierError",
    "create_study",
    "delete_study",
    "open_study",
    "params",
    "report",
    "should_stop",
    "study_names",
]
