"""HEBO with one of its parts changed at a time: what makes the difference between it and a plain Gaussian process.

HEBO 0.3.6 models values after a power transform by a Matern 3/2 kernel whose length scales begin as the median distances of
the trials and are moved by 100 small steps of stochastic gradient Langevin dynamics; it proposes one point by chance of the
front between expected improvement, probability of improvement and a lower confidence bound, all three with noise added; and
begins with 1 + d scrambled Sobol points.
"""

from unittest import mock

from engines import Hebo


def values_as_they_are():
    """Standardised only: what HEBO does itself where the transform fails."""
    def refuse(*_, **__):
        raise RuntimeError("no transform")
    return mock.patch("hebo.optimizers.hebo.power_transform", refuse)


def no_noise():
    """None in the three acquisition functions."""
    import torch
    return mock.patch("hebo.acquisitions.acq.torch.randn", torch.zeros)


def matern_52():
    from gpytorch.kernels import MaternKernel
    return mock.patch("hebo.models.gp.gp_util.MaternKernel", lambda nu, **options: MaternKernel(nu=2.5, **options))


def improvement_only():
    """The front of one function, the expected improvement, is its best point."""
    from hebo.acquisitions.acq import MACE

    class Improvement(MACE):
        @property
        def num_obj(self):
            return 1

        def eval(self, x, xe):
            return super().eval(x, xe)[:, 1:2]
    return {"acq_cls": Improvement}


def fitted():
    """Hyperparameters by the most likely value, as far as 200 steps of Adam get."""
    return {"model_config": {"lr": 0.05, "num_epochs": 200, "verbose": False, "noise_lb": 8e-4, "pred_likeli": False,
                             "optimizer": "adam"}}


def three_to_begin_with():
    return {"rand_sample": 3}


# What takes the part out of HEBO while it runs, and what HEBO can be told.
PATCHES = {"hebo-values-as-they-are": values_as_they_are, "hebo-no-noise": no_noise, "hebo-matern-5/2": matern_52}
OPTIONS = {"hebo-improvement-only": improvement_only, "hebo-fitted": fitted,
           "hebo-three-to-begin-with": three_to_begin_with}
PARTS = [*PATCHES, *OPTIONS]


class HeboChanged(Hebo):
    """One at a time in a process: its part is out of HEBO until it is closed."""

    def __init__(self, part, problem, seed):
        self.patch = PATCHES[part]() if part in PATCHES else None
        if self.patch:
            self.patch.start()
        super().__init__(problem, seed, **(OPTIONS[part]() if part in OPTIONS else {}))

    def close(self):
        if self.patch:
            self.patch.stop()
