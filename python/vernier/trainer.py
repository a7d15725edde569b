"""For training programs that Vernier runs (`vernier run`, `vernierd`): what to train with, and how to report it.

Needs the environment that the engine gives to a program, and nothing else. A program that is started by hand runs as
well: `params` returns its defaults, `report` prints, `should_stop` is False.
"""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any, Mapping, Optional

from vernier import _values
from vernier._errors import InvalidValueError, LeaseLostError, StateError
from vernier._values import Value

if TYPE_CHECKING:
    from vernier import _remote

_lock = threading.Lock()
_last_step = 0
_is_told = False  # SIGTERM has arrived.
_has_handler = False
_reporter: Optional[_remote.Reporter] = None
# Seconds for which a report waits for the server. A choice: longer than a restart takes.
_PATIENCE = 600.0


def params(**defaults: Value) -> dict[str, Value]:
    """Returns the values of this trial's active parameters: ``vernier.params()["lr"]``. ``defaults`` are the values of
    parameters that the trial does not have, and of all where Vernier does not run the program."""
    given = os.environ.get("VERNIER_PARAMETERS", "")
    try:
        values = json.loads(given) if given else {}
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise InvalidValueError(f"$VERNIER_PARAMETERS: must be a JSON object, got {given!r}", field="VERNIER_PARAMETERS")
    return {**defaults, **values}


def report(step: Optional[int] = None, metrics: Optional[Mapping[str, Any]] = None, **values: Any) -> None:
    """Reports metrics at a step: ``vernier.report(step=12, accuracy=0.93)``. Without ``step``: the one after the last, 1
    at first. Names that are no Python names go into ``metrics``: ``vernier.report(metrics={"val/acc": 0.93})``.

    Under Vernier the report is appended to the file that the engine reads. With ``VERNIER_REPORT=server`` in the environment it
    is sent to the server, whose answer ``should_stop`` then knows at once; a server that is away is waited for, up to ten
    minutes. Elsewhere it is printed, as the line ``step=12 accuracy=0.93``, which the engine would also read.
    """
    global _last_step
    measured = _values.merged(metrics, values)
    with _lock:
        number = _values.whole(_last_step + 1 if step is None else step, "step", 0)
        path = os.environ.get("CLOUD_ML_HP_METRIC_FILE", "")
        if os.environ.get("VERNIER_REPORT", "") == "server":
            _send(number, measured)
        elif not path:
            print(f"step={number}", *(f"{name}={value!r}" for name, value in measured.items()), flush=True)
        else:
            _append(path, number, measured)
        _last_step = max(_last_step, number)


def should_stop() -> bool:
    """Whether the program should end now: the stopping rule or a user has stopped the trial.

    Vernier stops a program by SIGTERM, and by SIGKILL after a grace period. From the first call on, in the main thread,
    SIGTERM no longer ends the program by itself, unless it has a handler of its own: the program must call this function
    often, and end when it returns True.
    """
    if _is_told or _has_verdict():
        return True
    _handle_sigterm()
    return False


def _send(step: int, measured: dict[str, float]) -> None:
    global _reporter, _is_told
    if _reporter is None:
        from vernier import _remote

        address, name, token = (os.environ.get(f"VERNIER_{key}", "") for key in ("ADDRESS", "TRIAL_NAME", "TOKEN"))
        parts = name.split("/")
        if not address or not token or len(parts) != 4:
            raise StateError("VERNIER_REPORT=server: works only in a program that a server runs")
        _reporter = _remote.Reporter(address, parts[1], int(parts[3]), token, _PATIENCE)
    try:
        if _reporter.report(step, measured):
            _is_told = True
    except LeaseLostError:
        _is_told = True  # The attempt has ended, or another one has taken its place.


def _append(path: str, step: int, measured: Mapping[str, float]) -> None:
    # The form of the package cloudml-hypertune, which JSON's lack of nan and inf makes text.
    line: dict[str, Any] = {"timestamp": time.time(), "global_step": str(step)}
    for name, value in measured.items():
        line[name] = value if math.isfinite(value) else str(value)
    data = (json.dumps(line) + "\n").encode()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # One write, so that lines of several processes do not mix.
        os.write(file, data)
    finally:
        os.close(file)


def _has_verdict() -> bool:
    """Whether the attempt has been judged, which is written before its programs are stopped."""
    replica = os.environ.get("VERNIER_REPLICA_DIRECTORY", "")
    return bool(replica) and os.path.exists(os.path.join(os.path.dirname(replica.rstrip("/")), "verdict.json"))


def _on_sigterm(_signal: int, _frame: object) -> None:
    global _is_told
    _is_told = True


def _handle_sigterm(replaces: bool = False) -> None:
    """``replaces``: also where the program, or a framework, has a handler of its own."""
    global _has_handler
    if (_has_handler and not replaces) or not os.environ.get("VERNIER_TRIAL", ""):
        return
    if threading.current_thread() is not threading.main_thread():
        return
    _has_handler = True
    if replaces or signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)
