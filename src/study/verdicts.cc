#include "src/study/verdicts.h"

#include <string>
#include <utility>
#include <vector>

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

std::vector<Verdict> JudgeEach(const EarlyStopper& rule,
                               CurveBook& curves,
                               TrialNumber trial,
                               const StudySpec& spec,
                               const Point& at,
                               const std::vector<CurvePoint>& points) {
  if (points.empty()) return {curves.Judge(rule, trial)};
  std::vector<Verdict> verdicts;
  for (const CurvePoint& point : points) {
    curves.AddPoint(trial, spec.space, at, point.step, point.value);
    verdicts.push_back(curves.Judge(rule, trial));
    if (verdicts.back().stop) break;
  }
  return verdicts;
}

// Whether the verdicts count, though they may be older than the event `before`: they are by the study's rule, on the
// trial's measurements, and stop it only if nothing else was recorded since.
bool Count(const UnlockedVerdicts& unlocked,
           const Draft& draft,
           const Transient& transient,
           TrialNumber trial,
           EventSeq before) {
  if (unlocked.rule == nullptr || unlocked.rule.get() != RuleOf(transient)) return false;
  if (unlocked.measurements != draft.trial(trial).measurements) return false;
  return unlocked.as_of == before || !unlocked.verdicts.back().stop;
}

void AddVerdict(Draft& draft, const EarlyStopper& rule, TrialNumber trial, const Verdict& verdict) {
  if (!verdict.stop) return;
  // As of the event of the measurement, which Replayer::CheckDue looks for.
  StopRecord stop = RecordOf(rule, verdict, draft.study().last_event);
  draft.Add(StopDecided{.trial = trial, .stop = std::move(stop)});
  AddMove(draft, trial, TrialState::kStopping, verdict.explanation);
}

}  // namespace

const EarlyStopper* RuleOf(const Transient& transient) {
  return transient.stopper.ok() ? transient.stopper->get() : nullptr;
}

bool IsJudged(const StudySpec& spec, const Trial& trial, const Measurement& measurement) {
  return !spec.judged_when_asked && trial.state == TrialState::kRunning &&
         measurement.metrics.contains(FirstObjective(spec).metric);
}

UnlockedVerdicts JudgeUnlocked(LiveStudy& study,
                               const Caller& caller,
                               TrialNumber trial,
                               NewPoints new_points) {
  UnlockedVerdicts unlocked;
  CurveBook curves;
  Point at;
  std::optional<std::vector<CurvePoint>> points;
  const auto look = [&](Draft& draft, Transient& transient) -> absl::Status {
    points.reset();
    if (RuleOf(transient) == nullptr) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), trial));
    points = new_points(draft);
    if (!points.has_value()) return absl::OkStatus();
    unlocked = {.rule = *transient.stopper,
                .as_of = draft.study().last_event,
                .measurements = draft.trial(trial).measurements,
                .verdicts = {}};
    curves = draft.fold().curves();
    at = draft.trial(trial).point;
    return absl::OkStatus();
  };
  // Errors are met again, and told, by the change that this comes before.
  if (!study.Begin(caller, look).ok() || !points.has_value()) return {};
  const auto spec = study.Definition();
  if (!spec.ok()) return {};
  unlocked.verdicts = JudgeEach(*unlocked.rule, curves, trial, **spec, at, *points);
  return unlocked;
}

void Decide(Draft& draft,
            const Transient& transient,
            TrialNumber trial,
            const UnlockedVerdicts& unlocked) {
  const EarlyStopper& rule = *RuleOf(transient);
  const bool counts = Count(unlocked, draft, transient, trial, draft.study().last_event);
  AddVerdict(draft,
             rule,
             trial,
             counts ? unlocked.verdicts.front() : draft.mutable_fold().curves().Judge(rule, trial));
}

void AddMeasurements(Draft& draft,
                     const Transient& transient,
                     TrialNumber trial,
                     std::vector<Measurement> measurements,
                     const UnlockedVerdicts& unlocked,
                     EventSeq before) {
  const EarlyStopper* const rule = RuleOf(transient);
  const bool counts = Count(unlocked, draft, transient, trial, before);
  const EventSeq older = counts && unlocked.as_of != before ? unlocked.as_of : EventSeq();
  auto verdict = unlocked.verdicts.begin();
  for (Measurement& measurement : measurements) {
    const bool judged =
        rule != nullptr && IsJudged(draft.study().spec, draft.trial(trial), measurement);
    if (judged) NameRule(draft, *rule);
    draft.Add(MeasurementReported{.trial = trial,
                                  .measurement = std::move(measurement),
                                  .judged_as_of = judged ? older : EventSeq()});
    if (!judged) continue;
    AddVerdict(draft,
               *rule,
               trial,
               counts ? *verdict++ : draft.mutable_fold().curves().Judge(*rule, trial));
  }
}

}  // namespace vernier::study
