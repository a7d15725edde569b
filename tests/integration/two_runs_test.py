#!/usr/bin/env python3
"""Two `vernier run` on one store: the second is run by the process of the first, and takes over when that ends; a third
study that is ACTIVE too is left alone.
usage: two_runs_test.py BIN_DIR
"""

import pathlib
import subprocess
import sys
import tempfile

from daemon import left_over
from interrupt_test import PATIENCE, TRAINER, Run, ask, starts, wait_until

STUDY = """\
study: {name}
objective: {{maximize: score}}
parameters: {{x: {{int: [1, 9]}}}}
algorithm: grid
budget: {{trials: 2}}
job: {{command: [/bin/sh, {folder}/trainer.sh, {folder}]}}
"""


def make(folder, name):
    """A folder with a study of that name."""
    own = folder / name
    own.mkdir()
    (own / "trainer.sh").write_text(TRAINER)
    (own / "study.yaml").write_text(STUDY.format(folder=own, name=name))
    return own


def vernier(bin_dir, store, *words):
    return subprocess.run([bin_dir / "vernier", *words, "--store", store], capture_output=True, text=True, timeout=PATIENCE)


def check(bin_dir, folder):
    first, second, forgotten = (make(folder, name) for name in ("first", "second", "forgotten"))
    store = folder / "vernier.db"
    done = vernier(bin_dir, store, "study", "create", forgotten / "study.yaml")
    assert done.returncode == 0, done.stderr

    one = Run(bin_dir, first, store)
    one.wait_for("study 'forgotten' is ACTIVE too")
    wait_until(lambda: starts(first, 1), "start of the first study", one.text)
    two = Run(bin_dir, second, store)
    two.wait_for(f"process {one.process.pid} has the store open")
    wait_until(lambda: starts(second, 1), "start of the second study", two.text)

    # The first leaves at once; the trial of the second study that runs by then is taken over, not started again.
    one.interrupt()
    one.wait_for("waiting for 1 trial to end")
    one.interrupt()
    assert one.end(PATIENCE) == 130, one.text()
    two.wait_for("this one runs the trials now")
    for trial in (1, 2):
        (second / f"end-{trial}").touch()
    assert two.end(PATIENCE) == 0, two.text()
    assert [len(starts(second, trial)) for trial in (1, 2)] == [1, 1]
    assert two.text().count("trial 1 COMPLETED") == 1, two.text()

    # A file of the same name elsewhere is another study.
    other = folder / "elsewhere"
    other.mkdir()
    (other / "study.yaml").write_text(STUDY.format(folder=other, name="second"))
    done = vernier(bin_dir, store, "run", other / "study.yaml")
    assert done.returncode == 2 and "is another one: its programs run in" in done.stderr, done

    for name, trials in (("first", 1), ("second", 2), ("forgotten", 0)):
        assert ask(bin_dir, folder, "study", "show", name).get("trial_count", 0) == trials, name


def check_race(bin_dir, folder):
    """Of several runs that lose the process which ran their trials, one takes over, and the others go to that one."""
    owner = make(folder, "owner")
    others = [make(folder, name) for name in ("left", "right")]
    store = folder / "race.db"
    first = Run(bin_dir, owner, store)
    wait_until(lambda: starts(owner, 1), "start of the owner's study", first.text)
    runs = [Run(bin_dir, other, store) for other in others]
    for other, run in zip(others, runs):
        wait_until(lambda: starts(other, 1), "start of the other studies", run.text)
    first.process.kill()
    first.end(PATIENCE)
    for own in [owner, *others]:
        for trial in (1, 2):
            (own / f"end-{trial}").touch()
    for run in runs:
        assert run.end(PATIENCE) == 0, run.text()


def check_server(bin_dir, folder):
    """A server that is started again has its store: the run waits for it."""
    own = make(folder, "served")
    store = folder / "served.db"

    def serve():
        return subprocess.Popen([bin_dir / "vernierd", "--store", store],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    daemon = serve()
    try:
        wait_until(lambda: vernier(bin_dir, store, "server", "status").returncode == 0, "server")
        run = Run(bin_dir, own, store)
        wait_until(lambda: starts(own, 1), "start of the study", run.text)
        daemon.kill()
        daemon.wait()
        run.wait_for("waiting for another one")
        daemon = serve()
        run.wait_for(f"process {daemon.pid} has the store open")
        for trial in (1, 2):
            (own / f"end-{trial}").touch()
        assert run.end(PATIENCE) == 0, run.text()
        assert [len(starts(own, trial)) for trial in (1, 2)] == [1, 1]
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE)


def main():
    bin_dir = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vernier-two-runs-") as name:
        folder = pathlib.Path(name)
        try:
            check(bin_dir, folder)
            check_race(bin_dir, folder)
            check_server(bin_dir, folder)
        finally:
            for own in folder.glob("*/trainer.sh"):
                for trial in (1, 2):
                    (own.parent / f"end-{trial}").touch()
            # A supervisor whose run was killed writes its last records after the runs have ended.
            wait_until(lambda: not left_over(folder), "end of every process", lambda: str(left_over(folder)))
    print("a second run takes over from the first, neither runs a third study, and both wait for a server that comes back")


if __name__ == "__main__":
    main()
