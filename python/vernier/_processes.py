"""Worker processes of ``Study.optimize``. Each serves one thread of this process, which asks and tells for it: the store
is used by one process alone, and a worker that is killed costs its trial only. A worker ends as soon as this process has ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import threading
import traceback
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional

from vernier._errors import InvalidValueError, StateError, TrialStopped
from vernier._optimize import WorkerCannotStart, WorkerDied
from vernier._trials import Trial
from vernier._values import Value, described

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

Train = Callable[[Trial], Any]
# Held while a process is started: a process that was forked meanwhile would inherit, and keep open, the worker's pipe.
_starting = threading.Lock()
# This process's ends of all pipes; guarded by _starting.
_our_ends: set[Connection] = set()
# Time that a worker has to end after its last trial before it is killed.
_PATIENCE = 1.0


class RemoteError(Exception):
    """An exception of ``train`` in a worker; the text is its traceback there."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


class _RemoteTrial(Trial):
    """A trial in a worker: reports go through the pipe."""

    def __init__(self, number: int, params: dict[str, Value], origin: str, pipe: Connection) -> None:
        super().__init__(number, params, origin)
        self._pipe = pipe

    def _send(self, step: int, metrics: dict[str, float]) -> tuple[bool, str]:
        self._pipe.send(("report", step, metrics))
        answer: tuple[bool, str] = self._pipe.recv()
        return answer


class Workers:
    """Starts workers: each call gives a context in which ``train`` runs in a process of its own."""

    def __init__(self, train: Train, method: str) -> None:
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # The main module of the program, which a worker imports: what follows would start workers without end.
            raise StateError("optimize: was called again by a worker process, which imports this program")
        if method not in multiprocessing.get_all_start_methods():
            known = ", ".join(["threads", *multiprocessing.get_all_start_methods()])
            raise InvalidValueError(f"executor: must be one of {known}, got '{method}'", field="executor")
        self._train = train
        self._context = multiprocessing.get_context(method)
        self._running: set[_Worker] = set()
        self.is_killed = False  # Guarded by _starting.
        if method != "fork":
            try:
                pickle.dumps(train)
            except Exception as error:
                raise TypeError(
                    f"train: cannot be sent to another process ({error}); define it at the top level of a module, or use"
                    " executor='fork'"
                ) from error

    @contextlib.contextmanager
    def __call__(self) -> Iterator[Train]:
        worker = _Worker(self, self._context, self._train)
        self._running.add(worker)
        try:
            yield worker.train
        finally:
            self._running.discard(worker)
            worker.end()

    def kill(self) -> None:
        """Kills all workers; their trials raise WorkerDied. No worker is started any more."""
        with _starting:
            self.is_killed = True
            for worker in list(self._running):
                worker.kill()


