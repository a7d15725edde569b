"""What is compared: each engine proposes parameters and is told what they came to."""

import json
import subprocess
import time


class Vernier:
    def __init__(self, command, algorithm, problem, seed):
        self.process = subprocess.Popen(command + ["ask-tell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.send({"op": "create", "space": problem.space, "seed": seed, "algorithm": algorithm,
                   "goal": ["minimize"] * problem.objectives,
                   "outcome_constraints": [f"constraint {k}" for k in range(problem.constraints)]})

    def send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def ask(self):
        trial = self.send({"op": "ask", "n": 1})["trials"][0]
        return trial["id"], trial["params"]

    def tell(self, trial, values, slacks):
        self.send({"op": "tell", "id": trial, "value": values, "slacks": slacks})

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


class Optuna:
    def __init__(self, sampler, problem, seed):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        kept = (lambda trial: [-slack for slack in trial.user_attrs["slacks"]]) if problem.constraints else None
        samplers = {"gp": optuna.samplers.GPSampler, "tpe": optuna.samplers.TPESampler,
                    "nsga2": optuna.samplers.NSGAIISampler}
        self.space = problem.space
        self.study = optuna.create_study(directions=["minimize"] * problem.objectives,
                                         sampler=samplers[sampler](seed=seed, constraints_func=kept))

    def ask(self):
        trial = self.study.ask()
        params = {}
        for p in self.space:
            if p["type"] in ("categorical", "discrete"):
                params[p["name"]] = trial.suggest_categorical(p["name"], p["values"])
            else:
                suggest = trial.suggest_int if p["type"] == "int" else trial.suggest_float
                params[p["name"]] = suggest(p["name"], p["min"], p["max"], log=p.get("log", False))
        return trial, params

    def tell(self, trial, values, slacks):
        trial.set_user_attr("slacks", slacks)
        self.study.tell(trial, values)

    def close(self):
        pass


def run(engine, problem, trials):
    """The values of each trial, None where it breaks a constraint, and the seconds that each proposal took."""
    history, seconds = [], []
    for _ in range(trials):
        began = time.perf_counter()
        trial, params = engine.ask()
        seconds.append(time.perf_counter() - began)
        values, slacks = problem.evaluate(params)
        engine.tell(trial, values, slacks)
        history.append(values if all(slack >= 0 for slack in slacks) else None)
    engine.close()
    return history, seconds
