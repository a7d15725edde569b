#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/fields.h"
#include "src/jobs/utilization.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"

// Studies in words.
namespace vernier::cli {

// One amendment, as the study's log has it.
struct AmendmentRecord {
  absl::Time time;
  StudyAmended amended;
};
// "budget.trials 20 → 40; job.command"; empty if nothing changed.
std::string DescribeAmendment(const StudyAmended& amended);

Style StyleOf(StudyState state);

// "float [1e-05, 0.1] log".
std::string DescribeDomain(const Domain& domain);
// "8 of 20 trials, 1 of 5 failed, 2h".
// "12.3s of CPU, 2h of GPUs, at most 31MiB a replica".
std::string DescribeUsage(const ResourceUsage& used);
// "37% of the CPUs, 12% of the memory asked for"; empty if neither is known.
std::string DescribeUtilization(const jobs::Utilization& utilization);
std::string DescribeBudget(const Study& study);
// Since when further trials have not been worth it, and what the rest of the budget would save; empty if nobody asked.
std::string DescribeConvergence(const Study& study);

// "0.9267 (#7)": the best value of the first objective, and the trial that has it; "-" if there is none yet.
std::string DescribeBestValue(const StudyRecord& study, const std::optional<double>& value);

// What is known of a study from its trials.
struct StudyFacts {
  std::optional<double> best;  // Value of its first objective.
  std::int64_t stopped = 0;    // Completed trials that were stopped early.
  std::string note;            // What the algorithm says of its newest suggestion.
};

// All about a study, some lines; of its amendments the last ones.
std::string DescribeStudy(const StudyRecord& study,
                          const StudyFacts& facts,
                          absl::TimeZone zone,
                          const std::vector<AmendmentRecord>& amendments = {});

// The command line that runs the trial's primary by hand, with its variables and its file of parameters; empty if the study has no training job, or one that a shell
// cannot run: of an image, with packages to install, of a configured runtime, of a built-in trainer.
std::string ReproducingCommand(const StudySpec& spec, const Trial& trial);
// How many programs one trial of the job starts.
int ReplicaCount(const StudySpec& spec);

// The best trial: its number, value and point, how to reproduce it, where its logs are. `trial` is that trial,
// `definition` the one that it was tried with.
Fields DescribeBest(const StudyRecord& study,
                    const StudySpec& definition,
                    const TrialRecord& trial,
                    absl::Time now);

}  // namespace vernier::cli
