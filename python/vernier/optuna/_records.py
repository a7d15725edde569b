"""Records of trials as text, for the metadata of a store."""

from __future__ import annotations

import datetime
import json
from typing import Any, Mapping, Optional

from vernier.optuna._states import TrialState
from vernier.optuna.distributions import distribution_to_json, json_to_distribution
from vernier.optuna.trial import FrozenTrial


def to_text(trial: FrozenTrial, drawn: Mapping[str, Any]) -> str:
    """All of a trial but its curve. Raises TypeError for a choice or an attribute that JSON does not have."""
    dists = trial.distributions
    fields = {
        "number": trial.number,
        "state": trial.state.name,
        "values": trial.values,
        # By their internal numbers, since a choice may be True or 1.
        "params": {
            name: dists[name].to_internal_repr(value) if _has(dists[name], value) else [value]
            for name, value in trial.params.items()
        },
        "distributions": {name: distribution_to_json(dist) for name, dist in dists.items()},
        "user_attrs": trial.user_attrs,
        "system_attrs": trial.system_attrs,
        "start": _time_text(trial.datetime_start),
        "end": _time_text(trial.datetime_complete),
        "drawn": dict(drawn),
    }
    return json.dumps(fields)


def number_of(text: str) -> int:
    """The number of the trial; it comes first in the text."""
    return int(text[text.index(":") + 1 : text.index(",")])


def from_text(text: str, curve: Mapping[int, float]) -> tuple[FrozenTrial, dict[str, Any]]:
    """The trial, and what was drawn for it."""
    fields = json.loads(text)
    dists = {name: json_to_distribution(dist) for name, dist in fields["distributions"].items()}
    trial = FrozenTrial(
        number=fields["number"],
        trial_id=fields["number"],
        state=TrialState[fields["state"]],
        value=None,
        values=fields["values"],
        datetime_start=_time(fields["start"]),
        datetime_complete=_time(fields["end"]),
        params={
            name: value[0] if isinstance(value, list) else dists[name].to_external_repr(value)
            for name, value in fields["params"].items()
        },
        distributions=dists,
        user_attrs=fields["user_attrs"],
        system_attrs=fields["system_attrs"],
        intermediate_values=dict(curve),
    )
    return trial, fields["drawn"]


def _has(dist: Any, value: Any) -> bool:
    """Whether an internal number stands for the value. An enqueued one may lie outside its range."""
    try:
        return bool(dist._contains(dist.to_internal_repr(value)))
    except ValueError:
        return False


def _time_text(time: Optional[datetime.datetime]) -> Optional[str]:
    return None if time is None else time.isoformat()


def _time(text: Optional[str]) -> Optional[datetime.datetime]:
    return None if text is None else datetime.datetime.fromisoformat(text)
