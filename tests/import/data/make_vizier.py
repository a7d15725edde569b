"""Writes vizier.db, the datastore of a server of open-source Vizier with one study, and vizier.json, what Vizier says of it.

    pip install google-vizier==0.1.24 && python3 make_vizier.py
"""

import json
import pathlib

from vizier.service import clients, servers
from vizier.service import pyvizier as vz

HERE = pathlib.Path(__file__).parent


def main():
    (HERE / "vizier.db").unlink(missing_ok=True)
    server = servers.DefaultVizierServer(database_url=f"sqlite:///{HERE}/vizier.db")
    clients.environment_variables.server_endpoint = server.endpoint
    config = vz.StudyConfig(algorithm="RANDOM_SEARCH")
    root = config.search_space.root
    root.add_float_param("lr", 1e-5, 0.1, scale_type=vz.ScaleType.LOG)
    root.add_int_param("layers", 1, 8)
    root.add_discrete_param("batch", [16, 32, 64])
    optimizer = root.add_categorical_param("optimizer", ["sgd", "adam"])
    optimizer.select_values(["sgd"]).add_float_param("momentum", 0.5, 0.99)
    config.metric_information.append(vz.MetricInformation("accuracy", goal=vz.ObjectiveMetricGoal.MAXIMIZE))
    study = clients.Study.from_study_config(config, owner="ann", study_id="digits")
    for number in range(8):
        point = {"lr": 10 ** -(1 + number / 2), "layers": 1 + number, "batch": 2.0 ** (4 + number % 3),
                 "optimizer": "adam" if number % 2 else "sgd"}
        if number % 2 == 0:
            point["momentum"] = 0.5 + number / 20
        # add_trial refuses conditional parameters, which the service knows.
        study.request(vz.TrialSuggestion(parameters=point))
        [trial] = study.suggest(count=1, client_id=f"worker-{number}")
        if number == 6:
            trial.complete(infeasible_reason="did not compile")
        elif number < 6:
            for step in (1, 2):
                trial.add_measurement(vz.Measurement({"accuracy": number * step / 20}, steps=step, elapsed_secs=step))
            trial.complete(vz.Measurement({"accuracy": number / 10, "loss": 1.0}, steps=3, elapsed_secs=3))
    said = [
        {"id": t.id, "status": t.status.name, "parameters": t.parameters.as_dict(),
         "metrics": {k: m.value for k, m in t.final_measurement.metrics.items()} if t.final_measurement else None}
        for t in study.trials().get()
    ]
    best = [t.id for t in study.optimal_trials().get()]
    (HERE / "vizier.json").write_text(json.dumps({"trials": said, "best": best}, indent=1) + "\n")


main()
