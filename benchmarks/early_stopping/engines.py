"""What is compared. An engine has ask() -> (trial, params), report(trial, step, value) -> whether to stop,
end(trial, values, stopped) once a trial is over, and close(). `values`: all that it reported; NaN last: it diverged.
"""

import json
import math
import subprocess


class Vernier:
    def __init__(self, binary, task, seed, stopping):
        self.process = subprocess.Popen([binary, "ask-tell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self.send({"op": "create", "space": task.space, "seed": seed, "goal": "minimize",
                                  "stopping": stopping, "curve": {"max_steps": task.max_steps}})["version"]

    def send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{answer['error']} to {request}")
        return answer

    def ask(self):
        trial = self.send({"op": "ask", "n": 1})["trials"][0]
        return trial["id"], trial["params"]

    def report(self, trial, step, value):
        return self.send({"op": "report", "id": trial, "step": step, "value": value if math.isfinite(value) else None})["stop"]

    def end(self, trial, values, stopped):
        if not math.isfinite(values[-1]):
            self.send({"op": "tell", "id": trial, "value": None, "status": "failed"})
        else:
            self.send({"op": "tell", "id": trial, "value": values[-1], **({"status": "stopped"} if stopped else {})})

    def close(self):
        self.process.stdin.write('{"op":"close"}\n')
        self.process.stdin.close()
        self.process.wait()


class Ceiling(Vernier):
    """Perfect stopping: a tenth into a trial it knows how it would end, stops what will not beat the best, and tells the end."""

    def __init__(self, binary, task, seed):
        super().__init__(binary, task, seed, "none")
        self.judged, self.best, self.ends = max(1, task.max_steps // 10), math.inf, {}

    def know(self, trial, end):
        self.ends[trial] = end

    def report(self, trial, step, value):
        return step == self.judged and not self.ends[trial] < self.best

    def end(self, trial, values, stopped):
        end = self.ends.pop(trial)
        self.best = min(self.best, end) if math.isfinite(end) else self.best
        super().end(trial, [end], False)


class Optuna:
    def __init__(self, task, seed, sampler, pruner):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna, self.space, self.trials = optuna, task.space, {}
        samplers = {"tpe": lambda: optuna.samplers.TPESampler(seed=seed, multivariate=True),
                    "gp": lambda: optuna.samplers.GPSampler(seed=seed)}
        pruners = {"none": optuna.pruners.NopPruner, "median": optuna.pruners.MedianPruner,
                   "asha": lambda: optuna.pruners.SuccessiveHalvingPruner(),
                   "hyperband": lambda: optuna.pruners.HyperbandPruner(max_resource=task.max_steps)}
        self.study = optuna.create_study(sampler=samplers[sampler](), pruner=pruners[pruner]())
        self.version = "optuna " + optuna.__version__

    def ask(self):
        trial = self.study.ask()
        self.trials[trial.number] = trial
        suggest = {"float": lambda p: trial.suggest_float(p["name"], p["min"], p["max"], log=p.get("log", False)),
                   "int": lambda p: trial.suggest_int(p["name"], p["min"], p["max"], log=p.get("log", False)),
                   "categorical": lambda p: trial.suggest_categorical(p["name"], p["values"])}
        return trial.number, {p["name"]: suggest[p["type"]](p) for p in self.space}

    def report(self, trial, step, value):
        self.trials[trial].report(value, step)
        return self.trials[trial].should_prune()

    def end(self, trial, values, stopped):
        state = self.optuna.trial.TrialState
        known = self.trials.pop(trial)
        if not math.isfinite(values[-1]):
            self.study.tell(known, state=state.FAIL)
        elif stopped:
            self.study.tell(known, state=state.PRUNED)
        else:
            self.study.tell(known, values[-1])

    def close(self):
        pass
