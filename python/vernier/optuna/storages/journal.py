"""Journals. Vernier keeps a study in a SQLite file, which has the name of the journal here."""

from __future__ import annotations

import os
from typing import Any, Union

from vernier.optuna.exceptions import NotSupportedError


class BaseJournalBackend:
    """Where a journal is."""

    path: str


class JournalFileBackend(BaseJournalBackend):
    """A file. ``lock_obj`` has no effect."""

    def __init__(self, file_path: Union[str, os.PathLike[str]], lock_obj: Any = None) -> None:
        self.path: str = os.fspath(file_path)


class JournalFileOpenLock:
    """Accepted where Optuna takes it, without effect."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass


class JournalFileSymlinkLock(JournalFileOpenLock):
    """Accepted where Optuna takes it, without effect."""


class JournalRedisBackend(BaseJournalBackend):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise NotSupportedError(
            'JournalRedisBackend: Vernier keeps studies in a SQLite file; use storage="sqlite:///a.db", or a server (vernierd)'
        )
