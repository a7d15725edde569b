"""How notebooks show studies and trials. Every text in it is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence

from vernier._figure import escaped, short, shortened

if TYPE_CHECKING:
    from vernier._study import Study
    from vernier._trials import TrialRecord

# Rows of a table: the first and the last ones, half of them each.
_MOST_ROWS = 20
_MOST_COLUMNS = 12


def of_study(study: Study) -> str:
    trials = study.trials
    best = study.best
    states: dict[str, int] = {}
    for record in trials:
        states[record.state] = states.get(record.state, 0) + 1
    counted = ", ".join(f"{number} {state.lower()}" for state, number in states.items())
    facts = [
        ("state", study.state),
        ("objectives", ", ".join(f"{goal} {metric}" for metric, goal in study.objectives.items())),
        ("trials", f"{len(trials)}{': ' + counted if counted else ''}"),
    ]
    if best is not None:
        facts.append(("best", f"trial {best.number}: {_numbers(best.metrics)}"))
        facts += [(f"    {name}", _text(value)) for name, value in best.params.items()]
    return _titled(f"Study {study.name}", _facts(facts))


def of_trial(record: TrialRecord) -> str:
    facts = [("state", record.state)]
    facts += [(name, short(value)) for name, value in (record.metrics or record.last).items()]
    facts += [(f"    {name}", _text(value)) for name, value in record.params.items()]
    for name, value in (("failure", record.failure), ("message", record.message), ("stopped", record.stopped)):
        if value:
            facts.append((name, value))
    if record.duration is not None:
        facts.append(("duration", f"{short(record.duration)} s"))
    facts.append(("origin", record.origin))
    return _titled(f"Trial {record.number}", _facts(facts))


def of_trials(trials: Sequence[TrialRecord]) -> str:
    metrics = _names(record.metrics for record in trials)
    params = _names(record.params for record in trials)
    columns = ["number", "state", *metrics, *params, "stopped or failed"]
    if len(trials) > _MOST_ROWS:
        shown: list[Optional[TrialRecord]] = [*trials[: _MOST_ROWS // 2], None, *trials[len(trials) - _MOST_ROWS // 2 :]]
    else:
        shown = list(trials)
    rows = [["…"] * len(columns) if record is None else _cells(record, metrics, params) for record in shown]
    head = "".join(f"<th>{escaped(shortened(name))}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return _titled(_count(len(trials)), f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _count(trials: int) -> str:
    return f"{trials} trial{'' if trials == 1 else 's'}"


def _names(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))[:_MOST_COLUMNS]


def _cells(record: TrialRecord, metrics: Sequence[str], params: Sequence[str]) -> list[str]:
    values = [_text(record.metrics.get(name)) for name in metrics] + [_text(record.params.get(name)) for name in params]
    return [str(record.number), record.state, *values, shortened(record.stopped or record.message, 60)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return short(value) if isinstance(value, float) else shortened(str(value), 60)


def _numbers(metrics: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {short(value)}" for name, value in metrics.items())


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    left = 'style="text-align: left"'
    rows = "".join(
        f'<tr><th {left}>{escaped(name).replace("    ", "&emsp;")}</th><td {left}>{escaped(text)}</td></tr>'
        for name, text in facts
    )
    return f"<table>{rows}</table>"


def _titled(title: str, content: str) -> str:
    return f"<div><strong>{escaped(title)}</strong>{content}</div>"
