"""XGBoost: boosted trees by the package xgboost, evaluated after each round.

python3 -m vernier_trainers.xgboost --objective=binary:logistic --preprocess --training_data_path=data.csv
"""

import base64
import json

from vernier_trainers import reports

np = reports.need("numpy", "apt install python3-numpy")

from vernier_trainers import arguments as command_line
from vernier_trainers import collective, data, job_directory
from vernier_trainers import group as groups
from vernier_trainers.reports import UserError, log

# What each objective is evaluated by unless --eval_metric says.
REGRESSION = ("rmse", "mae")
OBJECTIVES = {
    "binary:logistic": ("error", "logloss", "auc"),
    "binary:hinge": ("error",),
    "multi:softmax": ("merror", "mlogloss"),
    "multi:softprob": ("merror", "mlogloss"),
    "reg:squarederror": REGRESSION,
    "reg:squaredlogerror": REGRESSION,
    "reg:pseudohubererror": REGRESSION,
    "reg:logistic": REGRESSION,
    "reg:gamma": REGRESSION,
    "reg:tweedie": REGRESSION,
    "count:poisson": REGRESSION,
}
OLDER_OBJECTIVES = {"reg:linear": "reg:squarederror"}
ERROR_RATES = ("error", "merror")
MOST_REPORTS = 200

number, whole = command_line.number, command_line.whole
# XGBoost's own parameters, under its own names; those that are not given are its own defaults.
PARAMETERS = {
    "booster": str, "eta": number(0, 1), "gamma": number(0), "max_depth": whole(0), "min_child_weight": number(0),
    "max_delta_step": number(0), "subsample": number(above=0, most=1), "colsample_bytree": number(above=0, most=1),
    "colsample_bylevel": number(above=0, most=1), "colsample_bynode": number(above=0, most=1), "lambda": number(0),
    "alpha": number(0), "tree_method": str, "scale_pos_weight": number(0), "updater": str, "refresh_leaf": whole(0),
    "grow_policy": str, "max_leaves": whole(0), "max_bin": whole(2), "num_parallel_tree": whole(1),
    "base_score": number(), "tweedie_variance_power": number(1, 2), "sample_type": str, "normalize_type": str,
    "rate_drop": number(0, 1), "one_drop": whole(0), "skip_drop": number(0, 1), "feature_selector": str,
    "top_k": whole(0), "nthread": whole(1), "num_class": whole(2),
}
OTHER_NAMES = {"learning_rate": "eta", "reg_alpha": "alpha", "reg_lambda": "lambda", "min_split_loss": "gamma"}
WITHOUT_EFFECT = ("sketch_eps", "predictor", "silent", "process_type")


def read_arguments(words):
    parser = command_line.Parser(__doc__.splitlines()[0])
    parser.add_argument("--objective", default="reg:squarederror", help=", ".join(OBJECTIVES))
    parser.add_argument("--eval_metric", help="of XGBoost's, separated by commas; by the objective")
    parser.add_argument("--num_boost_round", type=whole(1), default=10)
    parser.add_argument("--csv_weight", type=command_line.boolean, default=False, help="the second column is a weight")
    other = {name: other for other, name in OTHER_NAMES.items()}
    for name, read in PARAMETERS.items():
        names = [f"--{name}"] + ([f"--{other[name]}"] if name in other else [])
        parser.add_argument(*names, dest=name, type=read)
    for name in WITHOUT_EFFECT:
        parser.add_argument(f"--{name}", help="without effect")
    arguments = parser.read(words)
    arguments.objective = OLDER_OBJECTIVES.get(arguments.objective, arguments.objective)
    if arguments.objective not in OBJECTIVES:
        raise UserError(f"--objective: must be one of {', '.join(OBJECTIVES)}, got '{arguments.objective}'")
    if arguments.process_type == "update":
        raise UserError("--process_type: 'update' needs a model to begin with, and none can be given")
    for name in WITHOUT_EFFECT:
        if getattr(arguments, name) not in (None, "default"):
            log("WARNING", f"--{name} has no effect: XGBoost has it no longer")
    return arguments


def is_classification(objective):
    return objective.startswith(("binary:", "multi:"))


def metrics_of(arguments):
    """What XGBoost evaluates, the share of errors always among it in a classification."""
    usual = OBJECTIVES[arguments.objective]
    if arguments.eval_metric is None:
        return usual
    given = tuple(name.strip() for name in arguments.eval_metric.split(",") if name.strip())
    return tuple(dict.fromkeys(given + tuple(name for name in usual if name in ERROR_RATES)))


def reported_names(metrics):
    return metrics + (("accuracy",) if set(metrics) & set(ERROR_RATES) else ())


def parameters_of(arguments, parts, size):
    parameters = {"objective": arguments.objective, "seed": arguments.seed, "seed_per_iteration": True,
                  "eval_metric": list(metrics_of(arguments))}
    if size > 1:
        parameters["tree_method"] = "hist"
    parameters.update((name, getattr(arguments, name)) for name in PARAMETERS if getattr(arguments, name) is not None)
    if not is_classification(arguments.objective):
        return parameters
    found = len(parts.classes)
    if arguments.objective.startswith("binary:") and found != 2:
        raise UserError(f"--objective: '{arguments.objective}' is for two classes, the target has {found}; "
                        f"multi:softmax takes them")
    if arguments.objective.startswith("multi:"):
        if parameters.setdefault("num_class", found) < found:
            raise UserError(f"--num_class: must be at least the {found} classes that the target has, got "
                            f"{arguments.num_class}")
    return parameters


