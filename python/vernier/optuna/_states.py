"""States of trials and directions of objectives, with the numbers that Optuna gives them."""

from __future__ import annotations

import enum


class TrialState(enum.IntEnum):
    RUNNING = 0
    COMPLETE = 1
    PRUNED = 2
    FAIL = 3
    WAITING = 4

    def is_finished(self) -> bool:
        return self not in (TrialState.RUNNING, TrialState.WAITING)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"TrialState.{self.name}"


class StudyDirection(enum.IntEnum):
    NOT_SET = 0
    MINIMIZE = 1
    MAXIMIZE = 2

    def __str__(self) -> str:
        return f"StudyDirection.{self.name}"
