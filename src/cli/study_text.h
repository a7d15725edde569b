#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "src/cli/resources.h"
#include "src/cli/terminal/fields.h"
#include "src/jobs/utilization.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"

// Studies in words.
namespace vernier::cli {

// An amendment and its time.
struct AmendmentRecord {
  absl::Time time;
  StudyAmended amended;
};
// "budget.trials 20 → 40; job.command"; empty if nothing changed.
std::string DescribeAmendment(const StudyAmended& amended);

Style StyleOf(StudyState state);

// "float [1e-05, 0.1] log".
std::string DescribeDomain(const Domain& domain);
// "12.3s of CPU, 2h of GPUs, at most 31MiB a replica".
std::string DescribeUsage(const ResourceUsage& used);
// "37% of the CPUs, 12% of the memory asked for"; empty if nothing is known.
std::string DescribeUtilization(const jobs::Utilization& utilization);
// "act=false min_trials=3"; empty without options.
std::string DescribeOptions(const Choice& choice);
// "4"; "any number" for the largest that a study can have.
std::string DescribeParallel(std::int32_t parallel);
// "8 of 20 trials, 1 of 5 failed, time 2h".
std::string DescribeBudget(const Study& study);
// Since which trial the study counts as converged, and how many trials stopping would save; empty without
// `convergence`.
std::string DescribeConvergence(const Study& study);

// "0.9267 (#7)": the best value of the first objective and its trial; "-" if there is none yet.
std::string DescribeBestValue(const StudyRecord& study, const std::optional<double>& value);

// Facts about a study that come from its trials.
struct StudyFacts {
  std::optional<double> best;  // Value of the first objective in the best trial.
  std::int64_t stopped = 0;    // Trials that were stopped early, without those that are paused.
  std::int64_t paused = 0;     // Trials that a stopping rule has paused.
  std::string note;            // The algorithm's note on its newest suggestion.
  // What the stopping rule has saved, or would have done if it is not acted on; empty if there is nothing to say.
  std::string early_stopping = {};
  // The same figures as fields for programs.
  nlohmann::ordered_json early_stopping_json = nlohmann::ordered_json::object();
};

// All about a study, in several lines; only the last amendments.
std::string DescribeStudy(const StudyRecord& study,
                          const StudyFacts& facts,
                          absl::TimeZone zone,
                          const std::vector<AmendmentRecord>& amendments = {});

// The command line that runs the trial's primary by hand, with its variables and parameter file; empty if there is
// none: the study has no job, or one that no shell can run (an image, packages to install, a configured runtime, a
// built-in trainer).
std::string ReproducingCommand(const StudySpec& spec, const Trial& trial);
// Number of replicas of one trial.
int ReplicaCount(const StudySpec& spec);

// The best trial: number, values and point, how to reproduce it, where its logs are. `definition` is the one that
// `trial` was run with.
Fields DescribeBest(const StudyRecord& study,
                    const StudySpec& definition,
                    const TrialRecord& trial,
                    absl::Time now);

}  // namespace vernier::cli
