"""The loop of ``Study.optimize_async``: tasks that ask, train and tell. Calls to the study run in threads of their own, so that
the event loop never waits for a suggestion, a disk or a server."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, Sequence, TypeVar

from vernier._loop import PATIENCE, ROUND, SILENCE
from vernier._optimize import Run, Train
from vernier._values import place

if TYPE_CHECKING:
    from vernier._trials import AskedTrial, Trial

AsyncTrain = Callable[["Trial"], Awaitable[Any]]
_T = TypeVar("_T")
# Calls to the study at a time. A choice: calls are short, and suggestions of one study wait for each other.
_CALLS = 4
# Seconds without a call after which a thread ends.
_IDLE = 1.0


async def optimize(run: Run, train: AsyncTrain, parallel: int) -> None:
    if not callable(train):
        raise TypeError(f"train: must be an async function of a trial, got {train!r}")
    run.train = place(train)
    calls = asyncio.Semaphore(_CALLS)
    tasks = [asyncio.ensure_future(_work(run, train, calls)) for _ in range(parallel)]
    try:
        # Not by gather, which would wait for calls that the tasks are in before it tells of a cancellation.
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    except BaseException:
        # The first error, or a cancellation from outside: the others end, too, and what is open is cancelled.
        run.mark_interrupted()
        await _end(run, tasks)
        cancelling = _started(run.clean_up)
        if await _have_ended(run, [cancelling], PATIENCE):
            cancelling.result()
        else:
            run.log_stuck()
        raise
    run.raise_error()


async def _end(run: Run, tasks: Sequence[asyncio.Future[None]]) -> None:
    for task in tasks:
        task.cancel()
    if await _have_ended(run, tasks, SILENCE):
        return
    run.log_wait()
    if not await _have_ended(run, tasks, PATIENCE):
        for task in tasks:
            task.cancel()  # The second time, it no longer waits for the call that it is in.
        await asyncio.wait(tasks, timeout=ROUND)


async def _have_ended(run: Run, futures: Sequence[asyncio.Future[None]], seconds: float) -> bool:
    """Waits for them, and ends algorithms and stopping rules for which they wait."""
    deadline = time.monotonic() + seconds
    while not all(future.done() for future in futures) and time.monotonic() < deadline:
        run.press()
        await asyncio.wait(futures, timeout=ROUND)
    return all(future.done() for future in futures)


async def _work(run: Run, train: AsyncTrain, calls: asyncio.Semaphore) -> None:
    while run.may_begin():
        async with calls:
            trial = await in_thread(lambda: _begin(run))
        if trial is None:
            continue
        outcome = await _outcome(train, trial)
        async with calls:
            await in_thread(functools.partial(run.finish, outcome, trial))


def _begin(run: Run) -> Optional[AskedTrial]:
    trial = run.begin()
    if trial is not None and run.is_interrupted:
        run.cancel(trial)  # Nobody may wait for it any more.
        return None
    return trial


async def _outcome(train: AsyncTrain, trial: Trial) -> Train:
    """A function that returns, or raises, what ``train`` did."""
    value: Any = None
    error = None
    try:
        awaitable = train(trial)
        if inspect.isawaitable(awaitable):
            value = await awaitable
        else:
            error = TypeError("train: must be an async function; optimize takes a plain one")
    except Exception as raised:
        error = raised

    def outcome(_: Trial) -> Any:
        if error is not None:
            raise error
        return value

    return outcome


async def in_thread(call: Callable[[], _T]) -> _T:
    """The result of ``call``. If the task is cancelled meanwhile, it ends only after the call, whose trial is then known; if it
    is cancelled again, at once."""
    future = _started(call)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        try:
            await asyncio.wait([future])
        finally:
            if not future.cancel():
                future.exception()  # The cancellation counts; an error of the call would be reported as one that nobody saw.
        raise


def _started(call: Callable[[], _T]) -> asyncio.Future[_T]:
    """The result of ``call`` to come, from a thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def settle(error: Optional[BaseException], result: Any) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        error, result = None, None
        try:
            result = call()
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(settle, error, result)

    _threads.start(work)
    return future


class _Threads:
    """Threads that do not keep the program from ending, as those of an executor would. Idle ones are used again."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0  # Threads that wait for a call which has not been put yet; guarded by _lock.

    def start(self, call: Callable[[], None]) -> None:
        with self._lock:
            is_idle = self._idle > 0
            self._idle -= is_idle
        self._calls.put(call)
        if not is_idle:
            threading.Thread(target=self._work, name="vernier-async", daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                self._calls.get(timeout=_IDLE)()
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
            else:
                with self._lock:
                    self._idle += 1


_threads = _Threads()


def _after_fork_in_child() -> None:
    global _threads
    _threads = _Threads()


os.register_at_fork(after_in_child=_after_fork_in_child)
