#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/study/draft.h"
#include "src/study/live_study.h"
#include "vernier/early_stopper.h"

// Verdicts of the stopping rule on trials that report. A rule may take a while, so it judges without the study's lock, on a
// copy of the curves: other trials report meanwhile. Only a verdict that stops the trial is made again under the lock, as of
// the measurement, as a replay makes it.
namespace vernier::study {

// Null: the study has no rule, or this program does not know it.
const EarlyStopper* RuleOf(const Transient& transient);

// The rule lets a trial go on with measurements that are not recorded yet.
struct GoAhead {
  std::shared_ptr<const EarlyStopper> rule;  // Null: it does not, or nothing was judged.
  EventSeq as_of;                            // The last event that it knew.
  std::int64_t measurements = 0;             // Of the trial, then.
};

// What a trial is about to report of the first objective. nullopt: it is not judged.
using NewPoints = absl::FunctionRef<std::optional<std::vector<CurvePoint>>(const Draft&)>;

// Judges the trial after each of the new points, or its curve as it is if there are none. The trial may be unknown.
GoAhead JudgeUnlocked(LiveStudy& study, const Caller& caller, TrialNumber trial, NewPoints points);

// Whether nothing of what the verdict is about has changed since: the rule, and the trial's own measurements.
bool StillHolds(const GoAhead& go_ahead,
                const Draft& draft,
                const Transient& transient,
                TrialNumber trial);

// Judges the trial as of the draft's last event, and stops it if the rule says so.
void Decide(Draft& draft, const EarlyStopper& rule, TrialNumber trial);

// One event for each measurement, with the verdict directly after the measurement that it was made on, so that a replay can
// judge at the same point of the log. `before`: the last event before this change.
void AddMeasurements(Draft& draft,
                     const Transient& transient,
                     TrialNumber trial,
                     std::vector<Measurement> measurements,
                     const GoAhead& go_ahead,
                     EventSeq before);

// Whether the rule judges the measurement when it is reported.
bool IsJudged(const StudySpec& spec, const Trial& trial, const Measurement& measurement);

}  // namespace vernier::study
