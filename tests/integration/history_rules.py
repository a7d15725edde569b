"""What must hold of what clients saw and of the study's log, however often the daemon was killed between them."""

import bisect
import calendar
import collections
import dataclasses
import json
import time

ENDED = {"COMPLETED", "FAILED", "INFEASIBLE", "CANCELLED"}
REFUSALS = ("ABORTED", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED")


def value(trial, step):
    """What a client measures; step 0: its final value."""
    return trial + step / 1024


@dataclasses.dataclass
class Record:
    calls: list
    events: list  # StudyEvent, the whole log.
    tailed: list  # StudyEvent, as one client was shown them.
    trials: list  # As they are in the end.
    replay: object
    errors: list
    ttl: float


@dataclasses.dataclass
class Fact:
    seq: int
    time: float
    kind: str
    trial: int
    request_id: str
    payload: dict


def fact_of(event):
    return Fact(event.seq, event.time.seconds + event.time.nanos / 1e9, event.kind, event.trial, event.request_id,
                json.loads(event.payload_json))


def seconds(text):
    """An RFC 3339 time of the log, in UTC, as seconds since 1970."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{fraction or 0}")


def check(record):
    facts = [fact_of(event) for event in record.events]
    return (record.errors + check_log(record, facts) + check_chains(facts) + check_leases(record, facts) +
            check_calls(record, facts) + check_reads(record) + check_final(record, facts))


def numbers(record):
    calls = collections.Counter(call.verb for call in record.calls)
    repeated = sum(call.tries > 1 for call in record.calls)
    again = sum(bool(call.again) for call in record.calls)
    kinds = collections.Counter(event.kind for event in record.events)
    return (f"{len(record.calls)} calls ({', '.join(f'{count} {verb}' for verb, count in sorted(calls.items()))}), "
            f"{repeated} tried more than once, {again} sent again after their answer; {len(record.trials)} trials, "
            f"{len(record.events)} events, {kinds['lease_expired']} leases expired")


def check_log(record, facts):
    problems = []
    if [fact.seq for fact in facts] != list(range(1, len(facts) + 1)):
        problems.append("numbers of events have gaps")
    stored = {event.seq: event for event in record.events}
    for event in record.tailed:
        if stored.get(event.seq) != event:
            problems.append(f"event {event.seq} was shown and is gone or changed: {event}")
    if [event.seq for event in record.tailed] != sorted({event.seq for event in record.tailed}):
        problems.append("somebody who followed the log was shown an event twice or out of order")
    created = [fact.trial for fact in facts if fact.kind == "trial_created"]
    if created != list(range(1, len(created) + 1)):
        problems.append("numbers of trials have gaps or duplicates")
    points = collections.Counter(str(fact.payload["point"]) for fact in facts if fact.kind == "trial_created")
    problems += [f"point {point} was suggested {count} times" for point, count in points.items() if count > 1]
    if record.replay.problems or record.replay.verified != record.replay.suggestions + record.replay.stops:
        problems.append(f"replay: {record.replay}")
    return problems


def check_chains(facts):
    """A trial's states follow one another, and none follows an end."""
    state, problems = {}, []
    for fact in facts:
        if fact.kind == "trial_created":
            state[fact.trial] = "REQUESTED"
        if fact.kind == "trial_state_changed":
            if fact.payload["from"] != state[fact.trial] or state[fact.trial] in ENDED:
                problems.append(f"event {fact.seq}: trial {fact.trial} was {state[fact.trial]}: {fact.payload}")
            state[fact.trial] = fact.payload["to"]
        if fact.kind == "measurement_reported" and state[fact.trial] in ENDED:
            problems.append(f"event {fact.seq}: a measurement of trial {fact.trial}, which is {state[fact.trial]}")
    return problems


def check_leases(record, facts):
    """Nobody is granted a trial while somebody else's lease lives, by the log and by what its holder was told."""
    heard = collections.defaultdict(list)  # When the service must have heard of the holder of a lease.
    for call in record.calls:
        if call.is_acknowledged and call.verb == "heartbeat":
            heard[call.trial, call.client, call.token].append(call.sent)
    problems, lease = [], {}
    for fact in facts:
        now = lease.get(fact.trial)
        if fact.kind == "lease_granted":
            granted = fact.payload["lease"]
            if now and now["lives"]:
                problems.append(f"event {fact.seq}: trial {fact.trial} was granted to {granted['holder']} while "
                                f"{now['holder']} had it")
            if now and granted["token"] <= now["token"]:
                problems.append(f"event {fact.seq}: the token of trial {fact.trial} did not grow")
            for sent in heard[fact.trial, now["holder"], now["token"]] if now else []:
                if sent < fact.time < sent + record.ttl / 2:
                    problems.append(f"event {fact.seq}: trial {fact.trial} was taken from {now['holder']} "
                                    f"{fact.time - sent:.2f} s after its heartbeat")
            lease[fact.trial] = {"holder": granted["holder"], "token": granted["token"], "lives": True,
                                 "expires": seconds(granted["expires"])}
        elif fact.kind == "lease_renewed":
            now.update(lives=True, expires=seconds(fact.payload["expires"]))
        elif fact.kind == "lease_expired":
            if fact.time < now["expires"]:
                problems.append(f"event {fact.seq}: a lease of trial {fact.trial} expired {now['expires'] - fact.time:.2f} s early")
            now["lives"] = False
    return problems


def check_calls(record, facts):
    """Each request id had one effect if it was acknowledged, at most one if it was not, none if it was refused."""
    effects, losses = collections.defaultdict(list), collections.defaultdict(list)
    for fact in facts:
        if fact.request_id:
            effects[fact.request_id].append(fact)
        if fact.kind == "lease_expired":
            losses[fact.trial].append(fact)
    problems = []
    for call in record.calls:
        for problem in check_call(call, effects[call.request_id] if call.request_id else [], losses):
            problems.append(f"{call.client} {call.verb} {call.request_id} of trial {call.trial}: {problem}")
    return problems


def check_call(call, effects, losses):
    if not call.ended:
        return ["has no answer"]
    if call.refused and not call.refused.startswith(REFUSALS):
        return [f"was answered {call.refused}"]
    if call.refused:
        return [f"was refused ({call.refused}) and had effects {effects}"] if effects else []
    if call.verb == "suggest":
        return check_suggestion(call, effects, losses)
    problems = {"report": check_report, "complete": check_completion,
                "stop": check_stop}.get(call.verb, lambda call, effects: [])(call, effects)
    answered = [trial["number"] for trial in call.trials]
    if call.again and call.again != answered:
        problems.append(f"was answered with trials {answered}, repeated with {call.again}")
    return problems


def check_suggestion(call, effects, losses):
    """The answer, and that of a repetition, is what the request was granted and has not lost. It is granted more only if it
    has lost all."""
    grants = [fact for fact in effects if fact.kind in ("lease_granted", "lease_renewed")]
    problems = []
    for trials, ended in [([trial["number"] for trial in call.trials], call.ended), (call.again, call.again_ended)]:
        made = [fact for fact in grants if fact.time <= ended]
        kept = [fact.trial for fact in made if not is_lost(fact, losses, ended)]
        if ended and (not set(kept) <= set(trials) <= {fact.trial for fact in made} or len(set(trials)) != len(trials)):
            problems.append(f"was answered at {ended:.3f} with trials {trials}, granted {[(fact.trial, fact.time) for fact in made]}"
                            f", had {kept}")
    for later in grants:
        held = [fact.trial for fact in grants if fact.time < later.time and not is_lost(fact, losses, later.time)]
        if held:
            problems.append(f"was granted trial {later.trial} while it had {held}")
    for trial in call.trials:
        if trial["has_lease"] and trial["holder"] != call.client:
            problems.append(f"was handed trial {trial['number']}, which is {trial['state']} and leased to {trial['holder']}")
    return problems


def is_lost(grant, losses, when):
    return any(grant.seq < loss.seq and loss.time <= when for loss in losses[grant.trial])


def check_report(call, effects):
    reported = [fact for fact in effects if fact.kind == "measurement_reported"]
    if len(reported) != 1 or reported[0].trial != call.trial:
        return [f"is stored {len(reported)} times: {reported}"]
    measurement = reported[0].payload["measurement"]
    if measurement["step"] != call.step or measurement["metrics"] != {"score": call.value}:
        return [f"is stored as {measurement} instead of step {call.step}, {call.value}"]
    return []


def check_completion(call, effects):
    ends = [fact for fact in effects if fact.kind == "trial_state_changed" and fact.payload["to"] in ENDED]
    if len(ends) != 1 or ends[0].trial != call.trial or ends[0].payload["to"] != "COMPLETED":
        return [f"is stored as {ends}"]
    final = ends[0].payload["final_metrics"]["score"]
    answered = call.trials[0]["final"].get("score")
    if final != answered or (call.value and final != call.value):
        return [f"is stored with {final}, was sent with {call.value}, answered with {answered}"]
    return []


def check_stop(call, effects):
    stops = [fact for fact in effects if fact.kind == "stop_decided"]
    moves = [fact for fact in effects if fact.kind == "trial_state_changed"]
    return [] if len(stops) <= 1 and len(moves) <= 1 else [f"had effects {effects}"]


def check_reads(record):
    """A read that began after an answer is not behind it: of a write, and of another read."""
    known = collections.defaultdict(list)  # By trial: (when, number of measurements, final state), in order of time.
    reports = collections.defaultdict(list)  # By trial: when each report was sent first.
    acknowledged = collections.defaultdict(list)  # By trial: when each report was acknowledged.
    for call in record.calls:
        if call.verb == "report":
            reports[call.trial].append(call.began)
            if call.is_acknowledged:
                acknowledged[call.trial].append(call.ended)
        for trial in call.trials if call.is_acknowledged else []:
            end = (trial["state"], trial["final"].get("score")) if trial["state"] in ENDED else None
            known[trial["number"]].append((call.ended, trial["count"], end))
    for times in [*reports.values(), *acknowledged.values()]:
        times.sort()
    prefixes = {number: prefix_of(sorted(facts, key=lambda fact: fact[0])) for number, facts in known.items()}
    problems = []
    for call in record.calls:
        for trial in call.trials if call.is_acknowledged else []:
            number = trial["number"]
            times, counts, ends = prefixes[number]
            before = bisect.bisect_left(times, call.sent) - 1
            least = max(bisect.bisect_left(acknowledged[number], call.sent), counts[before] if before >= 0 else 0)
            most = bisect.bisect_right(reports[number], call.ended)
            title = f"{call.client} {call.verb} sent at {call.sent:.6f}: trial {number}"
            if not least <= trial["count"] <= most:
                problems.append(f"{title} has {trial['count']} measurements, not {least} to {most}")
            end = ends[before] if before >= 0 else None
            if end and (trial["state"], trial["final"].get("score")) != end:
                problems.append(f"{title} is {trial['state']} {trial['final']} after it was {end}")
    return problems


def prefix_of(facts):
    """Times, and what was known at each of them."""
    times, counts, ends = [], [], []
    for when, count, end in facts:
        times.append(when)
        counts.append(max(count, counts[-1] if counts else 0))
        ends.append(ends[-1] if ends and ends[-1] else end)
    return times, counts, ends


def check_final(record, facts):
    """The rows are what the log says."""
    state, count, final = {}, collections.Counter(), {}
    measured = collections.defaultdict(dict)
    for fact in facts:
        if fact.kind == "trial_created":
            state[fact.trial] = "REQUESTED"
        elif fact.kind == "trial_state_changed":
            state[fact.trial] = fact.payload["to"]
            final[fact.trial] = fact.payload.get("final_metrics", {})
        elif fact.kind == "measurement_reported":
            count[fact.trial] += 1
            measurement = fact.payload["measurement"]
            measured[fact.trial][measurement["step"]] = measurement["metrics"]["score"]
    problems = []
    if [trial["number"] for trial in record.trials] != sorted(state):
        problems.append(f"{len(record.trials)} trials are listed, {len(state)} were created")
    for trial in record.trials:
        number = trial["number"]
        if (trial["state"], trial["count"]) != (state[number], count[number]):
            problems.append(f"trial {number} is {trial}, its log says {state[number]} with {count[number]} measurements")
        if trial["state"] == "COMPLETED":
            possible = {value(number, 0), *measured[number].values()}
            if trial["final"] != final[number] or trial["final"].get("score") not in possible:
                problems.append(f"trial {number} has {trial['final']}, its log {final[number]}, possible were {possible}")
    return problems
