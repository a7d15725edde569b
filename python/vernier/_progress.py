"""Progress of ``Study.optimize``: a line on a terminal, or a picture in a notebook."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Sized, TextIO

from vernier import _values
from vernier._errors import VernierError
from vernier._figure import escaped, short, shortened

if TYPE_CHECKING:
    from vernier._study import Study
    from vernier._trials import TrialRecord

# Seconds between two looks whether there is something new to show.
_TERMINAL_ROUND = 0.1
_NOTEBOOK_ROUND = 0.5
# A call that is shorter than this shows nothing, unless it was asked to.
_PATIENCE = 0.5
# Seconds to wait for the last drawing.
_LAST_ROUND = 2.0
# A picture takes at most this share of the time.
_SHARE = 0.1


class Progress:
    """Counts trials, and shows nothing. Its subclasses draw in a thread of their own, so that quick trials stay quick."""

    _round = _TERMINAL_ROUND

    def __init__(self, study: Study, trials: Optional[int], timeout: Optional[float], is_asked: bool) -> None:
        self.study = study
        self.trials = trials
        self.timeout = timeout
        self.running: Sized = ()
        """The open trials."""
        self.done = self.failed = self.stopped = 0
        self.best: Optional[tuple[float, int]] = None
        [(self._metric, goal), *_] = study.objectives.items()
        self._sign = 1 if goal == "maximize" else -1
        self._is_asked = is_asked
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def add(self, record: TrialRecord) -> None:
        """Counts a trial that has ended."""
        with self._lock:
            self.done += 1
            self.failed += record.state in ("FAILED", "INFEASIBLE")
            self.stopped += record.state == "COMPLETED" and record.stopped is not None
            self._compare(record)

    def _compare(self, record: TrialRecord) -> None:
        value = record.metrics.get(self._metric)
        if record.feasible and value is not None and (self.best is None or self._sign * (value - self.best[0]) > 0):
            self.best = (value, record.number)

    def __enter__(self) -> Progress:
        self.began = time.monotonic()
        if type(self) is not Progress:
            self._begin()
            try:
                self._thread = threading.Thread(target=self._draw_often, name="vernier-progress", daemon=True)
                self._thread.start()
            except BaseException:  # An interrupt may come at any moment.
                self._over.set()
                self._end()
                raise
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        self._over.set()
        if self._thread is not None:
            try:
                self._thread.join(_LAST_ROUND)
            finally:
                self._end()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    @property
    def left(self) -> Optional[float]:
        """Seconds until the end, as far as it can be told."""
        bounds = []
        if self.timeout is not None:
            bounds.append(max(0.0, self.timeout - self.elapsed))
        if self.trials is not None and self.done:
            bounds.append(self.elapsed / self.done * max(0, self.trials - self.done))
        return min(bounds) if bounds else None

    def counts(self) -> list[str]:
        """What there is to say, the most important first."""
        parts = []
        if self.best is not None:
            parts.append(f"best {short(self.best[0])} (trial {self.best[1]})")
        for number, what in ((self.failed, "failed"), (self.stopped, "stopped"), (len(self.running), "running")):
            if number:
                parts.append(f"{number} {what}")
        return parts

    def times(self) -> str:
        left = None if self._over.is_set() else self.left
        return _clock(self.elapsed) + ("" if left is None else f", {_clock(left)} left")

    # --- for subclasses ---
    def _begin(self) -> None: ...
    def _draw(self) -> None: ...
    def _end(self) -> None: ...

    def _draw_often(self) -> None:
        # Here, since it may take a while: the study may be on a server.
        with contextlib.suppress(VernierError):
            best = self.study.best
            if best is not None:
                with self._lock:
                    self._compare(best)
        while not self._over.wait(self._round):
            if self._is_asked or self.elapsed >= _PATIENCE:
                self._draw()


def progress_of(study: Study, asked: Optional[bool], trials: Optional[int], timeout: Optional[float]) -> Progress:
    kind = Progress
    if asked is not None:
        asked = _values.flag(asked, "progress")
    if asked is not False:
        if _is_notebook():
            kind = NotebookProgress
        elif asked or (_is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"):
            kind = TerminalProgress
    return kind(study, trials, timeout, bool(asked))


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # None, or closed.
        return False


def _is_notebook() -> bool:
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# --- terminal ---
class TerminalProgress(Progress):
    """The last line of the terminal. What is printed or logged meanwhile appears above it."""

    def _begin(self) -> None:
        self._stream: TextIO = sys.stderr
        self._is_terminal = _is_terminal(self._stream)
        self._shown = ""
        self._is_hidden = False
        # Reentrant: an interrupt may come while it is held.
        self._writing = threading.RLock()
        self._undo = contextlib.ExitStack()
        if self._is_terminal:
            self._undo = _above(self)

    def _draw(self) -> None:
        if self._is_terminal:
            with self._writing:
                if not self._is_hidden:
                    self._show(self._line())

    def _end(self) -> None:
        self._undo.close()
        with self._writing:
            if self._is_terminal and self._is_hidden:
                self._write("\n")
            if self._is_terminal and (self._shown or self._is_asked or self.elapsed >= _PATIENCE):
                self._show(self._line())
                self._write("\n")
            elif self._is_asked and not self._is_terminal:
                self._write(self._line() + "\n")

    def _show(self, line: str) -> None:
        # Only what changed, in one piece: nothing flickers.
        if line != self._shown:
            self._write(f"\r{line}\x1b[K")
            self._shown = line

    def _write(self, text: str) -> None:
        # The terminal may be gone; the study goes on.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()

    def write_above(self, stream: TextIO, text: str) -> None:
        with self._writing:
            if self._shown:
                self._write("\r\x1b[K")
                self._shown = ""
            stream.write(text)
            stream.flush()
            # The rest of a line may follow, and would be written into ours.
            self._is_hidden = not text.endswith("\n")

    def _line(self) -> str:
        columns = shutil.get_terminal_size().columns - 1 if self._is_terminal else 200
        total = "" if self.trials is None else f"/{self.trials}"
        first, bar = f"{shortened(self.study.name)}: {self.done}{total} trials", self._bar(columns)
        parts = [first, *([bar] if bar else []), *self.counts(), self.times()]
        # What is less important goes first if there is no room: counts from the end, the bar, the times.
        while len(parts) > 1 and len("  ".join(parts)) > columns:
            parts.pop(-2 if len(parts) > 2 else -1)
        return "  ".join(parts)[: max(columns, 0)]

    def _bar(self, columns: int) -> str:
        """Always of the same width on the same terminal, so that it does not jump."""
        width = min(30, columns // 6)
        if not self.trials or width < 8 or not self._is_terminal:
            return ""
        filled, empty = ("█", "░") if "utf" in (getattr(self._stream, "encoding", "") or "").lower() else ("#", "-")
        full = width * min(self.done, self.trials) // self.trials
        return filled * full + empty * (width - full)


class _Above:
    """A terminal's stream whose text appears above the line of progress, by whole lines, so that threads do not mix theirs."""

    def __init__(self, progress: TerminalProgress, stream: TextIO) -> None:
        self._progress = progress
        self._stream = stream
        self._process = os.getpid()
        # The beginnings of lines, by thread.
        self._begun: dict[int, str] = {}

    def write(self, text: str) -> int:
        # The child of a fork has the lock as it was, for ever.
        if os.getpid() != self._process:
            return self._stream.write(text)
        whole, newline, rest = (self._begun.pop(threading.get_ident(), "") + text).rpartition("\n")
        if rest:
            self._begun[threading.get_ident()] = rest
        if newline:
            self._progress.write_above(self._stream, whole + newline)
        return len(text)

    def flush(self) -> None:
        begun = "" if os.getpid() != self._process else self._begun.pop(threading.get_ident(), "")
        if begun:
            self._progress.write_above(self._stream, begun)
        self._stream.flush()

    def finish(self) -> None:
        """Writes what any thread has begun."""
        for begun in [self._begun.pop(thread) for thread in list(self._begun)]:
            self._progress.write_above(self._stream, begun)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _above(progress: TerminalProgress) -> contextlib.ExitStack:
    """Until it is closed, sys.stdout, sys.stderr and the handlers of logging that write to them write above the line."""
    undo = contextlib.ExitStack()
    replaced: dict[int, _Above] = {}
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if _is_terminal(stream):
            replaced[id(stream)] = _Above(progress, stream)
            undo.callback(replaced[id(stream)].finish)
            _set(undo, sys, name, replaced[id(stream)])
    if "logging" in sys.modules:
        import logging

        for handler in {*logging.root.handlers, *logging.getLogger("vernier").handlers}:
            stream = getattr(handler, "stream", None)
            if id(stream) in replaced:
                _set(undo, handler, "stream", replaced[id(stream)])
    return undo