def check_alone_or_shared(arguments, parts, group):
    """What XGBoost computes in one replica only, and would get wrong in several without a word."""
    if group.size == 1:
        return
    for name, value in (("tree_method", "exact"), ("booster", "gblinear")):
        if getattr(arguments, name) == value:
            raise UserError(f"--{name}: '{value}' trains in one replica only, the job has {group.size}")
    if "grow_colmaker" in (arguments.updater or ""):
        raise UserError(f"--updater: 'grow_colmaker' trains in one replica only, the job has {group.size}")
    if len(parts.training.x) < (group.size if arguments.preprocess else 1):
        raise UserError(f"--training_data_path: has {len(parts.training.x)} rows for training, fewer than the "
                        f"{group.size} replicas")


def share_of(part, group):
    rows = slice(group.rank, None, group.size)
    return data.Part(part.x[rows], part.y[rows], None if part.weights is None else part.weights[rows])


class Trainer:
    """In a group each replica trains on its share of the rows. All evaluate the whole validation data together, since
    XGBoost evaluates together what it trains together: their metrics are those of one replica."""

    def __init__(self, xgboost, arguments, parts, group):
        self.xgboost, self.rounds, self.group = xgboost, arguments.num_boost_round, group
        self.parameters = parameters_of(arguments, parts, group.size)
        training = share_of(parts.training, group) if arguments.preprocess else parts.training
        self.training, self.validation, self.test = (
            None if part is None else xgboost.DMatrix(part.x, label=part.y, weight=part.weights)
            for part in (training, parts.validation, parts.test))
        self.report_every = -(-self.rounds // MOST_REPORTS)
        self.booster = None

    def metrics(self, matrix, number):
        """XGBoost says them as text: [9]<tab>data-error:0.05<tab>data-logloss:0.17."""
        words = self.booster.eval(matrix, "data", number).split("\t")[1:]
        metrics = {name.removeprefix("data-"): float(value) for name, _, value in (word.rpartition(":") for word in words)}
        for name in ERROR_RATES:
            if name in metrics:
                metrics["accuracy"] = 1 - metrics[name]
        return metrics

    def train(self, checkpoint, folder, reporter):
        done = self.resume(checkpoint)
        metrics = {}
        for number in range(done, self.rounds):
            self.booster.update(self.training, number)
            if (number + 1) % self.report_every == 0 or number + 1 == self.rounds:
                metrics = self.metrics(self.validation, number)
                if self.group.is_chief:
                    reporter.report(number + 1, metrics)
                    folder.save(number + 1, self.state)
        return metrics or self.metrics(self.validation, self.rounds - 1)

    def state(self):
        return bytes(self.booster.save_raw("json"))

    def resume(self, checkpoint):
        """How many rounds there are already."""
        matrices = [self.training, self.validation]
        if checkpoint is None:
            self.booster = self.xgboost.Booster(self.parameters, matrices)
            return 0
        done, content = checkpoint
        self.booster = self.xgboost.Booster(self.parameters, matrices, model_file=bytearray(content))
        if self.group.is_chief:
            log("INFO", f"goes on from step {done}")
        return done


def checkpoint_of_all(checkpoint, group):
    """The chief's, which alone has a folder."""
    done, content = checkpoint or (None, b"")
    done, content = group.exchange([done, base64.b64encode(content).decode()] if group.is_chief else None)[0]
    return None if done is None else (done, base64.b64decode(content))


def boost(xgboost, arguments, reporter, group):
    parts = data.load(arguments, classification=is_classification(arguments.objective), blanks_allowed=True, group=group)
    check_alone_or_shared(arguments, parts, group)
    said = {name: value for name, value in vars(arguments).items() if name != "job_dir"}
    folder = job_directory.JobDirectory(arguments.job_dir if group.is_chief else None,
                                        parts.fingerprint("xgboost", json.dumps(said), group.size))
    if arguments.preprocess:
        folder.write_parts(parts)
    checkpoint = checkpoint_of_all(folder.load(), group)
    joined = collective.Collective(xgboost, group) if group.size > 1 else None
    trainer = Trainer(xgboost, arguments, parts, group)
    rows, columns = parts.training.x.shape
    log("INFO", f"trains on {rows} rows of {columns} columns, {trainer.rounds} rounds, XGBoost {xgboost.__version__}"
        + (f"; replica {group.rank + 1} of {group.size}" if joined else ""))
    results = {"validation": trainer.train(checkpoint, folder, reporter)}
    if trainer.test is not None:
        results["test"] = trainer.metrics(trainer.test, trainer.rounds - 1)
    if group.is_chief:
        finish(folder, trainer, parts, results)
    if joined:
        joined.end()


def finish(folder, trainer, parts, results):
    if "test" in results:
        log("INFO", f"test: {reports.text_of(results['test'])}")
    folder.write("model/model.json", trainer.state())
    folder.write_json("artifacts/preprocessing.json", parts.describe())
    folder.write_json("artifacts/evaluation.json", results)
    folder.finish()


def train(words):
    arguments = read_arguments(words)
    reporter = reports.Reporter(reported_names(metrics_of(arguments)))
    xgboost = reports.need("xgboost", "apt install python3-xgboost")
    group = groups.join()
    if group.is_chief:
        job_directory.check_folder(arguments.job_dir)
    collective.check_version(xgboost, group)
    with group.guarded():
        try:
            boost(xgboost, arguments, reporter, group)
        except xgboost.core.XGBoostError as error:
            group.wait_for_blame()
            raise UserError(f"XGBoost: {first_sentence(str(error))}") from error


def first_sentence(text):
    """What XGBoost says, without the place in its sources and without its stack."""
    lines = [line.strip() for line in text.partition("Stack trace")[0].splitlines() if line.strip()]
    return " ".join(lines).partition("Check failed: ")[2] or " ".join(lines)


if __name__ == "__main__":
    reports.run(train)
