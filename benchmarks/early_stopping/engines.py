"""What is compared. An engine has ask() -> (trial, params), report(trial, step, value) -> whether to stop,
end(trial, values, stopped) once a trial is over, and close(). `values`: all that it reported; NaN last: it diverged.
A trial that ask() names again after it was stopped goes on from the step at which it stopped.
"""

import datetime
import importlib.metadata
import json
import logging
import math
import pathlib
import subprocess
import tempfile
import types


class Vernier:
    def __init__(self, binary, task, seed, stopping, pausing=False):
        self.process = subprocess.Popen([binary, "ask-tell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self.send({"op": "create", "space": task.space, "seed": seed, "goal": "minimize",
                                  "stopping": stopping, "curve": {"max_steps": task.max_steps, "pausing": pausing}})["version"]

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


class SyneTune:
    """A scheduler of Syne Tune with its defaults, called as its Tuner calls it. The promotion type pauses trials and resumes some."""

    def __init__(self, task, seed, scheduler, kind):
        logging.disable(logging.WARNING)  # It reports every suggestion.
        import syne_tune
        from syne_tune import config_space
        from syne_tune.backend.trial_status import Trial
        from syne_tune.optimizer import baselines
        from syne_tune.optimizer.scheduler import SchedulerDecision
        self.new_trial, self.go_on, self.task = Trial, SchedulerDecision.CONTINUE, task
        domains = {"float": lambda p: (config_space.loguniform if p.get("log") else config_space.uniform)(p["min"], p["max"]),
                   "int": lambda p: (config_space.lograndint if p.get("log") else config_space.randint)(p["min"], p["max"]),
                   "categorical": lambda p: config_space.choice(p["values"])}
        self.scheduler = {"asha": baselines.ASHA, "mobster": baselines.MOBSTER, "dyhpo": baselines.DyHPO}[scheduler](
            {p["name"]: domains[p["type"]](p) for p in task.space}, metric="value", mode="min", resource_attr="step",
            max_t=task.max_steps, random_seed=seed, **({} if scheduler == "dyhpo" else {"type": kind}))
        self.trials, self.removed = {}, set()
        self.version = "syne-tune " + syne_tune.__version__

    def ask(self):
        suggestion = self.scheduler.suggest(len(self.trials))
        if suggestion is None:
            raise RuntimeError("Syne Tune has no suggestion")
        if not suggestion.spawn_new_trial_id:
            self.removed.discard(suggestion.checkpoint_trial_id)
            return suggestion.checkpoint_trial_id, native(self.task.space, self.trials[suggestion.checkpoint_trial_id].config)
        trial = self.new_trial(trial_id=len(self.trials), config=suggestion.config, creation_time=datetime.datetime.now())
        self.trials[trial.trial_id] = trial
        self.scheduler.on_trial_add(trial)
        return trial.trial_id, native(self.task.space, trial.config)

    def report(self, trial, step, value):
        if not math.isfinite(value):
            return True
        if self.scheduler.on_trial_result(self.trials[trial], {"value": value, "step": step}) == self.go_on:
            return False
        self.scheduler.on_trial_remove(self.trials[trial])
        self.removed.add(trial)
        return True

    def end(self, trial, values, stopped):
        if not math.isfinite(values[-1]):
            self.scheduler.on_trial_error(self.trials[trial])
        elif trial not in self.removed:
            self.scheduler.on_trial_complete(self.trials[trial], {"value": values[-1], "step": len(values)})

    def close(self):
        pass


class Budgeted:
    """A peer that asks for a configuration up to some step, and may ask for more steps of it later."""

    def __init__(self):
        self.budgets = {}

    def report(self, trial, step, value):
        return step >= self.budgets[trial]

    def close(self):
        pass