def _set(undo: contextlib.ExitStack, thing: Any, name: str, value: Any) -> None:
    before = getattr(thing, name)

    def restore() -> None:
        if getattr(thing, name) is value:  # Somebody else may have replaced it meanwhile.
            setattr(thing, name, before)

    undo.callback(restore)
    setattr(thing, name, value)


# --- notebook ---
class NotebookProgress(Progress):
    """An output of the cell that is updated."""

    _round = _NOTEBOOK_ROUND

    def _begin(self) -> None:
        self._handle: Any = None
        self._drawn: Any = None
        self._not_before = 0.0

    def _draw(self) -> None:
        now = time.monotonic()
        state = (self.done, int(self.elapsed))
        if state != self._drawn and now >= self._not_before:
            self._show()
            self._drawn = state
            self._not_before = time.monotonic() + (time.monotonic() - now) / _SHARE

    def _end(self) -> None:
        if self._handle is not None or self._is_asked or self.elapsed >= _PATIENCE:
            self._show()

    def _show(self) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(self._html()), display_id=True)
        else:
            self._handle.update(HTML(self._html()))

    def _html(self) -> str:
        from vernier import plots

        bar = "" if self.trials is None else f'<progress value="{self.done}" max="{max(self.trials, 1)}"></progress> '
        total = "" if self.trials is None else f" of {self.trials}"
        text = ", ".join([f"{self.done}{total} trials", *self.counts(), self.times()])
        try:
            figure = plots.history(self.study)
        except VernierError:  # The store is busy, or closed: the next picture has it.
            return f"<div>{bar}{escaped(text)}</div>"
        picture = "" if figure.empty else f'<div style="max-width: 40em">{figure.svg()}</div>'
        return f"<div>{bar}{escaped(text)}</div>{picture}"
