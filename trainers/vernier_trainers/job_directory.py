"""What a trainer leaves in its --job-dir, under the names that AI Platform Training's built-in algorithms gave it."""

import csv
import json
import os
import pathlib
import time

from vernier_trainers.reports import UserError, log

CHECKPOINT = "experiment/checkpoint"


def write_whole(path, content):
    """Written beside the old one and renamed over it: a kill at any moment leaves one of the two, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    with open(fresh, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


class JobDirectory:
    """Without a folder nothing is kept, and everything is said all the same."""

    def __init__(self, folder, fingerprint):
        """`fingerprint`: of arguments and data; a checkpoint of others is not gone on from."""
        self.folder = None if folder is None else pathlib.Path(folder)
        self.fingerprint = fingerprint
        self.saved_at = -float("inf")  # Of the last save: its end, and how long it took.
        self.saving_took = 0.0

    def write(self, name, content):
        if self.folder is not None:
            write_whole(self.folder / name, content)

    def write_json(self, name, value):
        self.write(name, (json.dumps(value, indent=1) + "\n").encode())

    def write_parts(self, data):
        """The data as it is trained on: the target first, then a weight if there are any, then the encoded columns."""
        if self.folder is None:
            return
        for name, part in (("training", data.training), ("validation", data.validation), ("test", data.test)):
            if part is None:
                continue
            path = self.folder / "processed_data" / f"{name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                for index, label in enumerate(data.labels(part)):
                    weight = [] if part.weights is None else [float(part.weights[index])]
                    rows.writerow([label, *weight, *part.x[index].tolist()])

    def load(self):
        """Step and content of the checkpoint to go on from, or None."""
        if self.folder is None or not (self.folder / CHECKPOINT).exists():
            return None
        head, _, content = (self.folder / CHECKPOINT).read_bytes().partition(b"\n")
        try:
            head = json.loads(head)
            if head["fingerprint"] == self.fingerprint:
                return int(head["step"]), content
        except (ValueError, KeyError, TypeError):
            pass
        log("WARNING", f"{self.folder / CHECKPOINT} is of other arguments or other data: training begins anew")
        return None

    def save(self, step, content_of):
        """Saves now and then: at once first, then so that saving takes a tenth of the time at most."""
        if self.folder is None or time.monotonic() - self.saved_at < 9 * self.saving_took:
            return
        begin = time.monotonic()
        head = json.dumps({"step": step, "fingerprint": self.fingerprint}).encode()
        write_whole(self.folder / CHECKPOINT, head + b"\n" + content_of())
        self.saved_at = time.monotonic()
        self.saving_took = self.saved_at - begin

    def finish(self):
        """What comes after this in the same folder is another training."""
        if self.folder is not None:
            (self.folder / CHECKPOINT).unlink(missing_ok=True)


def check_folder(folder):
    """A bucket cannot be written to: said before anything is trained."""
    if folder is None:
        log("WARNING", "no --job-dir is given: model and checkpoints are not kept")
        return
    if "://" in folder:
        raise UserError(f"--job-dir: must be a folder of this host, got '{folder}'")
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--job-dir: cannot create '{folder}': {error.strerror}") from error
