"""Studies of other tools."""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Iterator, Optional, Union

from vernier import _values
from vernier._errors import InvalidValueError, for_python
from vernier._file import handle_of
from vernier._store import actor, logger
from vernier._study import Names, Storage, Study, _names, _path_of, check_folder

Path = Union[str, "os.PathLike[str]"]

# Copies an SQLite database, as it is after the last transaction. Exit status 2: the file is none.
_COPY = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], uri=True).execute("VACUUM INTO ?", sys.argv[2:])
except sqlite3.OperationalError as error:
    sys.exit(str(error))
except sqlite3.DatabaseError:
    sys.exit(2)
"""


def import_study(
    path: Path,
    *,
    name: Optional[str] = None,
    study: Optional[str] = None,
    maximize: Names = None,
    minimize: Names = None,
    space: Optional[Path] = None,
    parameters: Names = None,
    format: Optional[str] = None,
    storage: Storage = None,
) -> Study:
    """Imports a study of another tool with its trials: all of it or nothing.

    ``path``: an SQLite storage or a journal file of Optuna, a datastore of open-source Vizier, a folder of Ray Tune, a
    definition of Katib, Determined or Weights & Biases, or a table of trials in CSV. ``name``: the name here.
    ``study``: which of the studies in the file. ``maximize``, ``minimize``: the objectives, if the file does not say.
    ``space``: a study file with the parameters, if the file does not say; ``parameters``: columns of a table.
    ``format``: if it cannot be found out, as ``vernier study import`` names it. ``storage``: as of ``create_study``.

    What is otherwise than in the file is logged to the logger ``vernier``, one warning each.

    InvalidValueError (a ValueError): the file is damaged, or cannot be held. NotFoundError: there is no such file or study.
    StudyExistsError: the name is taken.
    """
    objectives = [f"maximize:{metric}" for metric in _names(maximize, "maximize")]
    objectives += [f"minimize:{metric}" for metric in _names(minimize, "minimize")]
    file = _path_of(storage)
    if file is not None:
        check_folder(file)
    handle = handle_of(file, creates=True)
    with _readable(_values.path(path, "path")) as readable, handle.use_store() as core:
        study_id, stored, notes = core.import_study(
            readable,
            _values.text(name or "", "name"),
            _values.text(study or "", "study"),
            _values.text(format or "", "format"),
            objectives,
            _values.path(space or "", "space"),
            _names(parameters, "parameters"),
            not handle.is_shared,
            actor(),
        )
        for note in notes:
            logger().warning("study '%s': %s", stored, for_python(note))
        return handle.study(study_id, stored)


@contextlib.contextmanager
def _readable(path: str) -> Iterator[str]:
    """A path by which to read the file: its own, or that of a copy if this process has the file open, as a program that uses
    Optuna has its database. To open and close it again would release the locks that SQLite holds on it in this process."""
    if not _is_open_here(path):
        yield path
        return
    import subprocess
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
        copy = os.path.join(folder, os.path.basename(path))
        source = pathlib.Path(path).absolute().as_uri() + "?mode=ro"
        done = subprocess.run([sys.executable, "-I", "-c", _COPY, source, copy], stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 2):
            why = done.stderr.strip().rpartition("\n")[2]
            raise InvalidValueError(f"path: {path} is open in this program, which must close it first: {why}", field="path")
        try:
            yield copy if done.returncode == 0 else path
        except InvalidValueError as error:
            raise InvalidValueError(str(error).replace(copy, path), error.reason, error.field) from None


def _is_open_here(path: str) -> bool:
    try:
        file = os.stat(path)
    except OSError:
        return False
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # It has been closed meanwhile.
            if os.path.samestat(os.fstat(int(number)), file):
                return True
    return False
