#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/cli/connection.h"
#include "src/cli/terminal/trial_table.h"
#include "src/core/objectives.h"
#include "src/core/outcome_constraint.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"
#include "vernier/v1/study_service.pb.h"

// Studies and trials as commands ask for them.
namespace vernier::cli {

// Which rows a list shows: --filter, --sort and --limit.
struct Query {
  std::string filter;          // AIP-160.
  std::string sort;            // "-objective,number": "-" for descending.
  std::int64_t limit = 0;      // 0: all.
  std::int64_t page_size = 0;  // Rows per call; 0: the largest page.
};

// The error with the name of the flag in place of the request's field.
absl::Status NamingFlags(const absl::Status& status);

// An order in AIP-132's form, "metrics.accuracy desc, number", from "-objective,number" or gcloud's
// "~objective,number". Without a metric, "objective" is a column like any other.
std::string OrderBy(std::string_view sort, std::string_view metric = {});

// A study as message and as decoded value.
struct StudyRecord {
  v1::Study message;
  Study study;
  std::vector<OutcomeConstraint> outcome_constraints = {};

  const std::string& name() const { return study.spec.name; }
  const Objective& objective() const { return FirstObjective(study.spec); }
  // Names of the parameters, in the user's order.
  std::vector<std::string> parameter_names() const;
  bool has_several_objectives() const { return study.spec.objectives.size() > 1; }
  // Whether the trial is the best, or, with several objectives, dominated by none.
  bool IsOptimal(TrialNumber trial) const;
  // Whether the trial completed without satisfying every outcome constraint; unknown counts as not satisfied.
  bool BreaksConstraint(const Trial& trial) const;
};

absl::StatusOr<StudyRecord> RecordOf(v1::Study message);
absl::StatusOr<StudyRecord> GetStudy(Connection& connection, std::string_view name);
// Creates the study; with `validate_only`, only checks whether it could be created.
absl::StatusOr<v1::Study> CreateStudy(Connection& connection,
                                      const StudySpec& spec,
                                      bool validate_only = false);
// Stops the study for good. A study that has ended is left as it is, which is no error.
absl::Status StopStudy(Connection& connection, std::string_view name, std::string_view reason);
// `damaged`: receives an error for each study that cannot be read; may be null.
absl::StatusOr<std::vector<v1::Study>> ListStudies(Connection& connection,
                                                   const Query& query,
                                                   std::vector<std::string>* damaged = nullptr);

// A trial as message and as decoded value.
struct TrialRecord {
  v1::Trial message;
  Trial trial;
  std::optional<QueuedGang> queued = {};  // See FindQueued.
};

// `trial`: a number, "best" or "last".  NotFound: no such trial.  InvalidArgument: malformed.
absl::StatusOr<TrialRecord> GetTrial(Connection& connection,
                                     std::string_view study,
                                     std::string_view trial);
// The trial's place in the queue for resources; nothing if it does not wait, or the server cannot tell.
std::optional<QueuedGang> FindQueued(Connection& connection, const TrialRecord& trial);
// Calls `visit` with each trial as pages arrive, so that the list need not fit in memory; an error of `visit` ends the
// list. "objective" in the order stands for the metric of the study's first objective.
absl::Status ForEachTrial(Connection& connection,
                          const StudyRecord& study,
                          const Query& query,
                          const std::function<absl::Status(TrialRecord)>& visit);
// The whole list.
absl::StatusOr<std::vector<TrialRecord>> ListTrials(Connection& connection,
                                                    const StudyRecord& study,
                                                    const Query& query);
// A subsample of the trial's curve of a metric, about `max_points` points, at least 4: both ends, and extremes between.
absl::StatusOr<std::vector<v1::Measurement>> SampleMeasurements(Connection& connection,
                                                                const v1::Trial& trial,
                                                                const std::string& metric,
                                                                std::int32_t max_points);
absl::StatusOr<std::vector<v1::Measurement>> ListMeasurements(Connection& connection,
                                                              const v1::Trial& trial);

// The final value of the objective, or the last that was reported.
std::optional<double> ObjectiveOf(const Trial& trial, const std::string& metric);
// The value of each objective of the study.
std::vector<std::optional<double>> ObjectivesOf(const Trial& trial, const StudySpec& spec);
// The values of `metric` in the measurements, in their order.
std::vector<double> CurveOf(const std::vector<v1::Measurement>& measurements,
                            const std::string& metric);
// The trial as a row, without its curve; durations as of `now`.
TrialSummary RowOf(const TrialRecord& trial, const StudyRecord& study, absl::Time now);
// The step of the last measurement; 0 if there is none.
std::int64_t LastStepOf(const Trial& trial);
// First line of the failure message; empty if the trial did not fail.
std::string FailureLine(const Trial& trial);
// From its start to its end, or to `now`; nothing if it never ran.
std::optional<absl::Duration> DurationOf(const Trial& trial, absl::Time now);

// A fresh id for a call that changes something, by which the server recognises a repetition.
std::string NewRequestId();

}  // namespace vernier::cli
