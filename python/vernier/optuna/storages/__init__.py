"""Storages: memory, or a file that is a store of Vernier's command line."""

from __future__ import annotations

import hashlib
import os
import re
import weakref
from typing import Any, Optional, Union

import vernier
from vernier._errors import InvalidValueError, StoreError
from vernier.optuna._book import Book
from vernier.optuna.exceptions import NotSupportedError
from vernier.optuna.storages import journal
from vernier.optuna.storages.journal import BaseJournalBackend

__all__ = [
    "BaseStorage",
    "InMemoryStorage",
    "JournalStorage",
    "RDBStorage",
    "RetryFailedTrialCallback",
    "RetryHeartbeatStaleTrialCallback",
    "engine_name_of",
    "get_storage",
    "journal",
]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}\Z")
# Of the names under which studies wait while they are replaced.
_REPLACEMENT = "--replacement"

_books: weakref.WeakValueDictionary[tuple[str, str], Book] = weakref.WeakValueDictionary()
# The child of a fork must open the file itself.
os.register_at_fork(after_in_child=_books.clear)


class BaseStorage:
    """Where studies are. ``path``: the file; None: memory."""

    path: Optional[str] = None

    def __init__(self) -> None:
        self._books: dict[str, Book] = {}  # Of memory.

    def names(self) -> list[str]:
        """The names of its studies."""
        if self.path is None:
            return list(self._books)
        if not os.path.exists(self.path):
            return []
        names = []
        for engine_name in vernier.study_names(self.path):
            if engine_name.endswith(_REPLACEMENT):
                engine_name = engine_name[: -len(_REPLACEMENT)]
            try:
                name = self._book(engine_name).name
            except LookupError:
                continue  # A study of Vernier itself.
            if name not in names:
                names.append(name)
        return names

    def find(self, name: str) -> Book:
        """KeyError: there is no such study."""
        try:
            if self.path is None:
                return self._books[name]
            if os.path.exists(self.path):
                return self._book(engine_name_of(name))
        except LookupError as error:
            if "vernier.open_study" in str(error):
                raise KeyError(str(error)) from None
        raise KeyError(f"there is no study {name!r} in {self.path or 'this storage'}")

    def keep(self, book: Book) -> None:
        """Makes a new study known."""
        if self.path is None:
            self._books[book.name] = book
        else:
            _books[self.path, engine_name_of(book.name)] = book

    def delete(self, name: str) -> None:
        self.find(name)
        if self.path is None:
            del self._books[name]
        else:
            vernier.delete_study(engine_name_of(name), self.path, force=True)
            _books.pop((self.path, engine_name_of(name)), None)

    def _book(self, engine_name: str) -> Book:
        assert self.path is not None
        book = _books.get((self.path, engine_name))
        if book is None:
            book = _books[self.path, engine_name] = Book.load(self.path, engine_name)
        else:
            book.refresh()
        return book


class InMemoryStorage(BaseStorage):
    """Studies that end with the program."""


class RDBStorage(BaseStorage):
    """A SQLite file: ``RDBStorage("sqlite:///a.db")``. The options of a database server have no effect."""

    def __init__(self, url: str, *options: Any, **named: Any) -> None:
        super().__init__()
        self.url = url
        self.path: Optional[str] = path_of(url)


class JournalStorage(BaseStorage):
    """A file: ``JournalStorage(JournalFileBackend("a.log"))``. It is a store of Vernier, not a journal of Optuna."""

    def __init__(self, log_storage: BaseJournalBackend) -> None:
        super().__init__()
        if not isinstance(log_storage, BaseJournalBackend):
            raise TypeError(f"log_storage: must be a JournalFileBackend, got {log_storage!r}")
        self.path: Optional[str] = path_of(log_storage.path)


class RetryFailedTrialCallback:
    """Accepted where Optuna takes it. Trials of processes that died are always tried again, once another process goes on."""

    def __init__(self, max_retry: Optional[int] = None, inherit_intermediate_values: bool = False) -> None:
        pass

    @staticmethod
    def retried_trial_number(trial: Any) -> Optional[int]:
        number: Optional[int] = trial.system_attrs.get("retried")
        return number


RetryHeartbeatStaleTrialCallback = RetryFailedTrialCallback  # Its name from Optuna 5 on.


def path_of(url: str) -> Optional[str]:
    """The file of a URL such as sqlite:///a.db; None: memory."""
    kind, separator, rest = url.partition("://")
    if not separator:
        path = url
    elif kind.split("+")[0] != "sqlite":
        raise NotSupportedError(
            f'storage: Vernier keeps studies in a SQLite file; use "sqlite:///a.db" instead of {kind}://…, or a server '
            "(vernierd) and its clients for several hosts"
        )
    else:
        path = rest.partition("?")[0][1:]
    if not path or path == ":memory:":
        return None
    path = os.path.realpath(path)
    _refuse_optuna_file(path)
    return path


def _refuse_optuna_file(path: str) -> None:
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return
    try:
        vernier.study_names(path)
    except InvalidValueError as error:
        # Looked at only now. Closing a file drops the locks that the process has on it, those of an open store too; and
        # Python's copy of SQLite does not see the locks of the library's.
        what = "journal" if _is_optuna_journal(path) else "database" if _is_optuna_database(path) else ""
        if what:
            raise StoreError(
                f"{path} is a {what} of Optuna, not a store of Vernier; give another file, and bring the trials over with "
                "optuna.load_study(…).trials and study.add_trial, or with vernier.import_study for a study of vernier.create_study"
            ) from error
        raise


def _is_optuna_journal(path: str) -> bool:
    with open(path, "rb") as start:
        return start.read(1) == b"{"


def _is_optuna_database(path: str) -> bool:
    import sqlite3

    try:
        file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        finally:
            file.close()
    except sqlite3.Error:
        return False
    return {"study_directions", "trial_params", "version_info"} <= tables


def engine_name_of(name: str) -> str:
    """The name of Vernier's study for a study's name, which may be any text."""
    if _NAME.match(name) and not name.endswith(_REPLACEMENT):
        return name
    return f"optuna-{re.sub('[^A-Za-z0-9_-]+', '-', name)[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def get_storage(storage: Union[None, str, os.PathLike[str], BaseStorage]) -> BaseStorage:
    if storage is None:
        return InMemoryStorage()
    if isinstance(storage, BaseStorage):
        return storage
    if not isinstance(storage, (str, os.PathLike)):
        raise TypeError(f'storage: must be a URL such as "sqlite:///a.db", or None, got {storage!r}')
    url = os.fspath(storage)
    file = RDBStorage(url)
    return InMemoryStorage() if file.path is None else file
