"""Exceptions under Optuna's names."""

from __future__ import annotations


class OptunaError(Exception):
    """Base class of the exceptions of this package."""


class TrialPruned(OptunaError):
    """Raised by an objective function to end a trial early. The trial ends as PRUNED, not as failed."""


class CLIUsageError(OptunaError):
    """A command was called wrongly. Never raised here."""


class StorageInternalError(OptunaError):
    """The store cannot be read or written, or another process has it open."""


class DuplicatedStudyError(OptunaError):
    """The storage has a study of this name. ``load_if_exists=True`` continues it."""


class UpdateFinishedTrialError(OptunaError, RuntimeError):
    """A trial that has ended cannot be changed."""


class ExperimentalWarning(Warning):
    """Optuna warns so of interfaces that may change. Never issued here."""


class NotSupportedError(OptunaError, NotImplementedError):
    """Vernier has no counterpart of this part of Optuna. The message says what to use instead."""
