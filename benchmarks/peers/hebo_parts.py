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
    return [mock.patch("hebo.optimizers.hebo.power_transform", refuse)]


def no_noise():
    """None in the three acquisition functions."""
    import torch
    return [mock.patch("hebo.acquisitions.acq.torch.randn", torch.zeros)]


def improvement_only():
    """The front of one function, the expected improvement, is its best point."""
    from hebo.acquisitions.acq import MACE

    class Improvement(MACE):
        @property
        def num_obj(self):
            return 1

        def eval(self, x, xe):
            return super().eval(x, xe)[:, 1:2]
    return [mock.patch("hebo.optimizers.hebo.MACE", Improvement)]


def smoother_kernel():
    """Matern 5/2."""
    from gpytorch.kernels import MaternKernel

    def matern(nu, **options):
        return MaternKernel(nu=2.5, **options)
    return [mock.patch("hebo.models.gp.gp_util.MaternKernel", matern)]


def fitted():
    """Hyperparameters by the most likely value, as far as 200 steps of Adam get."""
    return [mock.patch("hebo.optimizers.hebo.HEBO.model_config", mock.PropertyMock(side_effect=lambda: dict(
        lr=0.05, num_epochs=200, verbose=False, noise_lb=8e-4, pred_likeli=False, optimizer="adam")))]


def few_to_begin_with():
    """Three points, whatever the number of parameters."""
    return []


PARTS = {"hebo-values-as-they-are": values_as_they_are, "hebo-no-noise": no_noise, "hebo-improvement-only": improvement_only,
         "hebo-matern-5/2": smoother_kernel, "hebo-fitted": fitted, "hebo-three-to-begin-with": few_to_begin_with}


class HeboChanged(Hebo):
    """Of floats and integers only. One at a time in a process: its parts are changed until it is closed."""

    def __init__(self, part, problem, seed):
        self.patches = PARTS[part]()
        for patch in self.patches:
            patch.start()
        super().__init__(problem, seed)
        if part == "hebo-improvement-only":
            import hebo.optimizers.hebo as module
            self.optimizer.acq_cls = module.MACE
        if part == "hebo-three-to-begin-with":
            self.optimizer.rand_sample = 3

    def close(self):
        for patch in self.patches:
            patch.stop()
