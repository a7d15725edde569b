#!/usr/bin/python3
"""A container engine for tests: takes the words that podman and docker take, and runs commands as they are, on this host.

What it runs is apart from its client as with a real one: in a session of its own, without what the client has in its
environment, and alive when the client is killed. Its state is in the folder `engine` beside the program: `calls` has a
line for each call, `containers/NAME` is a container, `images` has a line for each image that is here, `remote` for each
that can be pulled. The file `down` stands for a daemon that does not answer.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

STATE = pathlib.Path(sys.argv[0]).parent / "engine"
WITHOUT_VALUE = {"--init"}
NEVER = "0001-01-01 00:00:00 +0000 UTC"


def fail(message, status=125):
    print(f"Error: {message}", file=sys.stderr)
    sys.exit(status)


def lines(name):
    path = STATE / name
    return path.read_text().split("\n") if path.exists() else []


def info():
    form = sys.argv[sys.argv.index("--format") + 1] if "--format" in sys.argv else "{}"
    kind = pathlib.Path(sys.argv[0]).name
    fields = "9.9|64|[cpu memory]" if kind == "podman" else "9.9|64|true|true|[name=seccomp]"
    print("WARNING: nothing to worry about", file=sys.stderr)
    print("vernier|" + fields if form.startswith("vernier|") else fields)


def pull(image):
    if image not in lines("remote"):
        fail(f"{image}: not found in any registry", 1)
    with open(STATE / "images", "a", encoding="utf-8") as file:
        file.write(image + "\n")


def container(name):
    return STATE / "containers" / name


def run(words):
    options = {}
    while words and words[0].startswith("-"):
        key = words.pop(0)
        options.setdefault(key, []).append("" if key in WITHOUT_VALUE else words.pop(0))
    image, command = words[0], options.get("--entrypoint", []) + words[1:]
    if image not in lines("images"):
        fail(f"{image}: image not known")
    folder = container(options["--name"][0])
    if folder.exists():
        fail(f"the container name {folder.name} is in use")
    if "--bad-option" in options:
        fail("unknown flag: --bad-option")
    folder.mkdir(parents=True)
    (folder / "options").write_text(json.dumps(options))
    variables = dict(word.split("=", 1) for word in options.get("--env", []))
    variables.pop("VERNIER_REPLICA_DIRECTORY")
    if not os.access(command[0], os.X_OK):
        fail(f"executable file `{command[0]}` not found", 127)
    # Before the program runs, since it may be told to stop as soon as it does.
    program, told = None, []
    signal.signal(signal.SIGTERM, lambda *_: program.send_signal(signal.SIGTERM) if program else told.append(True))
    program = subprocess.Popen(command, env={"PATH": os.environ["PATH"], **variables}, start_new_session=True,
                               cwd=options.get("--workdir", ["/"])[0])
    (folder / "process.new").write_text(str(program.pid))
    (folder / "process.new").rename(folder / "process")
    if told:
        program.send_signal(signal.SIGTERM)
    status = program.wait()
    (folder / "ended").touch()
    sys.exit(128 - status if status < 0 else status)


def inspect(name):
    folder = container(name)
    if not folder.exists():
        fail(f"no such container {name}")
    started = "2026-01-01 00:00:00 +0000 UTC" if (folder / "process").exists() else NEVER
    print(("true|" if (folder / "out-of-memory").exists() else "false|") + started)


def remove(name):
    folder = container(name)
    if not folder.exists():
        fail(f"no such container {name}", 1)
    process = folder / "process"
    if process.exists() and not (folder / "ended").exists():
        try:
            os.killpg(int(process.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass
    subprocess.run(["rm", "-r", str(folder)], check=True)


def main():
    words = sys.argv[1:]
    STATE.mkdir(exist_ok=True)
    with open(STATE / "calls", "a", encoding="utf-8") as calls:
        calls.write(" ".join(words) + "\n")
    if (STATE / "down").exists():
        fail("Cannot connect to the daemon", 125 if words[0] == "run" else 1)
    if words[0] == "info":
        info()
    elif words[:2] == ["image", "inspect"]:
        sys.exit(0 if words[2] in lines("images") else 1)
    elif words[0] == "pull":
        while (STATE / "slow").exists():
            time.sleep(0.01)
        pull(words[1])
    elif words[0] == "run":
        run(words[1:])
    elif words[:2] == ["container", "inspect"]:
        inspect(words[-1])
    elif words[0] == "rm":
        remove(words[-1])
    else:
        fail(f"unknown command {words}")


main()