class _Worker:
    """A process, started at its first trial, and again after it died."""

    def __init__(self, workers: Workers, context: BaseContext, train: Train) -> None:
        self._workers = workers
        self._context = context
        self._train = train
        self._process: Optional[Any] = None
        self._pipe: Optional[Connection] = None

    def train(self, trial: Trial) -> Any:
        if self._process is None:
            self._start()
        process, pipe = self._process, self._pipe
        assert process is not None and pipe is not None
        try:
            pipe.send((trial.number, trial.params, trial.origin))
            while True:
                kind, *content = pipe.recv()
                if kind != "report":
                    break
                step, metrics = content
                trial.report(step, metrics)
                pipe.send((trial._stop, trial.stop_reason))
        except (EOFError, OSError):
            raise WorkerDied(self._died()) from None
        except BaseException:
            # An interrupt: what the worker does is not wanted any more.
            self._discard()
            raise
        if kind == "value":
            return content[0]
        if kind == "stopped":
            raise TrialStopped
        error, text = content
        raise error from RemoteError(text)

    def kill(self) -> None:
        """From any thread."""
        process = self._process
        if process is not None and process.is_alive():
            process.kill()

    def end(self) -> None:
        if self._process is None:
            return
        self._close_pipe()
        self._process.join(_PATIENCE)
        self._discard()

    def _start(self) -> None:
        with _starting:
            if self._workers.is_killed:
                raise WorkerDied("no worker is started any more")
            ours, theirs = self._context.Pipe()
            inherited = [*_our_ends, ours] if self._context.get_start_method() == "fork" else []
            # Not a daemon: train may have processes of its own, such as loaders of data.
            process = self._context.Process(  # type: ignore[attr-defined]
                target=_serve, args=(self._train, theirs, inherited), name="vernier-worker"
            )
            try:
                with self._without_interrupts():
                    process.start()
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            _our_ends.add(ours)
            self._process, self._pipe = process, ours
        try:
            ours.recv()  # It has read the program, and waits for a trial.
        except (EOFError, OSError):
            died = self._died()
            if self._workers.is_killed:
                raise WorkerDied(died) from None
            raise WorkerCannotStart(
                f"{died} before its first trial, see its output above; the program must start under `if __name__ == \"__main__\":`, so that a worker"
                " can import it, or use executor='fork'"
            ) from None

    @contextlib.contextmanager
    def _without_interrupts(self) -> Iterator[None]:
        """A process that is started here gets no Ctrl-C, which would end it with a traceback while it imports the program. The
        server of "forkserver" is left alone, since other code may use it, too."""
        method = self._context.get_start_method()
        if method == "spawn":
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()  # Otherwise it is started first, and lets interrupts through again.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, () if method == "forkserver" else (signal.SIGINT,))
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _died(self) -> str:
        process = self._process
        assert process is not None
        process.join(_PATIENCE)
        code, pid = process.exitcode, process.pid
        self._discard()
        if code is None:
            return f"worker process {pid} closed its connection"
        if code >= 0:
            return f"worker process {pid} exited with status {code}"
        return f"worker process {pid} was killed by signal {-code}"

    def _discard(self) -> None:
        self.kill()
        if self._process is not None:
            self._process.join(_PATIENCE)
        self._close_pipe()
        self._process = None

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            with _starting:
                _our_ends.discard(self._pipe)
                self._pipe.close()
            self._pipe = None


def _serve(train: Train, pipe: Connection, inherited: list[Connection]) -> None:
    """The worker's process: runs trials until the pipe is closed."""
    # Copies of the parent's ends would keep the pipes open after the parent has died.
    for end in inherited:
        end.close()
    # Ctrl-C reaches the whole group of processes; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
    is_training = threading.Event()
    threading.Thread(target=_end_with_parent, args=(pipe, is_training), name="vernier-parent", daemon=True).start()
    try:
        pipe.send("ready")
    except OSError:
        return
    while True:
        try:
            number, params, origin = pipe.recv()
        except (EOFError, OSError):
            return
        is_training.set()
        try:
            answer: tuple[Any, ...] = ("value", train(_RemoteTrial(number, params, origin, pipe)))
        except TrialStopped:
            answer = ("stopped",)
        except BaseException as error:  # sys.exit() ends the call of optimize, as in a thread.
            answer = ("error", _sendable(error), traceback.format_exc())
        # Once it has the answer, the parent may close the pipe: then this process ends in the ordinary way.
        is_training.clear()
        try:
            pipe.send(answer)
        except (BrokenPipeError, OSError):
            return
        except Exception as error:
            pipe.send(("error", TypeError(f"what train returned cannot be sent to the parent: {error}"), ""))


def _end_with_parent(pipe: Connection, is_training: threading.Event) -> None:
    """A thread that ends this process in the midst of a trial, once the parent has closed the pipe, which it does by dying. Not
    by the signal of Linux for a parent's death, since the parent of a worker may be the server of "forkserver"."""
    poll = select.poll()
    poll.register(pipe.fileno(), 0)  # Only the end of the connection.
    poll.poll()
    is_training.wait()
    os._exit(1)


def _sendable(error: BaseException) -> BaseException:
    try:
        copy = pickle.loads(pickle.dumps(error))
        if isinstance(copy, type(error)):
            return error
    except Exception:
        pass
    return RuntimeError(described(error))
