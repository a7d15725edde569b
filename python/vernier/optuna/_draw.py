"""Independent samples, for parameters that the algorithm does not know yet."""

from __future__ import annotations

import math
import random
from typing import Any

from vernier.optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution


def draw(dist: BaseDistribution, rng: random.Random) -> Any:
    """A random value of the distribution."""
    if isinstance(dist, CategoricalDistribution):
        return dist.choices[rng.randrange(len(dist.choices))]
    if isinstance(dist, FloatDistribution):
        if dist.log:
            return min(max(math.exp(rng.uniform(math.log(dist.low), math.log(dist.high))), dist.low), dist.high)
        if dist.step is None:
            return dist.low + (dist.high - dist.low) * rng.random()
        return dist.on_grid(dist.low + rng.randint(0, round((dist.high - dist.low) / dist.step)) * dist.step)
    assert isinstance(dist, IntDistribution)
    if dist.log:
        value = round(math.exp(rng.uniform(math.log(dist.low - 0.5), math.log(dist.high + 0.5))))
        return min(max(value, dist.low), dist.high)
    return dist.low + rng.randint(0, (dist.high - dist.low) // dist.step) * dist.step
