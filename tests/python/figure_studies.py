"""Studies whose figures the tests draw: every kind of parameter, and everything that may become of a trial."""

import math

import vernier

SPACE = {
    "lr": vernier.Float(1e-5, 0.1, log=True),
    "optimizer": ["sgd", "adam"],
    "momentum": vernier.Float(0.5, 0.99, when={"optimizer": "sgd"}),
    "batch": vernier.Discrete([16, 32, 64]),
    "keep": vernier.Float(0.5, 0.999, reverse_log=True),
    "layers": vernier.Int(1, 4),
    "mixed": vernier.Categorical(["a", 1, 2.5, True]),
    "deep": vernier.Bool(),
}
# What is markup, a formula, or code in one of the formats.
RUBBISH = "<b>$x_1$ & \"y\" '${z}' </title></script> \u2028 ÄÖ 漢字"


def accuracy(params):
    return 0.95 - (math.log10(params["lr"]) + 3) ** 2 / 20 - (1 - params.get("momentum", 0.9)) / 2 - params["layers"] / 100


def everything(algorithm="gp", trials=24):
    """Completed, stopped, diverged, failed, infeasible, cancelled and open trials, an outlier, and reports."""
    study = vernier.create_study("everything", SPACE, maximize="accuracy", algorithm=algorithm, stopping="median")
    for number in range(1, trials + 1):
        trial = study.ask()
        value = -1000.0 if number == 9 else accuracy(trial.params)
        for step in range(1, 6):
            trial.report(step, accuracy=value * step / 5, loss=1 / step)
        if number == 5:
            study.tell(trial, failed="out of <memory>")
        elif number == 6:
            study.tell(trial, infeasible="too wide")
        elif number == 7:
            study.tell(trial, math.nan)
        elif number == trials:
            return study, trial  # It stays open as long as the caller has it.
        else:
            study.tell(trial, value)
    raise AssertionError


def two_objectives():
    """With a constraint on points and one on results."""
    study = vernier.create_study(
        "two",
        {"width": vernier.Int(1, 128, log=True), "depth": vernier.Int(1, 6)},
        maximize="accuracy",
        minimize="latency",
        constraints=["width * depth <= 400"],
        outcome_constraints=["memory <= 80"],
    )
    study.optimize(
        lambda t: {"accuracy": 1 - 1 / (t["width"] * t["depth"]), "latency": t["width"] * t["depth"] / 10, "memory": t["width"]},
        trials=15,
    )
    return study


def rubbish():
    """Names and values of text that is markup, formulas or code elsewhere."""
    space = {RUBBISH: [RUBBISH, "b"], "x": vernier.Float(0, 1)}
    study = vernier.create_study("rubbish", space, minimize=RUBBISH)
    study.optimize(lambda trial: trial["x"], trials=8)
    return study


def narrow():
    """Nothing to tell apart: one value of each parameter, one result."""
    space = {"one": ["only"], "fixed": vernier.Float(2, 2, log=True), "n": vernier.Int(3, 3), "x": vernier.Float(0, 1)}
    study = vernier.create_study("narrow", space, minimize="loss", algorithm="random")
    study.optimize(lambda trial: 0.5, trials=3)
    return study


def empty():
    return vernier.create_study("empty", {"x": vernier.Float(0, 1), "y": vernier.Float(0, 1)}, minimize="loss")


def figures():
    """(name, figure) of every figure of every study."""
    study, open_trial = everything()
    for made in (study, two_objectives(), rubbish(), narrow(), empty()):
        for kind in ("history", "curves", "importance", "slice", "parallel", "contour", "rank", "compare", "edf", "timeline"):
            yield f"{made.name} {kind}", getattr(vernier.plots, kind)(made)
    yield "curves of another metric", vernier.plots.curves(study, "loss")
    yield "regret", vernier.plots.history(study, axis="regret")
    yield "pareto", vernier.plots.pareto(two_objectives())
    yield "hypervolume", vernier.plots.hypervolume(two_objectives())
    yield "two compared", vernier.plots.compare(narrow(), empty(), objective="loss")
    yield "two distributions", vernier.plots.edf(narrow(), narrow())
    del open_trial
