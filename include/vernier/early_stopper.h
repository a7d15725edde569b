#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/core/ids.h"

namespace vernier {

// One report of a trial.
struct CurvePoint {
  std::int64_t step = 0;
  double value = 0;  // First objective, user's units and sign. May be NaN.
};

// The learning curve of one trial, in the order of steps. A later report of a step replaces the earlier one.
struct Curve {
  TrialNumber trial;
  bool finished = false;       // The trial completed, stopped early or not.
  bool stopped_early = false;  // A rule, or somebody, stopped it.
  // False: it finished and is known to break an outcome constraint, or not known to keep them all. It is no best trial.
  bool keeps_constraints = true;
  std::vector<CurvePoint> points;
  // Where the trial's point lies in the space (EmbedPoint); as many for every trial of a study. Empty: unknown.
  std::vector<double> coordinates = {};
};

// Names of a verdict's numbers that predict the trial's end.
inline constexpr char kExpectedEndNumber[] = "expected_end";
inline constexpr char kExpectedEndDeviationNumber[] = "expected_end_deviation";

// The answer of a rule. The study records it if it stops the trial.
struct Verdict {
  bool stop = false;
  // The compared values, by name. "expected_end" and "expected_end_deviation", if both are there, predict the value that
  // the trial would end with: algorithms then learn that instead of its last value.
  std::map<std::string, double> numbers;
  std::string explanation;  // One sentence with the numbers, for either answer.
};

// A stopping rule: judges from learning curves whether a running trial should go on.
//
//   class TenReports final : public EarlyStopper {  // Stops a trial after ten reports.
//    public:
//     std::string_view name() const override { return "ten-reports"; }
//     std::string_view version() const override { return "1"; }
//     std::string options() const override { return "{}"; }
//     Verdict Judge(const Curve& running, std::span<const Curve>) const override {
//       return {.stop = running.points.size() >= 10, .explanation = "judged by the number of reports"};
//     }
//   };
//
// Add it to an AlgorithmCatalogue under the name that studies give as their stopping rule
// (docs/guides/writing_a_stopping_rule.md).
// Pure: equal curves give equal verdicts, without clock, chance or state between calls; replay checks this.
// Thread safety: const calls may run concurrently.
class EarlyStopper {
 public:
  virtual ~EarlyStopper() = default;
  EarlyStopper(const EarlyStopper&) = delete;
  EarlyStopper& operator=(const EarlyStopper&) = delete;

  // The name in the catalogue.
  virtual std::string_view name() const = 0;
  // Must change whenever equal curves give another verdict.
  virtual std::string_view version() const = 0;
  // The options in force, defaults included, as JSON with sorted keys.
  virtual std::string options() const = 0;

  // Whether the rule works only where a stopped trial may go on later (TrainingJob::pausable).
  virtual bool needs_pausing() const { return false; }

  // Judges the trial `running`. `others`: the curves of the study's other trials, running ones included, in the order
  // of their numbers. A paused trial is judged again as others come in, by the same curve and with `stopped_early` set:
  // it goes on once the rule does not stop it any more. Called without a lock, so that other trials report meanwhile. If
  // they do, a verdict that stops the trial is asked for once more under the lock of the study: so it must not call the study.
  virtual Verdict Judge(const Curve& running, std::span<const Curve> others) const = 0;

 protected:
  EarlyStopper() = default;
};

}  // namespace vernier
