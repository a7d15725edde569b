"""The replicas of a job that train one model together: who they are, what they tell each other, and that none hangs when
another is lost.

Needs the standard library alone. Replicas find each other by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import time
import traceback

from vernier_trainers.reports import UserError, log

JOINING_TAKES = 600  # Seconds within which all replicas must be there.
LEAVING_TAKES = 60
BLAMING_TAKES = 3
HELLO_TAKES = 10
RETRY = 0.1
LONGEST_HELLO = 1000
LEAVING = "leaving"


def join(environment=os.environ):
    """The group of this replica; of a job with one replica, a group of one."""
    size = number_of(environment, "WORLD_SIZE", 1, least=1)
    if size == 1:
        return Group(0, 1, [])
    rank = number_of(environment, "RANK", None, least=0, most=size - 1)
    host, port = environment.get("MASTER_ADDR", ""), number_of(environment, "MASTER_PORT", None, least=1, most=65535)
    links = accept_workers(host, port, size) if rank == 0 else [connect(host, port, rank, size)]
    return Group(rank, size, links)


def number_of(environment, name, default, least, most=None):
    text = environment.get(name, "" if default is None else str(default))
    if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
        bound = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UserError(f"the environment's {name} must be a whole number of {bound}, got '{text}'")
    return int(text)


def name_of(rank):
    return "the chief" if rank == 0 else f"worker {rank - 1}"


class Link:
    """One connection between the chief and a worker: lines of JSON."""

    def __init__(self, connection, rank):
        self.connection, self.rank = connection, rank  # The rank of the other end.
        keep_alive(connection)
        self.lines = connection.makefile("rb")

    def send(self, value):
        try:
            self.connection.sendall(json.dumps(value).encode() + b"\n")
        except OSError as error:
            raise self.lost(error) from error

    def receive(self):
        try:
            line = self.lines.readline()
        except OSError as error:
            raise self.lost(error) from error
        if not line.endswith(b"\n"):
            raise self.lost(None)
        return json.loads(line)

    def lost(self, error):
        # The words tell the launcher that another replica is to blame.
        return UserError(f"{name_of(self.rank)} is lost: {getattr(error, 'strerror', None) or 'Connection reset by peer'}")

    def close(self):
        self.lines.close()
        self.connection.close()


def keep_alive(connection):
    """A host that vanishes without a word is missed after about a minute and a half."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def address_of(host, port, deadline):
    """Family and address; a name may become known only after a while."""
    while True:
        try:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            return family, address
        except OSError as error:
            if time.monotonic() > deadline:
                raise UserError(f"the chief's address '{host}' is not known: {error.strerror}") from error
        time.sleep(RETRY)


def accept_workers(host, port, size):
    """A link to each worker, by rank. Whoever does not say the right hello is sent away."""
    deadline = time.monotonic() + JOINING_TAKES
    family, address = address_of(host, port, deadline)
    links = {}
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise UserError(f"cannot listen on {host}:{port}: {error.strerror}") from error
        listener.listen(size)
        while len(links) < size - 1:
            left = deadline - time.monotonic()
            if left <= 0:
                missing = [name_of(rank) for rank in range(1, size) if rank not in links]
                raise UserError(f"{', '.join(missing)} did not join within {JOINING_TAKES} s: Connection timed out")
            listener.settimeout(left)
            with contextlib.suppress(TimeoutError):
                link = greeted(listener.accept()[0], size)
                if link is not None and link.rank not in links:
                    links[link.rank] = link
    for link in links.values():
        link.send("welcome")
    return [links[rank] for rank in sorted(links)]


def greeted(connection, size):
    """The link to the worker that says hello; None: it is none of this job's."""
    connection.settimeout(HELLO_TAKES)
    hello = b""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        while not hello.endswith(b"\n") and len(hello) < LONGEST_HELLO:
            part = connection.recv(1)
            if not part:
                break
            hello += part
        said = json.loads(hello)
        if said["size"] == size and type(said["rank"]) is int and 0 < said["rank"] < size:
            connection.settimeout(None)
            return Link(connection, said["rank"])
    connection.close()
    return None


def connect(host, port, rank, size):
    """The link to the chief, which may not listen yet."""
    deadline = time.monotonic() + JOINING_TAKES
    family, address = address_of(host, port, deadline)
    while True:
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.settimeout(HELLO_TAKES)
        try:
            connection.connect(address)
            connection.settimeout(None)
            link = Link(connection, 0)
            link.send({"rank": rank, "size": size})
            link.receive()
            return link
        except OSError as error:
            connection.close()
            if time.monotonic() > deadline:
                raise UserError(f"cannot reach the chief at {host}:{port}: {error.strerror or error}") from error
        time.sleep(RETRY)


class Group:
    def __init__(self, rank, size, links):
        self.rank, self.size, self.links = rank, size, links
        self.watchers = []

    @property
    def is_chief(self):
        return self.rank == 0

    def exchange(self, value):
        """The values of all replicas, by rank; each calls it with its own, as often as the others. Values are JSON."""
        if self.size == 1:
            return [value]
        if not self.is_chief:
            self.links[0].send(value)
            return self.links[0].receive()
        values = [value] + [link.receive() for link in self.links]
        for link in self.links:
            link.send(values)
        return values

    def own_address(self):
        """Of this host, as the others reach it."""
        return self.links[0].connection.getsockname()[0]

    def watch(self):
        """From now on this process ends at once when a replica is lost, whatever it waits for. No exchange may follow."""
        for link in self.links:
            watcher = threading.Thread(target=self.watch_link, args=(link,), daemon=True)
            watcher.start()
            self.watchers.append(watcher)

    @staticmethod
    def watch_link(link):
        try:
            while link.receive() != LEAVING:
                pass
        except (UserError, ValueError) as error:
            log("ERROR", str(error))
            os._exit(1)  # The main thread waits within a library, perhaps for ever.

    @contextlib.contextmanager
    def guarded(self):
        """An error ends this process at once: libraries may wait for the others when they are unloaded."""
        try:
            yield
        except BaseException as error:
            if self.size == 1:
                raise
            if isinstance(error, UserError):
                log("ERROR", str(error))
            elif not isinstance(error, SystemExit):
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)

    def wait_for_blame(self):
        """If a replica is lost, the watchers end this process within this time."""
        if self.size > 1:
            time.sleep(BLAMING_TAKES)

    def leave(self):
        """Waits until all others have come as far; whoever ends after this is not lost."""
        if self.is_chief:
            self.wait_for_watchers()
        for link in self.links:
            link.send(LEAVING)
        if not self.is_chief:
            self.wait_for_watchers()
        for link in self.links:
            link.close()

    def wait_for_watchers(self):
        deadline = time.monotonic() + LEAVING_TAKES
        for watcher in self.watchers:
            watcher.join(max(0.0, deadline - time.monotonic()))


ALONE = Group(0, 1, [])
