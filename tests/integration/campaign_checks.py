"""What must hold after crash_campaign.py, whatever was killed, suspended, removed or full."""

import calendar
import collections
import json
import re
import time

from campaign_program import birth, fails, is_long, score
from daemon import left_over

ENDED_TRIALS = {"COMPLETED", "FAILED"}  # Nobody cancels any.
ENDED_ATTEMPTS = {"SUCCEEDED", "FAILED", "STOPPED", "LOST"}
PATIENCE = 600  # Seconds in which everything must have ended, on a machine that is busy with other work.


class Violation(Exception):
    pass


def seconds(text):
    """The time of day that a time of the service says, without fractions."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def check(campaign):
    """A line of numbers; Violation with every sentence that does not hold."""
    await_end(campaign)
    problems = check_host(campaign)
    counts = collections.Counter()
    for name, spec in campaign.studies.specs.items():
        problems += Outcome(campaign, name, spec).problems(counts)
    if problems:
        raise Violation("\n".join(problems))
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def await_end(campaign):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if campaign.daemon.process.poll() is not None:
            raise Violation(f"the daemon ended by itself with {campaign.daemon.process.returncode}")
        if not campaign.studies.count_open() and not left_over(campaign.daemon.folder):
            return
        time.sleep(0.2)
    daemon = campaign.daemon
    states = {name: daemon.json("study", "show", name)["state"] for name in campaign.studies.specs}
    stuck = [name for name, state in states.items() if state != "COMPLETED"]
    trials = [f"{name} trial {trial['number']} {trial['state']}" for name in stuck
              for trial in daemon.json("trial", "list", name) if trial["state"] not in ENDED_TRIALS]
    raise Violation(f"not at their end after {PATIENCE} s: {stuck}; {trials}; processes left over: "
                    f"{[process for process, _ in left_over(daemon.folder)]}")


def check_host(campaign):
    problems = []
    for node in campaign.daemon.json("node", "list"):
        if node["free_cpus"] != node["cpus"] or node["free_memory_bytes"] != node["memory_bytes"]:
            problems.append(f"room is still taken: {node}")
    queue = campaign.daemon.json("queue", "list")
    return problems + ([f"trials wait still: {queue}"] if queue else [])


class Outcome:
    """One study, as the daemon, the user who watched it, and its programs tell of it."""

    def __init__(self, campaign, name, spec):
        self.campaign, self.name, self.spec = campaign, name, spec
        daemon = campaign.daemon
        self.study = daemon.json("study", "show", name)
        self.trials = daemon.json("trial", "list", name)
        self.events = [json.loads(line) for line in daemon.call("study", "export", name).splitlines()]
        self.replay = daemon.call("study", "replay", name, "--verify", "--strict")  # Exits if it diverges.
        words = spec["job"]["command"]
        self.how, self.way = words[words.index("--how") + 1], words[words.index("--way") + 1]
        self.steps = int(words[words.index("--steps") + 1])

    def problems(self, counts):
        counts["studies"] += 1
        counts["trials"] += len(self.trials)
        counts["attempts"] += sum(len(trial["attempts"]) for trial in self.trials)
        counts["events"] += len(self.events)
        found = self.check_study() + self.check_log()
        for trial in self.trials:
            counts["failed trials"] += trial["state"] == "FAILED"
            journal = self.journal(trial["number"])
            found += self.check_trial(trial, journal) + self.check_reports(trial, journal)
        return [f"{self.name}: {problem}" for problem in found]

    def journal(self, number):
        path = self.campaign.studies.journal / f"{self.name}.{number}"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    # The study and its log.

    def check_study(self):
        budget = self.spec["budget"]["trials"]
        problems = []
        if self.study["state"] != "COMPLETED" or self.study.get("open_count"):
            problems.append(f"is {self.study['state']}: {self.study.get('reason')}, {self.study.get('open_count')} open")
        if [trial["number"] for trial in self.trials] != list(range(1, budget + 1)):
            problems.append(f"has trials {[trial['number'] for trial in self.trials]}, its budget is {budget}")
        return problems

    def check_log(self):
        problems = []
        numbers = [event["seq"] for event in self.events]
        if numbers != list(range(1, len(numbers) + 1)):
            problems.append(f"numbers of its events have gaps: {numbers}")
        stored = {event["seq"]: event for event in self.events}
        for event in self.campaign.studies.watches[self.name].events:
            if stored.get(event["seq"]) != event:
                problems.append(f"event {event['seq']} was shown as {event} and is now {stored.get(event['seq'])}")
        created = collections.Counter(event["trial"] for event in self.events if event["kind"] == "trial_created")
        return problems + [f"trial {number} was created {count} times" for number, count in created.items() if count > 1]

    # Trials.

    def hits(self, trial, attempt=None):
        return [hit for hit in self.campaign.hits if hit["study"] == self.name and hit["trial"] == trial["number"] and
                (attempt is None or hit["attempt"] == attempt["number"])]

    def check_trial(self, trial, journal):
        title = f"trial {trial['number']}"
        problems = [f"{title}: two runs at once: {line}" for line in journal if line["event"] == "overlap"]
        problems += [f"{title}: {line} runs still" for line in journal
                     if line["event"] == "start" and birth(line["process"]) == line["born"]]
        if trial["state"] not in ENDED_TRIALS:
            problems.append(f"{title} is {trial['state']}: {trial.get('message')}")
        for attempt in trial["attempts"]:
            why = self.unexplained(trial, attempt, journal)
            if why:
                problems.append(f"{title} attempt {attempt['number']} is {attempt['state']} "
                                f"{attempt.get('failure', '')}: {why}: {attempt.get('message')}; hits {self.hits(trial)}")
            problems += self.check_restarts(trial, attempt, journal)
        if trial["state"] == "COMPLETED":
            problems += self.check_value(trial, journal)
        elif trial.get("failure") == "NO_METRIC" and not self.may_lack_reports(trial, journal):
            problems.append(f"{title} lacks a metric that its program reported: {trial['message']}")
        return problems

    def unexplained(self, trial, attempt, journal):
        """Empty if somebody is to blame for this end who was hit, or who ends so by its nature."""
        state, failure = attempt["state"], attempt.get("failure", "")
        kinds = {hit["kind"] for hit in self.hits(trial, attempt)}
        if state not in ENDED_ATTEMPTS:
            return "it has not ended"
        if state == "SUCCEEDED":
            return ""
        if state == "STOPPED":
            return "" if trial.get("stop") else "nobody stopped it"
        if failure in ("NODE_LOST", "INTERNAL"):
            return self.unexplained_loss(trial, attempt, kinds)
        if failure == "PREEMPTED":
            return self.unexplained_kill(trial, attempt)
        if failure == "TIMEOUT":
            return self.unexplained_timeout(trial, attempt, journal)
        if failure == "USER_ERROR":
            return "" if fails(trial["number"], attempt["number"], self.how) else "its program does not fail"
        return "there is no such fault"

    def was_full(self, attempt):
        """Whether the disk of the runs was full while the attempt lived."""
        placed, ended = seconds(attempt["place_time"]), seconds(attempt["end_time"]) + 1
        return any(placed <= until and begun <= ended for begun, until in self.campaign.full)

    def unexplained_loss(self, trial, attempt, kinds):
        if kinds & {"folder-removed"} or self.was_full(attempt):
            return ""
        if "supervisor-kill" not in kinds:
            return "no supervisor of it was killed"
        return self.wrongly_blamed(trial, attempt, "supervisor-kill")

    def unexplained_kill(self, trial, attempt):
        allowed = self.spec["job"].get("restarts", {}).get("replica", 5)
        kills = collections.Counter(
            hit["replica"] for hit in self.hits(trial, attempt) if hit["kind"] == "replica-kill")
        # Failures of one minute count as one, the first: a program that was killed and then ends badly by itself.
        ends_badly = bool(kills) and fails(trial["number"], attempt["number"], self.how)
        if not ends_badly and (not kills or max(kills.values()) <= allowed):
            return f"its replicas were killed {dict(kills)} times, {allowed} restarts are allowed"
        return self.wrongly_blamed(trial, attempt, "replica-kill")

    def wrongly_blamed(self, trial, attempt, kind):
        blamed = re.search(r"The replica (\w+) (\d+) ", attempt.get("message", ""))
        victims = {hit["replica"] for hit in self.hits(trial, attempt) if hit["kind"] == kind}
        if not blamed:
            return "its message blames nobody"
        return "" if f"{blamed[1]}-{blamed[2]}" in victims else f"not {blamed[1]} {blamed[2]} was hit, but {victims}"

    def unexplained_timeout(self, trial, attempt, journal):
        limit = self.spec["job"]["limits"].get("time")
        if not limit:
            return "it has no time limit"
        runs = [line for line in journal if line["attempt"] == attempt["number"] and line["replica"] == "chief-0"]
        begun = min((line["at"] for line in runs if line["event"] == "start"), default=None)
        ended = [line["at"] for line in runs if line["event"] == "end"]
        if begun is not None and ended and ended[-1] - begun < float(limit.removesuffix("s")):
            return f"its program ended after {ended[-1] - begun:.2f} s, its limit is {limit}"
        return ""

    def check_restarts(self, trial, attempt, journal):
        problems = []
        kills = collections.Counter(
            hit["replica"] for hit in self.hits(trial, attempt) if hit["kind"] == "replica-kill")
        runs = collections.Counter(line["replica"] for line in journal
                                   if line["event"] == "start" and line["attempt"] == attempt["number"])
        for replica in attempt.get("replicas", []):
            name = f"{replica['role']}-{replica['index']}"
            title = f"trial {trial['number']} attempt {attempt['number']} {name}"
            if replica.get("restarts", 0) > kills[name]:
                problems.append(f"{title} was restarted {replica['restarts']} times, killed {kills[name]} times")
            if runs[name] > kills[name] + 1:
                problems.append(f"{title} ran {runs[name]} times, was killed {kills[name]} times")
        return problems

    def may_lack_reports(self, trial, journal):
        return (any(hit["kind"] == "metrics" for hit in self.hits(trial)) or
                any(line["event"] == "unreported" for line in journal))

    def check_value(self, trial, journal):
        x, kind = trial["parameters"]["x"], trial["parameters"]["kind"]
        found = trial["final_metrics"]["score"]
        title = f"trial {trial['number']}"
        if trial.get("stop") or self.may_lack_reports(trial, journal):
            possible = [score(x, kind, step, self.steps) for step in range(1, self.steps + 1)]
        else:
            possible = [score(x, kind, self.steps, self.steps)]
        problems = [] if found in possible else [f"{title} has {found} instead of {possible}: {trial}"]
        if is_long(x, self.how):
            problems.append(f"{title} never ends by itself")
        elif fails(trial["number"], len(trial["attempts"]), self.how) and not trial.get("stop"):
            problems.append(f"{title} ends badly by nature")
        return problems

    # Reports.

    def check_reports(self, trial, journal):
        """Each was stored as often as it was made: at least if it was acknowledged, at most if it was tried."""
        stored = collections.Counter()
        problems = []
        title = f"trial {trial['number']}"
        for event in self.events:
            if event["kind"] == "measurement_reported" and event["trial"] == trial["number"]:
                measurement = event["payload"]["measurement"]
                stored[measurement["step"]] += 1
                expected = score(trial["parameters"]["x"], trial["parameters"]["kind"], measurement["step"], self.steps)
                if measurement["metrics"]["score"] != expected:
                    problems.append(f"{title} reported {measurement}, its program computes {expected}")
        chiefs = sum(line["event"] == "start" and line["replica"] == "chief-0" for line in journal)
        tried, acknowledged = (collections.Counter(line["step"] for line in journal if line["event"] == kind)
                               for kind in ("reporting", "acknowledged"))
        for step in range(1, self.steps + 1):
            most = tried[step] if self.way == "report" else chiefs
            if not acknowledged[step] <= stored[step] <= most:
                problems.append(f"{title}: step {step} is stored {stored[step]} times, acknowledged {acknowledged[step]} "
                                f"times, reported at most {most} times")
        return problems

