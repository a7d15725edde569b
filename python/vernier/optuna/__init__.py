"""Optuna's interface on Vernier's optimiser.

    import vernier.optuna as optuna

A program written for Optuna runs with this line changed. docs/guides/coming_from_optuna.md says what differs.
"""

from vernier.optuna import _absent, distributions, exceptions, logging, pruners, samplers, storages, study, trial
from vernier.optuna.exceptions import TrialPruned
from vernier.optuna.study import (
    Study,
    copy_study,
    create_study,
    delete_study,
    get_all_study_names,
    get_all_study_summaries,
    load_study,
)
from vernier.optuna.trial import Trial, create_trial

# The version of Optuna whose interface this is.
__version__ = "5.0.0"

__all__ = [
    "Study",
    "Trial",
    "TrialPruned",
    "copy_study",
    "create_study",
    "create_trial",
    "delete_study",
    "distributions",
    "exceptions",
    "get_all_study_names",
    "get_all_study_summaries",
    "load_study",
    "logging",
    "pruners",
    "samplers",
    "storages",
    "study",
    "trial",
]

# Imported when they are needed.
_LATER = ("importance", "search_space", "visualization")


def __getattr__(name: str) -> object:
    if name in (*_LATER, *_absent.INSTEAD):
        import importlib

        return importlib.import_module(f"vernier.optuna.{name}")
    raise AttributeError(f"module 'vernier.optuna' has no attribute {name!r}")
