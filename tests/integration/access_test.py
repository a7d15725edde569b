#!/usr/bin/env python3
"""Who may call a server, and who may read what it writes: sockets and tokens, modes of files under a lax umask, another
user of the host (as root), and which variables of the server's environment reach programs.
usage: access_test.py BIN_DIR
"""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile

from daemon import Daemon

STUDY = """
study: probe
parameters: {x: {float: [0, 1]}}
objective: {minimize: loss}
algorithm: random
budget: {trials: 1}
job:
  command: [sh, -c, "env > $VERNIER_REPLICA_DIRECTORY/seen; echo loss=0.5"]
  env: {FROM_JOB: "yes", OF_FILE: {from_file: FOLDER/key}, OF_NAME: {secret: named}}
"""
KEYS = {"OF_FILE": "k3y in a file", "OF_NAME": "k3y by name"}
BY_HAND = ("seen", "vernierd.log", "study.yaml", "output", "report.html", "key")  # What a program, or this test, has written.


class Server(Daemon):
    """A daemon whose environment and umask are those of a careless user."""

    def __init__(self, bin_dir, folder, **environment):
        super().__init__(bin_dir, folder)
        self.environment = dict(os.environ, XDG_STATE_HOME=str(folder / "state"), XDG_CONFIG_HOME=str(folder / "config"),
                                **environment)
        self.environment.pop("VERNIER_TOKEN_FILE", None)

    def start(self, *options):
        super().start(*options, env=self.environment, umask=0)
        return self.address

    def refuses(self, *options):
        """What a second daemon, with a store of its own, complains of."""
        result = subprocess.run(
            [self.bin_dir / "vernierd", "--store", self.folder / "second.db", *options], env=self.environment, text=True,
            capture_output=True, timeout=60)
        assert result.returncode != 0, result
        return result.stderr

    def ask(self, address, user=None, **more):
        """Exit status and output of a client in another folder."""
        result = subprocess.run(
            [self.bin_dir / "vernier", "--server", address, "study", "list"], cwd="/", user=user, text=True,
            capture_output=True, timeout=60, env=dict(self.environment, **more))
        return result.returncode, result.stdout + result.stderr


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def check_nothing_is_for_others(folder):
    for path in folder.rglob("*"):
        if path.name in BY_HAND or folder / "config" in [path, *path.parents] or path.is_symlink():
            continue
        assert mode(path) & 0o077 == 0, f"{path} has mode {mode(path):o}"


def check_no_secret(server, folder):
    server.call("study", "report", "probe", "--html", folder / "report.html")
    texts = {"show": server.call("study", "show", "probe"), "why": server.call("trial", "show", "probe", "1"),
             "events": server.call("study", "show", "probe", "-o", "json")}
    texts |= {str(path): path.read_bytes().decode(errors="replace") for path in folder.rglob("*")
              if path.is_file() and path.name not in ("seen", "key", "named")}
    for where, text in texts.items():
        assert not any(value in text for value in KEYS.values()), where


def check_sockets(bin_dir, folder):
    server = Server(bin_dir, folder, SECRET_OF_SERVER="hidden", DATA="/data", CUDA_CACHE_DISABLE="1")
    address = server.start("--inherit-env", "DAT*")
    assert address == f"unix:{folder}/vernier.db.sock", server.greeting
    assert mode(folder / "vernier.db.sock") == 0o600
    code, said = server.ask(address)
    assert code == 0, said
    if os.geteuid() == 0:
        folder.chmod(0o755)
        code, said = server.ask(address, user="nobody")
        assert code == 5 and "is another user's" in said, said  # Even where he can enter the folder.

    said = server.refuses("--listen", address)
    assert "another program takes calls at" in said, said
    (folder / "file").write_text("x")
    said = server.refuses("--listen", f"unix:{folder}/file")
    assert "is there and is no socket" in said, said
    (folder / "file").unlink()

    (folder / "study.yaml").write_text(STUDY.replace("FOLDER", str(folder)))
    server.call("study", "create", folder / "study.yaml")
    study = server.wait_for_study("probe")  # Fails: nobody can read its secrets.
    trial = server.json("trial", "show", "probe", "1")
    assert f"cannot read the secret of variable OF_FILE from '{folder}/key': No such file" in trial["message"], trial
    (folder / "key").write_text(KEYS["OF_FILE"] + "\n")
    (folder / "config/vernier/secrets").mkdir(parents=True)
    (folder / "config/vernier/secrets/named").write_text(KEYS["OF_NAME"])
    server.call("study", "delete", "probe", "--yes")
    server.call("study", "create", folder / "study.yaml")
    study = server.wait_for_study("probe")
    assert study["state"] == "COMPLETED", study
    seen = next((folder / "vernier.db.runs").rglob("seen")).read_text().splitlines()
    for name, value in KEYS.items():
        assert f"{name}={value}" in seen, seen
    check_no_secret(server, folder)
    assert "FROM_JOB=yes" in seen and "DATA=/data" in seen and "CUDA_CACHE_DISABLE=1" in seen, seen
    assert any(line.startswith("PATH=") for line in seen), seen
    assert not any("SECRET_OF_SERVER" in line or "hidden" in line for line in seen), seen
    check_nothing_is_for_others(folder)

    server.kill()  # Its socket stays behind, and does not stop the next one.
    assert (folder / "vernier.db.sock").exists()
    assert server.start() == address
    code, said = server.ask(address)
    assert code == 0 and "probe" in said, said
    server.stop()


