"""scikit-learn: a search with cross-validation, and a cross-validation that ends early."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from vernier import _space, _values
from vernier._errors import ExhaustedError, InvalidValueError
from vernier._own import Optimizer
from vernier._study import _MESSAGE, Choice, Study, create_study
from vernier._trials import Trial


class SearchCV(BaseSearchCV):
    """Searches the parameters of an estimator by cross-validation, in the place of RandomizedSearchCV or GridSearchCV:

        search = SearchCV(SVC(), {"C": vernier.Float(1e-2, 1e2, log=True), "kernel": ["linear", "rbf"]}, n_iter=30)
        search.fit(x, y)
        search.best_params_, search.best_score_, search.predict(u)

    ``param_distributions``: a search space; lists may hold any values, and scipy's ``uniform``, ``loguniform`` and ``randint``
    count as ranges. ``n_iter``: number of points to try; fewer if the space has fewer. ``parallel``: number of points that are
    chosen and evaluated at a time; ``n_jobs`` bounds the fits at a time. ``algorithm``: as of ``create_study``. The other
    arguments, and the attributes after ``fit``, are those of RandomizedSearchCV. With several scores, ``refit`` names the one to
    optimize. A point of which the mean score is NaN is a failed trial; one of which all fits fail is not in ``cv_results_``. ``study_`` is the study, in memory, with the scores as its
    metric "score"; a pickled search has none.
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any],
        *,
        n_iter: int = 10,
        parallel: int = 1,
        algorithm: Union[Choice, Optimizer, type[Optimizer]] = "gp",
        scoring: Any = None,
        n_jobs: Optional[int] = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = numpy.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.parallel = parallel
        self.algorithm = algorithm
        self.random_state = random_state

    def __getstate__(self) -> dict[str, Any]:
        # Copies, among them those for processes of joblib, have no study: it is in the memory of this process.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("study_", None)
        return state

    def _run_search(self, evaluate_candidates: Any) -> None:
        n_iter, parallel = _values.whole(self.n_iter, "n_iter", 1), _values.whole(self.parallel, "parallel", 1)
        space, labels = _space_of(self.param_distributions)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.study_: Study = create_study("search", space, maximize="score", algorithm=self.algorithm, seed=seed)
        left, has_any, failure = n_iter, False, None
        while left > 0:
            trials = self._ask(min(parallel, left))
            if not trials:
                break
            left -= len(trials)
            try:
                results = evaluate_candidates([_labelled(trial.params, labels) for trial in trials])
            except ValueError as error:
                # Raised if all fits of one call failed, which may be those of a single point.
                if self.error_score == "raise" or "fits failed" not in str(error):
                    raise
                failure = error
                for trial in trials:
                    self.study_.tell(trial, failed=_values.message(str(error), "message", _MESSAGE))
                continue
            has_any = True
            for trial, score in zip(trials, results[self._score_key(results)][-len(trials) :]):
                if score == score:
                    self.study_.tell(trial, score)
                else:
                    self.study_.tell(trial, failed="the mean score is NaN")
        if failure is not None and not has_any:
            raise failure

    def _ask(self, count: int) -> list[Trial]:
        trials: list[Trial] = []
        try:
            while len(trials) < count:
                trials.append(self.study_.ask())
        except ExhaustedError:
            pass
        return trials

    def _score_key(self, results: Mapping[str, Any]) -> str:
        if "mean_test_score" in results:
            return "mean_test_score"
        if isinstance(self.refit, str) and f"mean_test_{self.refit}" in results:
            return f"mean_test_{self.refit}"
        known = ", ".join(key[len("mean_test_") :] for key in results if key.startswith("mean_test_"))
        raise InvalidValueError(f"refit: must name the score to optimize, one of {known}, got {self.refit!r}", field="refit")


def cross_val_score(
    trial: Trial, estimator: Any, x: Any, y: Any = None, *, cv: Any = None, scoring: Any = None, groups: Any = None
) -> float:
    """The mean score of an estimator over the folds, for ``train``; what was evaluated so far if the trial is stopped.

        def train(trial):
            return cross_val_score(trial, SVC(**trial.params), x, y, cv=10)

        study = vernier.create_study("svc", space, maximize="score", stopping="median")

    After each fold the mean so far is reported as the metric "score", so that a stopping rule can end a trial before its last
    fold. Fits a clone of the estimator on each fold, in this thread.
    """
    splitter: Any = check_cv(cv, y, classifier=is_classifier(estimator))
    scorer: Any = check_scoring(estimator, scoring=scoring)
    scores: list[float] = []
    for train, test in splitter.split(x, y, groups):
        unfitted: Any = clone(estimator)
        fitted = unfitted.fit(_rows(x, train), *([] if y is None else [_rows(y, train)]))
        scores.append(float(scorer(fitted, _rows(x, test), *([] if y is None else [_rows(y, test)]))))
        trial.report(len(scores), score=sum(scores) / len(scores))
        if trial.should_stop():
            break
    return sum(scores) / len(scores)


def _rows(data: Any, indices: Any) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(data, indices)


# --- spaces ---
_Labels = dict[str, dict[Any, Any]]


def _space_of(distributions: Any) -> tuple[dict[str, Any], _Labels]:
    """The space, and the values that texts stand for, by parameter."""
    if not isinstance(distributions, Mapping) or not distributions:
        raise TypeError(f"param_distributions: must be a mapping of names to parameters, got {distributions!r}")
    space: dict[str, Any] = {}
    labels: _Labels = {}
    for name, given in distributions.items():
        if isinstance(given, _space.Parameter):
            space[name] = given
        elif hasattr(given, "rvs"):
            space[name] = _range_of(given, f"param_distributions.{name}")
        else:
            space[name], labels[name] = _choices(given, f"param_distributions.{name}")
    return space, {name: known for name, known in labels.items() if known}


def _range_of(distribution: Any, field: str) -> _space.Parameter:
    """scipy's frozen distributions with bounds."""
    kind = getattr(getattr(distribution, "dist", None), "name", "")
    if kind not in ("uniform", "loguniform", "reciprocal", "randint"):
        raise InvalidValueError(
            f"{field}: must be scipy's uniform, loguniform or randint, Float, Int or a list, got {kind or distribution!r}", field=field
        )
    low, high = distribution.support()
    if kind == "randint":
        return _space.Int(int(low), int(high))
    return _space.Float(float(low), float(high), log=kind != "uniform")


def _choices(given: Any, field: str) -> tuple[_space.Parameter, dict[str, Any]]:
    """A list of any values: those that are no plain values are named by texts."""
    if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, range, numpy.ndarray)):
        raise TypeError(f"{field}: must be a parameter, a list or a distribution of scipy, got {given!r}")
    listed = list(given)
    try:
        return _space.Categorical([_values.plain(value, field) for value in listed]), {}
    except TypeError:
        pass
    labels = {f"{i}: {value!r}"[:200]: value for i, value in enumerate(listed)}
    return _space.Categorical(list(labels)), labels


def _labelled(params: Mapping[str, Any], labels: _Labels) -> dict[str, Any]:
    return {name: labels[name][value] if name in labels else value for name, value in params.items()}
