"""Parts of Optuna that are not here, and what to use instead."""

from __future__ import annotations

from vernier.optuna.exceptions import NotSupportedError

INSTEAD = {
    "artifacts": "store files beside the study, and their paths by trial.set_user_attr",
    "cli": "use the command line `vernier --store FILE`",
    "integration": "call trial.report and trial.should_prune in your training loop, or use vernier.integrations",
    "terminator": "use a callback that calls study.stop()",
}


class AbsentModuleError(NotSupportedError, ImportError):
    """Raised by the import of a part that is not here, also for programs that try whether there is one."""


def refuse(name: str) -> None:
    part = name.rpartition(".")[2]
    raise AbsentModuleError(f"vernier.optuna has no {part}: {INSTEAD[part]}")
