"""XGBoost's own collective for a group of replicas: its tracker in the chief, the ranks those of the group."""

from vernier_trainers.reports import UserError

FIRST_WITH_COLLECTIVE = (1, 7)
FIRST_WITH_NATIVE_TRACKER = (2, 1)
CONNECT_RETRIES = 10
ROUND_TAKES = 24 * 3600  # Seconds that a replica waits for a slower one; a lost one ends it at once.


def version_of(xgboost):
    return tuple(int(part) for part in xgboost.__version__.split(".")[:2])


def check_version(xgboost, group):
    if group.size > 1 and version_of(xgboost) < FIRST_WITH_COLLECTIVE:
        raise UserError(f"several replicas need XGBoost {'.'.join(map(str, FIRST_WITH_COLLECTIVE))} or later, got "
                        f"{xgboost.__version__}")


class Collective:
    """From its construction on, what XGBoost computes is of all replicas, and one that is lost ends the others."""

    def __init__(self, xgboost, group):
        from xgboost import collective
        self.collective, self.group = collective, group
        self.native = version_of(xgboost) >= FIRST_WITH_NATIVE_TRACKER
        self.tracker, address = self.start_tracker() if group.is_chief else (None, None)
        host, port = group.exchange(address)[0]
        group.watch()
        collective.init(**self.parameters(host, port))

    def start_tracker(self):
        """The tracker, which dies with this process, and its address."""
        from xgboost.tracker import RabitTracker
        host = self.group.own_address()
        tracker = RabitTracker(host_ip=host, n_workers=self.group.size, sortby="task")
        if self.native:
            tracker.start()
            return tracker, (host, tracker.worker_args()["dmlc_tracker_port"])
        tracker.start(self.group.size)
        return tracker, (host, tracker.port)

    def parameters(self, host, port):
        task = f"{self.group.rank:06d}"  # Ranks are in the order of these texts.
        if self.native:
            return {"dmlc_communicator": "rabit", "dmlc_tracker_uri": host, "dmlc_tracker_port": port,
                    "dmlc_task_id": task, "dmlc_retry": CONNECT_RETRIES, "dmlc_timeout": ROUND_TAKES}
        return {"rabit_tracker_uri": host, "rabit_tracker_port": port, "rabit_task_id": task,
                "DMLC_WORKER_CONNECT_RETRY": CONNECT_RETRIES}

    def end(self):
        self.collective.finalize()
        self.group.leave()