class Bohb(Budgeted):
    """BOHB by its authors (hpbandster): its model and its brackets, called as its master calls them."""

    def __init__(self, task, seed):
        super().__init__()
        logging.getLogger("hpbandster").setLevel(logging.ERROR)
        import numpy
        from hpbandster.core.dispatcher import Job
        from hpbandster.optimizers.bohb import BOHB
        from hpbandster.optimizers.config_generators.bohb import BOHB as Model
        numpy.random.seed(seed)  # It draws from the global stream.
        eta, rungs = 3, int(math.log(task.max_steps) / math.log(3)) + 1
        self.master = types.SimpleNamespace(
            max_SH_iter=rungs, eta=eta, budgets=task.max_steps * numpy.power(float(eta), -numpy.arange(rungs - 1, -1, -1.0)),
            config_generator=Model(configspace=configuration_space(task.space, seed), logger=logging.getLogger("hpbandster")))
        self.space, self.new_job, self.next_bracket, self.brackets, self.jobs = task.space, Job, BOHB.get_next_iteration, [], {}
        self.version = "hpbandster " + importlib.metadata.version("hpbandster")

    def ask(self):
        for bracket in self.brackets:
            if not bracket.is_finished and (run := bracket.get_next_run()):
                break
        else:
            self.brackets.append(self.next_bracket(self.master, len(self.brackets)))
            run = self.brackets[-1].get_next_run()
        trial, config, budget = run
        self.jobs[trial] = self.new_job(trial, config=config, budget=budget)
        self.budgets[trial] = round(budget)
        return trial, native(self.space, config)

    def end(self, trial, values, stopped):
        job = self.jobs.pop(trial)
        job.result = {"loss": values[-1]} if math.isfinite(values[-1]) else None
        self.brackets[trial[0]].register_result(job)
        self.master.config_generator.new_result(job)


class Smac(Budgeted):
    """SMAC's multi-fidelity facade: Hyperband with a random forest. It resembles BOHB."""

    def __init__(self, task, seed):
        super().__init__()
        import smac
        from smac.runhistory import StatusType, TrialValue
        self.folder = tempfile.TemporaryDirectory()
        scenario = smac.Scenario(configuration_space(task.space, seed), deterministic=True, n_trials=10_000, seed=seed, min_budget=1,
                                 max_budget=task.max_steps, output_directory=pathlib.Path(self.folder.name))
        self.smac = smac.MultiFidelityFacade(scenario, lambda config, seed, budget: 0.0, overwrite=True, logging_level=False)
        self.space, self.value, self.status, self.known, self.runs = task.space, TrialValue, StatusType, {}, {}
        self.worst = 0.0
        self.version = "smac " + importlib.metadata.version("smac")

    def ask(self):
        run = self.smac.ask()
        trial = self.known.setdefault(run.config, len(self.known))
        self.runs[trial], self.budgets[trial] = run, round(run.budget)
        return trial, native(self.space, run.config)

    def end(self, trial, values, stopped):
        if math.isfinite(values[-1]):
            self.worst = max(self.worst, values[-1])
            value = self.value(cost=values[-1])
        else:  # Its forest takes no infinite cost.
            value = self.value(cost=self.worst, status=self.status.CRASHED)
        self.smac.tell(self.runs.pop(trial), value, save=False)

    def close(self):
        self.folder.cleanup()


def native(space, config):
    """The configuration with values of Python's own types."""
    kinds = {"float": float, "int": int, "categorical": lambda value: value}
    return {p["name"]: kinds[p["type"]](config[p["name"]]) for p in space}


def configuration_space(space, seed):
    import ConfigSpace
    kinds = {"float": lambda p: ConfigSpace.Float(p["name"], (p["min"], p["max"]), log=p.get("log", False)),
             "int": lambda p: ConfigSpace.Integer(p["name"], (p["min"], p["max"]), log=p.get("log", False)),
             "categorical": lambda p: ConfigSpace.Categorical(p["name"], p["values"])}
    made = ConfigSpace.ConfigurationSpace(seed=seed)
    made.add([kinds[p["type"]](p) for p in space])
    return made
