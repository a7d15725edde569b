"""Not here."""

from vernier.optuna._absent import refuse

refuse(__name__)