def check_tokens(bin_dir, folder):
    server = Server(bin_dir, folder)
    address = server.start("--listen", "127.0.0.1:0")
    token_file = folder / "state/vernier/token"
    token = token_file.read_text().strip()
    assert len(token) == 64 and mode(token_file) == 0o600 and mode(token_file.parent) == 0o700
    code, said = server.ask(address)  # It finds the token.
    assert code == 0, said
    code, said = server.ask(address, XDG_STATE_HOME="/nowhere")
    assert code == 5 and str(token_file) in said and token not in said, said
    (folder / "other").write_text("f" * 64)
    (folder / "other").chmod(0o600)
    code, said = server.ask(address, VERNIER_TOKEN_FILE=str(folder / "other"))
    assert code == 5 and token not in said, said
    (folder / "other").chmod(0o644)
    code, said = server.ask(address, VERNIER_TOKEN_FILE=str(folder / "other"))
    assert code == 5 and "0644" in said and "chmod 600" in said, said
    (folder / "other").unlink()
    server.call("study", "list")  # By the store: its owner says where the token is.
    if os.geteuid() == 0:
        code, said = server.ask(address, user="nobody", XDG_STATE_HOME="/nowhere")
        assert code == 5 and token not in said, said
    server.stop()
    assert token not in server.log.read_text() and token not in server.greeting
    check_nothing_is_for_others(folder)

    first = server.start("--listen", "unix:" + str(folder / "own.sock"), "--listen", "127.0.0.1:0")
    assert first.startswith("unix:") and token_file.read_text().strip() == token
    server.stop()

    token_file.write_text("short\n")
    said = server.refuses("--listen", "127.0.0.1:0")
    assert "must hold 32 to 4096 characters" in said, said
    token_file.unlink()
    address = server.start("--listen", "127.0.0.1:0", "--open")
    assert not token_file.exists()
    code, said = server.ask(address, XDG_STATE_HOME="/nowhere")
    assert code == 0, said
    server.stop()


def check_short_paths(bin_dir, folder):
    """A socket's path has 107 characters at most; that of a store may be longer."""
    deep = folder / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    server = Server(bin_dir, deep)
    address = server.start()
    path = pathlib.Path(address.removeprefix("unix:"))
    assert str(path).startswith(f"/tmp/vernier-{os.geteuid()}-") and mode(path) == 0o600 and mode(path.parent) == 0o700
    server.call("study", "list")
    server.stop()
    path.parent.rmdir()

    path.parent.mkdir()  # Somebody was there before.
    if os.geteuid() == 0:
        os.chown(path.parent, 65534, 65534)
        result = subprocess.run([bin_dir / "vernierd", "--store", server.store], capture_output=True, text=True, timeout=60)
        assert result.returncode != 0 and "is not a folder of this user" in result.stderr, result
    path.parent.rmdir()


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    for check in (check_sockets, check_tokens, check_short_paths):
        with tempfile.TemporaryDirectory() as folder:
            check(bin_dir, pathlib.Path(folder))
            print(check.__name__, "passed", flush=True)


if __name__ == "__main__":
    main()
