"""What is compared: each engine proposes parameters and is told what they came to. All values are minimised.

An engine has ask() -> (trial, params), tell(trial, values, slacks), load([(params, value)]) for finished trials of one
objective that were made elsewhere, and close(). `space`: parameters as `vernier ask-tell` takes them; parameters that are not
active are left out of params. HEBO and Vizier know no conditions: they are given all parameters, and those that are not
active are dropped. BoTorch takes floats only. HEBO and BoTorch take one objective; only Vernier and Optuna take constraints.
"""

import json
import os
import subprocess
import sys

LOADED_AT_ONCE = 100
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # Before the libraries are loaded that read it.


def installed(makers):
    """Those names of which `makers[name]()` makes an engine; says which packages the others lack."""
    names = []
    for name, make in makers.items():
        try:
            make().close()
            names.append(name)
        except ImportError as error:
            print(f"left out: {name} ({error})", file=sys.stderr)
    return names


def is_active(p, params):
    parent = p.get("parent")
    return not parent or params.get(parent["name"]) in parent["values"]


def active(space, params):
    """`params` without those that are not active. Parents stand before their children."""
    kept = {}
    for p in space:
        if is_active(p, kept):
            kept[p["name"]] = params[p["name"]]
    return kept


class Vernier:
    def __init__(self, command, algorithm, problem, seed):
        self.process = subprocess.Popen(command + ["ask-tell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        request = {"op": "create", "space": problem.space, "seed": seed, "algorithm": algorithm,
                   "goal": ["minimize"] * problem.objectives}
        if problem.constraints:
            request["outcome_constraints"] = [f"constraint {k}" for k in range(problem.constraints)]
        self.version = self.send(request)["version"]

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

    def load(self, trials):
        for first in range(0, len(trials), LOADED_AT_ONCE):
            self.send({"op": "load", "trials": [{"params": params, "value": value}
                                                for params, value in trials[first:first + LOADED_AT_ONCE]]})

    def peak_memory(self):
        """The most that it had resident so far, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

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
        self.optuna = optuna
        self.space = problem.space
        self.study = optuna.create_study(directions=["minimize"] * problem.objectives,
                                         sampler=samplers[sampler](seed=seed, constraints_func=kept))

    def ask(self):
        trial, params = self.study.ask(), {}
        for p in self.space:
            if is_active(p, params):
                params[p["name"]] = self.suggest(trial, p)
        return trial, params

    @staticmethod
    def suggest(trial, p):
        if p["type"] == "categorical":
            return trial.suggest_categorical(p["name"], p["values"])
        if p["type"] == "discrete":
            return p["values"][trial.suggest_int(p["name"], 0, len(p["values"]) - 1)]
        suggest = trial.suggest_int if p["type"] == "int" else trial.suggest_float
        return suggest(p["name"], p["min"], p["max"], log=p.get("log", False))

    def tell(self, trial, values, slacks):
        trial.set_user_attr("slacks", slacks)
        self.study.tell(trial, values)

    def load(self, trials):
        floats = {p["name"]: self.optuna.distributions.FloatDistribution(p["min"], p["max"], log=p.get("log", False))
                  for p in self.space}
        self.study.add_trials([self.optuna.trial.create_trial(params=params, distributions=floats, value=value)
                               for params, value in trials])

    def close(self):
        pass


class Botorch:
    """SingleTaskGP with its defaults, logarithmic expected improvement, 8 starts out of 256 raw samples."""

    def __init__(self, problem, seed):
        import torch
        torch.manual_seed(seed)
        self.torch = torch
        self.space = problem.space
        self.lower = torch.tensor([p["min"] for p in self.space], dtype=torch.double)
        self.extent = torch.tensor([p["max"] - p["min"] for p in self.space], dtype=torch.double)
        self.points, self.values = [], []

    def ask(self):
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood
        values = -self.torch.tensor(self.values, dtype=self.torch.double).unsqueeze(-1)
        model = SingleTaskGP(self.torch.stack(self.points), values)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        cube = self.torch.stack([self.torch.zeros_like(self.lower), self.torch.ones_like(self.lower)])
        chosen, _ = optimize_acqf(LogExpectedImprovement(model, best_f=values.max()), cube, q=1, num_restarts=8,
                                  raw_samples=256)
        params = {p["name"]: float(v) for p, v in zip(self.space, self.lower + self.extent * chosen[0])}
        return params, params

    def tell(self, trial, values, slacks):
        self.load([(trial, values[0])])

    def load(self, trials):
        for params, value in trials:
            row = self.torch.tensor([params[p["name"]] for p in self.space], dtype=self.torch.double)
            self.points.append((row - self.lower) / self.extent)
            self.values.append(value)

    def close(self):
        pass


class Hebo:
    """HEBO with its defaults, but for `options` of its own."""

    def __init__(self, problem, seed, **options):
        import numpy
        import pandas
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        torch.manual_seed(seed)
        numpy.random.seed(seed)
        self.numpy, self.pandas = numpy, pandas
        self.space = problem.space
        self.optimizer = HEBO(DesignSpace().parse([self.described(p) for p in problem.space]), scramble_seed=seed,
                              **options)

    @staticmethod
    def described(p):
        if p["type"] == "categorical":
            return {"name": p["name"], "type": "cat", "categories": p["values"]}
        if p["type"] == "discrete":
            return {"name": p["name"], "type": "int", "lb": 0, "ub": len(p["values"]) - 1}
        kinds = {("float", False): "num", ("float", True): "pow", ("int", False): "int", ("int", True): "pow_int"}
        return {"name": p["name"], "type": kinds[p["type"], p.get("log", False)], "lb": p["min"], "ub": p["max"]}

    @staticmethod
    def value(p, cell):
        if p["type"] == "categorical":
            return next(v for v in p["values"] if v == cell)
        if p["type"] == "discrete":
            return p["values"][int(cell)]
        return int(cell) if p["type"] == "int" else min(max(float(cell), p["min"]), p["max"])

    def ask(self):
        frame = self.optimizer.suggest(1)
        return frame, active(self.space, {p["name"]: self.value(p, frame.iloc[0][p["name"]]) for p in self.space})

    def tell(self, trial, values, slacks):
        self.optimizer.observe(trial, self.numpy.array([values]))

    def load(self, trials):
        self.optimizer.observe(self.pandas.DataFrame([params for params, _ in trials]),
                               self.numpy.array([[value] for _, value in trials]))

    def close(self):
        pass


class Vizier:
    """OSS Vizier's default designer, GP-UCB-PE, in 64 bits as its service runs it.

    It compiles anew for each number of trials. Of one objective it is padded to tens of trials; of several it refuses to be:
    JAX_COMPILATION_CACHE_DIR spares compiling what an earlier run compiled.
    """

    def __init__(self, problem, seed):
        import absl.logging
        import jax
        absl.logging.set_verbosity(absl.logging.ERROR)
        jax.config.update("jax_enable_x64", True)
        from vizier import algorithms, pyvizier
        from vizier._src.algorithms.designers.gp_ucb_pe import VizierGPUCBPEBandit  # Its public module wants cvxpy, too.
        from vizier.pyvizier.converters import padding
        self.algorithms, self.pyvizier = algorithms, pyvizier
        self.space = problem.space
        self.metrics = [f"objective {k}" for k in range(problem.objectives)]
        trials = padding.PaddingType.MULTIPLES_OF_10 if problem.objectives == 1 else padding.PaddingType.NONE
        self.designer = VizierGPUCBPEBandit(self.statement(), rng=jax.random.PRNGKey(seed),
                                            padding_schedule=padding.PaddingSchedule(num_trials=trials))
        self.pending, self.finished, self.count = {}, [], 0

    def statement(self):
        statement = self.pyvizier.ProblemStatement()
        for p in self.space:
            self.describe(statement.search_space.root, p)
        for metric in self.metrics:
            statement.metric_information.append(
                self.pyvizier.MetricInformation(name=metric, goal=self.pyvizier.ObjectiveMetricGoal.MINIMIZE))
        return statement

    def describe(self, root, p):
        if p["type"] == "categorical":
            root.add_categorical_param(p["name"], [str(v) for v in p["values"]])
        elif p["type"] == "discrete":
            root.add_discrete_param(p["name"], p["values"])
        else:
            scale = self.pyvizier.ScaleType.LOG if p.get("log") else self.pyvizier.ScaleType.LINEAR
            add = root.add_int_param if p["type"] == "int" else root.add_float_param
            add(p["name"], p["min"], p["max"], scale_type=scale)

    @staticmethod
    def value(p, cell):
        if p["type"] == "categorical":
            return next(v for v in p["values"] if str(v) == cell)
        if p["type"] == "discrete":
            return min(p["values"], key=lambda v: abs(v - cell))
        return int(cell) if p["type"] == "int" else min(max(float(cell), p["min"]), p["max"])

    def ask(self):
        self.designer.update(self.algorithms.CompletedTrials(self.finished),
                             self.algorithms.ActiveTrials(list(self.pending.values())))
        self.finished = []
        self.count += 1
        trial = self.designer.suggest(1)[0].to_trial(self.count)
        self.pending[self.count] = trial
        chosen = {p["name"]: self.value(p, trial.parameters[p["name"]].value) for p in self.space}
        return self.count, active(self.space, chosen)

    def tell(self, trial, values, slacks):
        self.finish(self.pending.pop(trial), values)

    def finish(self, trial, values):
        self.finished.append(trial.complete(self.pyvizier.Measurement(metrics=dict(zip(self.metrics, values)))))

    def load(self, trials):
        for params, value in trials:
            self.count += 1
            self.finish(self.pyvizier.Trial(id=self.count, parameters=params), [value])

    def close(self):
        pass
