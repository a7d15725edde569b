"""Samplers under Optuna's names, which choose among Vernier's algorithms.

The options of Optuna's own methods have no counterpart, and are accepted without effect: a program need not be changed.
``seed`` counts, and so do ``constraints_func``, the grid of GridSampler and the parameters of PartialFixedSampler.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence

from vernier.optuna._draw import draw
from vernier.optuna.distributions import BaseDistribution, FloatDistribution
from vernier.optuna.exceptions import NotSupportedError

if TYPE_CHECKING:
    from vernier.optuna._states import TrialState
    from vernier.optuna.study import Study
    from vernier.optuna.trial import FrozenTrial

ConstraintsFunc = Callable[["FrozenTrial"], Sequence[float]]


class BaseSampler:
    """Base class of samplers. Those here choose among Vernier's algorithms. One of your own defines some of
    ``infer_relative_search_space``, ``sample_relative`` and ``sample_independent``; Vernier then only records its points."""

    _algorithm = ""
    # Also of a class that does not call this constructor.
    _seed: int = 0
    _constraints_func: Optional[ConstraintsFunc] = None

    def __init__(
        self, *options: Any, seed: Optional[int] = None, constraints_func: Optional[ConstraintsFunc] = None, **named: Any
    ) -> None:
        self._seed = random.SystemRandom().getrandbits(32) if seed is None else seed
        self._constraints_func = constraints_func

    def _choice(self) -> dict[str, Any]:
        """The algorithm with its options, as in a study file."""
        return {"name": self._algorithm}

    def _check(self, name: str, dist: BaseDistribution) -> None:
        """Raises ValueError for a parameter that the algorithm cannot choose."""

    # --- for samplers of one's own ---
    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that ``sample_relative`` will choose for the trial."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Chooses parameters together, before the trial begins."""
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Chooses a parameter that ``sample_relative`` did not; at random unless it is overridden."""
        return draw(param_distribution, random.Random(f"{self._seed}/{trial.number}/{param_name}"))

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Called when a trial begins."""

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]) -> None:
        """Called when a trial ends, before its state is recorded."""

    def _is_own(self) -> bool:
        """Whether it chooses points itself."""
        cls = type(self)
        return (
            cls.infer_relative_search_space is not BaseSampler.infer_relative_search_space
            or cls.sample_relative is not BaseSampler.sample_relative
            or cls.sample_independent is not BaseSampler.sample_independent
        )

    def reseed_rng(self) -> None:
        """Does nothing: the random numbers of a trial follow from the seed and the trial's number."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(seed={self._seed})"


class RandomSampler(BaseSampler):
    """Vernier's "random"."""

    _algorithm = "random"

    def __init__(self, seed: Optional[int] = None) -> None:
        super().__init__(seed=seed)


class GPSampler(BaseSampler):
    """Vernier's "gp", a Gaussian process."""

    _algorithm = "gp"


class TPESampler(GPSampler):
    """Vernier's "gp", which needs fewer trials."""

    @staticmethod
    def hyperopt_parameters() -> dict[str, Any]:
        return {}


class CmaEsSampler(GPSampler):
    """Vernier's "gp"."""


class NSGAIISampler(GPSampler):
    """Vernier's "gp", which takes several objectives."""


class NSGAIIISampler(NSGAIISampler):
    """Vernier's "gp", which takes several objectives."""


class QMCSampler(BaseSampler):
    """Vernier's "quasi-random": Sobol points."""

    _algorithm = "quasi-random"


class BruteForceSampler(BaseSampler):
    """Vernier's "grid" over everything that the program may ask for. The study ends once all has been tried."""

    _algorithm = "grid"

    def __init__(self, seed: Optional[int] = None, avoid_premature_stop: bool = False) -> None:
        super().__init__(seed=seed)

    def _check(self, name: str, dist: BaseDistribution) -> None:
        if isinstance(dist, FloatDistribution) and dist.step is None and not dist.single():
            raise ValueError(f"parameter {name!r}: BruteForceSampler needs a step, got {dist}")

    def _choice(self) -> dict[str, Any]:
        return {"name": "grid", "shuffle": True}


class GridSampler(BaseSampler):
    """Vernier's "grid" over the given values, in random order. The study ends once all have been tried."""

    _algorithm = "grid"

    def __init__(self, search_space: Mapping[str, Sequence[Any]], seed: Optional[int] = None) -> None:
        super().__init__(seed=seed)
        for name, values in search_space.items():
            for value in values:
                if value is not None and not isinstance(value, (bool, int, float, str)):
                    raise ValueError(
                        f"search_space[{name!r}]: a value must be None, bool, int, float or str, got {value!r}"
                    )
        self._search_space = {name: list(dict.fromkeys(values)) for name, values in sorted(search_space.items())}

    def _check(self, name: str, dist: BaseDistribution) -> None:
        if name not in self._search_space:
            raise ValueError(
                f"parameter {name!r}: is not in the grid of GridSampler, which has {', '.join(self._search_space)}"
            )

    def _choice(self) -> dict[str, Any]:
        return {"name": "grid", "shuffle": True}


class PartialFixedSampler(BaseSampler):
    """``base_sampler`` with fixed values of some parameters."""

    def __init__(self, fixed_params: Mapping[str, Any], base_sampler: BaseSampler) -> None:
        super().__init__(seed=base_sampler._seed, constraints_func=base_sampler._constraints_func)
        self._algorithm = base_sampler._algorithm
        self._fixed_params = dict(fixed_params)
        self._base_sampler = base_sampler

    def _choice(self) -> dict[str, Any]:
        return self._base_sampler._choice()

    def _check(self, name: str, dist: BaseDistribution) -> None:
        self._base_sampler._check(name, dist)


def checked(sampler: Any) -> BaseSampler:
    if not isinstance(sampler, BaseSampler) or not (sampler._algorithm or sampler._is_own()):
        raise NotSupportedError(
            f"sampler: must be one of vernier.optuna.samplers, such as TPESampler(), or of a class derived from BaseSampler "
            f"that samples, got {type(sampler).__name__}"
        )
    return sampler
