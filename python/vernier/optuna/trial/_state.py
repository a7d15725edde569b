"""Where programs import TrialState from that look into Optuna."""

from vernier.optuna._states import TrialState

__all__ = ["TrialState"]
