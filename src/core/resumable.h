#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/core/curve_book.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

// Which paused trials are to go on. A rule pauses a trial by the verdict that would have ended it; it takes that back as soon as
// it would not say so any more: other trials have taught it better, or one that it is compared with came down.
namespace vernier {

// What the choice is made from.
struct PausedTrials {
  const EarlyStopper* rule = nullptr;  // Null: the study has none any more, and all go on.
  Goal goal = Goal::kMaximize;
  // By trial, the numbers of the verdict that paused it.
  std::map<TrialNumber, std::map<std::string, double>> verdicts;
  // By trial, the time that a report took it. One that is missing is as fast as the others on average.
  std::map<TrialNumber, absl::Duration> report_times;
};

// Those that the rule would let go on, in the order in which they should. If the rule predicts ends: the highest expected
// improvement on the best for each hour until the usual number of reports first. Else: those that came furthest, of equals
// the best, then the earliest. Of a rule that predicts ends, at most the hundred that were the most likely to beat the best
// when they were paused are judged. Pure; `curves` is as before afterwards.
std::vector<TrialNumber> ChooseResumable(const PausedTrials& paused, CurveBook& curves);

}  // namespace vernier
