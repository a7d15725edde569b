#!/usr/bin/env python3
"""Uses libvernier.so through ctypes, and compares what it exports with what was promised.
usage: c_api_test.py SOURCE_DIR BUILD_DIR

The promise is tests/c_api/abi.txt: every declaration and constant of vernier.h. A new one is added to it; one that is there
may neither change nor go as long as the library's name (libvernier.so.N) stays the same.
"""

import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from daemon import Daemon

STUDY = """
study: tuned
objective: {minimize: loss}
parameters:
  x: {float: [-1, 1]}
  kind: {categorical: [flat, steep]}
algorithm: gp
budget: {trials: 12}
parallel: 2
seed: 5
"""


def check(holds, what):
    if not holds:
        sys.exit(f"c_api_test: {what}")


# --- what is promised ---

def declarations(header):
    """Each function and constant of the header, in one form."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    found = re.findall(r"\b(VN_[A-Z_]+ = \d+)", text)
    for result, name, arguments in re.findall(r"VN_API\s+([\w\s*]+?)\s*\b(vn_\w+)\(([^)]*)\);", text):
        types = [re.sub(r"\s*\b\w+$", "", " ".join(one.split())) if one.strip() != "void" else "void"
                 for one in arguments.split(",")]
        found.append(f"{' '.join(result.split())} {name}({', '.join(types)})")
    return sorted(found)


def check_abi(source, library):
    declared = declarations((source / "include/vernier/vernier.h").read_text())
    promised = (source / "tests/c_api/abi.txt").read_text().splitlines()
    gone = sorted(set(promised) - set(declared))
    check(not gone, "vernier.h no longer declares, or declares otherwise:\n" + "\n".join(gone))
    new = sorted(set(declared) - set(promised))
    check(not new, "to be added to tests/c_api/abi.txt:\n" + "\n".join(new))
    names = {re.search(r"(vn_\w+)\(", line).group(1) for line in declared if "(" in line}
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if " A " not in line}
    check(exported == names, f"exported, but not declared or the reverse: {sorted(exported ^ names)}")
    print(f"{len(names)} functions, as promised")


# --- what a binding looks like ---

class Error(Exception):
    def __init__(self, code, message, field, reason):
        super().__init__(message)
        self.code, self.field, self.reason = code, field, reason


class Vernier:
    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        for name in ("version", "error_message", "error_field", "error_reason", "trials_state", "trials_parameters",
                     "trials_metrics"):
            getattr(self.lib, "vn_" + name).restype = ctypes.c_char_p
        self.lib.vn_trials_count.restype = ctypes.c_size_t
        self.lib.vn_trials_number.restype = ctypes.c_int64

    def call(self, name, *arguments):
        error = ctypes.c_void_p()
        code = getattr(self.lib, "vn_" + name)(*arguments, ctypes.byref(error))
        if code == 0:
            check(error.value is None, f"{name}: an error with VN_OK")
            return
        told = [getattr(self.lib, "vn_error_" + part)(error).decode() for part in ("message", "field", "reason")]
        self.lib.vn_error_free(error)
        raise Error(code, *told)

    def get(self, name, *arguments):
        result = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(result))
        return result

    def rows(self, trials):
        count = self.lib.vn_trials_count(trials)
        return [(self.lib.vn_trials_number(trials, ctypes.c_size_t(i)),
                 self.lib.vn_trials_state(trials, ctypes.c_size_t(i)).decode(),
                 json.loads(self.lib.vn_trials_parameters(trials, ctypes.c_size_t(i))),
                 json.loads(self.lib.vn_trials_metrics(trials, ctypes.c_size_t(i)))) for i in range(count)]

    def refused(self, code, name, *arguments):
        try:
            self.call(name, *arguments)
        except Error as error:
            check(error.code == code, f"{name}: code {error.code}, not {code}: {error}")
            return error
        return check(False, f"{name}: was not refused")


def loss_of(parameters):
    return (1 if parameters["kind"] == "flat" else 3) * (parameters["x"] - 0.25) ** 2


def ask_and_tell(vernier):
    study = vernier.get("ask_tell_new", STUDY.encode())
    for _ in range(15):
        asked = vernier.get("ask_tell_ask", study, ctypes.c_size_t(1))
        (number, state, parameters, _), = vernier.rows(asked)
        check(state == "RUNNING", f"an asked trial is {state}")
        loss = ctypes.c_double(loss_of(parameters))
        vernier.call("ask_tell_tell", study, ctypes.c_int64(number), ctypes.byref(loss), ctypes.c_size_t(1))
        vernier.lib.vn_trials_free(asked)
    best = vernier.get("ask_tell_best", study)
    (_, state, _, metrics), = vernier.rows(best)
    check(state == "COMPLETED" and metrics["loss"] < 0.01, f"best: {state} {metrics}")
    vernier.lib.vn_trials_free(best)
    vernier.lib.vn_ask_tell_free(study)
    error = vernier.refused(3, "ask_tell_new", b"objective: {minimize: loss}\nparameters: {x: {float: [1, 0]}}\n",
                            ctypes.byref(ctypes.c_void_p()))
    check(error.field == "parameters.x.float[1]", f"field {error.field}: {error}")


def drive(vernier, address):
    client = vernier.get("client_new", address.encode(), b"ctypes")
    vernier.call("client_create_study", client, STUDY.encode())
    error = vernier.refused(6, "client_create_study", client, STUDY.encode())
    check(error.reason == "STUDY_EXISTS", f"reason {error.reason}")
    names = (ctypes.c_char_p * 1)(b"loss")
    done = 0
    while done < 12:
        trials = vernier.get("client_suggest", client, b"tuned", ctypes.c_int32(2))
        for i, (_, state, parameters, _) in enumerate(vernier.rows(trials)):
            check(state == "RUNNING", f"a suggested trial is {state}")
            index, should_stop = ctypes.c_size_t(i), ctypes.c_int(-1)
            values = (ctypes.c_double * 1)(loss_of(parameters))
            vernier.call("client_report", client, trials, index, ctypes.c_int64(1), names, values, ctypes.c_size_t(1),
                         ctypes.byref(should_stop))
            check(should_stop.value == 0, f"should_stop is {should_stop.value}")
            vernier.call("client_complete", client, trials, index, None, None, ctypes.c_size_t(0))
            done += 1
        vernier.lib.vn_trials_free(trials)
    error = vernier.refused(9, "client_suggest", client, b"tuned", ctypes.c_int32(1), ctypes.byref(ctypes.c_void_p()))
    check(error.reason == "STUDY_NOT_ACTIVE", f"reason {error.reason}: {error}")
    state = ctypes.c_char_p()
    vernier.call("client_study_state", client, b"tuned", ctypes.byref(state))
    check(state.value == b"COMPLETED", f"the study is {state.value}")
    best = vernier.get("client_list_trials", client, b"tuned", b"state = COMPLETED", b"metrics.loss", ctypes.c_int64(1))
    (_, _, parameters, metrics), = vernier.rows(best)
    check(abs(metrics["loss"] - loss_of(parameters)) < 1e-12, f"best: {parameters} {metrics}")
    vernier.lib.vn_trials_free(best)
    vernier.lib.vn_client_free(client)


def main():
    source, build = map(pathlib.Path, sys.argv[1:])
    library = build / "lib/libvernier.so"
    check_abi(source, library)
    vernier = Vernier(library)
    ask_and_tell(vernier)
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(build / "bin", pathlib.Path(folder))
        daemon.start()
        try:
            drive(vernier, daemon.address)
        finally:
            daemon.stop()
    print(f"ask, tell and a study of a server through ctypes, libvernier {vernier.lib.vn_version().decode()}")


if __name__ == "__main__":
    main()
