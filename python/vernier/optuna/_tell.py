"""What the end of a trial may be."""

from __future__ import annotations

import copy
import math
import warnings
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from vernier.optuna._states import TrialState
from vernier.optuna.trial import CONSTRAINTS, FrozenTrial, Trial

if TYPE_CHECKING:
    from vernier.optuna.study import Study


def tell(
    study: Study,
    trial: Union[Trial, int],
    values: Any = None,
    state: Optional[TrialState] = None,
    skip_if_finished: bool = False,
    message: str = "",
    warn: bool = True,
) -> FrozenTrial:
    number = trial.number if isinstance(trial, Trial) else trial
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"trial: must be a trial or its number, got {trial!r}")
    known = study._book.trials()
    if not 0 <= number < len(known):
        raise ValueError(f"trial: there is no trial {number}")
    record = known[number]
    if record.state.is_finished() and skip_if_finished:
        return record
    if record.state is not TrialState.RUNNING:
        raise ValueError(f"trial: must be one that runs, but trial {number} is {record.state.name}")
    numbers, problem = checked(values, len(study.directions))
    if state is TrialState.PRUNED:
        if values is not None:
            raise ValueError("values: must not be given for a pruned trial; what it reported last counts")
        last = record.intermediate_values[max(record.intermediate_values)] if record.intermediate_values else math.nan
        numbers = None if math.isnan(last) else [last]
    elif state is TrialState.FAIL:
        if values is not None:
            raise ValueError(f"values: must not be given for a failed trial, got {values!r}")
        numbers = None
    elif state is TrialState.COMPLETE:
        if problem:
            raise ValueError(problem)
    elif state is not None:
        raise ValueError(f"state: must be COMPLETE, PRUNED, FAIL or None, got {state!r}")
    elif problem:
        state, message = TrialState.FAIL, problem
        if warn:
            warnings.warn(f"trial {number} failed: {problem}", stacklevel=4)
    else:
        state = TrialState.COMPLETE
    if state in (TrialState.COMPLETE, TrialState.PRUNED):
        _evaluate_constraints(study, record)
    try:
        study.sampler.after_trial(study, copy.deepcopy(record), state, numbers)
    finally:
        ended = study._book.end(number, state, numbers, message)
    return ended


def checked(values: Any, count: int) -> tuple[Optional[list[float]], str]:
    """The values of the objectives as numbers, or what is wrong with them."""
    if values is None:
        return None, "it has no value"
    listed: Sequence[Any] = values if isinstance(values, Sequence) and not isinstance(values, str) else [values]
    if len(listed) != count:
        return None, f"it has {len(listed)} values for {count} objective{'s' if count > 1 else ''}"
    numbers = []
    for value in listed:
        try:
            numbers.append(float(value))
        except (TypeError, ValueError):
            return None, f"the value {value!r} is not a number"
    if any(map(math.isnan, numbers)):
        return None, f"the value {values!r} is not a number"
    return numbers, ""


def _evaluate_constraints(study: Study, record: FrozenTrial) -> None:
    function = study.sampler._constraints_func
    if function is None:
        return
    broken = [float(value) for value in function(record)]
    if any(map(math.isnan, broken)):
        raise ValueError(f"constraints_func: must return numbers, got {broken}")
    study._book.set_trial_attrs(record.number, system={CONSTRAINTS: broken})
