#include "src/study/verdicts.h"

#include <string>
#include <utility>

#include "src/core/curve_book.h"
#include "src/core/objectives.h"
#include "src/study/rules.h"

namespace vernier::study {
namespace {

// Records the rule's version before its first verdict, and when it changes. A replay verifies the
// absence of a verdict only where it knows that this version judged (replay.cc).
void NameRule(Draft& draft, const EarlyStopper& rule) {
  const std::string* known = draft.fold().VersionInUse(rule.name());
  if (known != nullptr && *known == rule.version()) return;
  draft.Add(AlgorithmChanged{.name = std::string(rule.name()),
                             .from_version = known == nullptr ? "" : *known,
                             .to_version = std::string(rule.version())});
}

// Whether the rule stops the trial at none of the points.
bool LetsGoOn(const EarlyStopper& rule,
              CurveBook& curves,
              TrialNumber trial,
              const StudySpec& spec,
              const Point& at,
              const std::vector<CurvePoint>& points) {
  if (points.empty()) return !curves.Judge(rule, trial).stop;
  for (const CurvePoint& point : points) {
    curves.AddPoint(trial, spec.space, at, point.step, point.value);
    if (curves.Judge(rule, trial).stop) return false;
  }
  return true;
}

}  // namespace

const EarlyStopper* RuleOf(const Transient& transient) {
  return transient.stopper.ok() ? transient.stopper->get() : nullptr;
}

bool IsJudged(const StudySpec& spec, const Trial& trial, const Measurement& measurement) {
  return !spec.judged_when_asked && trial.state == TrialState::kRunning &&
         measurement.metrics.contains(FirstObjective(spec).metric);
}

GoAhead JudgeUnlocked(LiveStudy& study,
                      const Caller& caller,
                      TrialNumber trial,
                      NewPoints new_points) {
  GoAhead go_ahead;
  CurveBook curves;
  Point at;
  std::optional<std::vector<CurvePoint>> points;
  const auto look = [&](Draft& draft, Transient& transient) -> absl::Status {
    points.reset();
    if (RuleOf(transient) == nullptr) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), trial));
    points = new_points(draft);
    if (!points.has_value()) return absl::OkStatus();
    go_ahead = {.rule = *transient.stopper,
                .as_of = draft.study().last_event,
                .measurements = draft.trial(trial).measurements};
    curves = draft.fold().curves();
    at = draft.trial(trial).point;
    return absl::OkStatus();
  };
  // Errors are met again, and told, by the change that this comes before.
  if (!study.Begin(caller, look).ok() || !points.has_value()) return {};
  const auto spec = study.Definition();
  if (!spec.ok() || !LetsGoOn(*go_ahead.rule, curves, trial, **spec, at, *points)) return {};
  return go_ahead;
}

bool StillHolds(const GoAhead& go_ahead,
                const Draft& draft,
                const Transient& transient,
                TrialNumber trial) {
  return go_ahead.rule != nullptr && go_ahead.rule.get() == RuleOf(transient) &&
         go_ahead.measurements == draft.trial(trial).measurements;
}

void Decide(Draft& draft, const EarlyStopper& rule, TrialNumber trial) {
  const Verdict verdict = draft.mutable_fold().curves().Judge(rule, trial);
  if (!verdict.stop) return;
  // As of the event of the measurement, which Replayer::CheckDue looks for.
  StopRecord stop = RecordOf(rule, verdict, draft.study().last_event);
  draft.Add(StopDecided{.trial = trial, .stop = std::move(stop)});
  AddMove(draft, trial, TrialState::kStopping, verdict.explanation);
}

void AddMeasurements(Draft& draft,
                     const Transient& transient,
                     TrialNumber trial,
                     std::vector<Measurement> measurements,
                     const GoAhead& go_ahead,
                     EventSeq before) {
  const EarlyStopper* const rule = RuleOf(transient);
  const bool goes_on = StillHolds(go_ahead, draft, transient, trial);
  const bool is_older = goes_on && go_ahead.as_of != before;
  for (Measurement& measurement : measurements) {
    const bool judged =
        rule != nullptr && IsJudged(draft.study().spec, draft.trial(trial), measurement);
    if (judged) NameRule(draft, *rule);
    draft.Add(
        MeasurementReported{.trial = trial,
                            .measurement = std::move(measurement),
                            .judged_as_of = judged && is_older ? go_ahead.as_of : EventSeq()});
    if (judged && !goes_on) Decide(draft, *rule, trial);
  }
}

}  // namespace vernier::study
