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
// copy of the curves: other trials report meanwhile. Only a verdict that stops the trial is made again under the lock if
// they did, as of the measurement, as a replay makes it.
namespace vernier::study {

// Null: the study has no rule, or this program does not know it.
const EarlyStopper* RuleOf(const Transient& transient);

// Verdicts on measurements that are not recorded yet.
struct UnlockedVerdicts {
  std::shared_ptr<const EarlyStopper> rule;  // Null: nothing was judged.
  EventSeq as_of;                            // The last event that it knew.
  std::int64_t measurements = 0;             // Of the trial, then.
  // By measurement that is judged; the first one that stops the trial is the last.
  std::vector<Verdict> verdicts;
};

// What a trial is about to report of the first objective. nullopt: it is not judged.
using NewPoints = absl::FunctionRef<std::optional<std::vector<CurvePoint>>(const Draft&)>;

// Judges the trial after each of the new points, or its curve as it is if there are none. The trial may be unknown.
UnlockedVerdicts JudgeUnlocked(LiveStudy& study,
                               const Caller& caller,
                               TrialNumber trial,
                               NewPoints points);

// Judges the curve as it is by the verdict that was given without the lock, if that counts. Stops the trial if the rule
// says so.  REQUIRES: there is a rule.
void Decide(Draft& draft,
            const Transient& transient,
            TrialNumber trial,
            const UnlockedVerdicts& unlocked);

// One event for each measurement, with the verdict directly after the measurement that it was made on, so that a replay can
// judge at the same point of the log. `before`: the last event before this change.
void AddMeasurements(Draft& draft,
                     const Transient& transient,
                     TrialNumber trial,
                     std::vector<Measurement> measurements,
                     const UnlockedVerdicts& unlocked,
                     EventSeq before);

// Whether the rule judges the measurement when it is reported.
bool IsJudged(const StudySpec& spec, const Trial& trial, const Measurement& measurement);

}  // namespace vernier::study
