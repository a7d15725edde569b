"""Studies of other tools."""

from __future__ import annotations

import os
from typing import Optional, Union

from vernier import _values
from vernier._file import handle_of
from vernier._store import actor, logger
from vernier._study import Names, Storage, Study, _names, _path_of, check_folder

Path = Union[str, "os.PathLike[str]"]


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
    handle = handle_of(file)
    with handle.use_store() as core:
        study_id, stored, notes = core.import_study(
            _values.path(path, "path"),
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
            logger().warning("study '%s': %s", stored, note)
        return handle.study(study_id, stored)
