"""The same cycle as vizier_load's, by Vizier's own Python client in threads: prints trials a second as JSON.

usage: client_load.py ADDRESS THREADS SECONDS
"""

import json
import sys
import threading
import time

from vizier.service import clients
from vizier.service import pyvizier as vz

clients.environment_variables.server_endpoint = sys.argv[1]
threads, seconds = int(sys.argv[2]), float(sys.argv[3])
config = vz.StudyConfig(algorithm="RANDOM_SEARCH")
for name in "abcd":
    config.search_space.root.add_float_param(name, 0.0, 1.0)
config.metric_information.append(vz.MetricInformation(name="loss", goal=vz.ObjectiveMetricGoal.MINIMIZE))
study_id = f"client_{time.time_ns()}"
clients.Study.from_study_config(config, owner="load", study_id=study_id)
done, lock = [0], threading.Lock()


def work(index, end):
    study = clients.Study.from_owner_and_id("load", study_id)
    count = 0
    while time.monotonic() < end:
        trial = study.suggest(count=1, client_id=f"client-{index}")[0]
        trial.complete(vz.Measurement({"loss": 0.5}))
        count += 1
    with lock:
        done[0] += count


began = time.monotonic()
workers = [threading.Thread(target=work, args=(i, began + seconds)) for i in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(json.dumps({"threads": threads, "trials": done[0], "trials_per_second": done[0] / (time.monotonic() - began)}))
