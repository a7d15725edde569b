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

// What a list shows: the words of --filter, --sort and --limit.
struct Query {
  std::string filter;          // AIP-160.
  std::string sort;            // "-objective,number": "-" for descending.
  std::int64_t limit = 0;      // 0: all.
  std::int64_t page_size = 0;  // How many to ask for at once; 0: as many as a page takes.
};

// The error with the flag that the user typed, where it names the field of a request.
absl::Status NamingFlags(const absl::Status& status);

// "-objective,number", or "~objective,number" as gcloud has it, as AIP's "metrics.accuracy desc, number". Without a metric "objective" is a column like any other.
std::string OrderBy(std::string_view sort, std::string_view metric = {});

// Both forms of a study: the message, and what it means.
struct StudyRecord {
  v1::Study message;
  Study study;
  std::vector<OutcomeConstraint> outcome_constraints = {};

  const std::string& name() const { return study.spec.name; }
  const Objective& objective() const { return FirstObjective(study.spec); }
  // Of the parameters, in the user's order.
  std::vector<std::string> parameter_names() const;
  bool has_several_objectives() const { return study.spec.objectives.size() > 1; }
  // The best trial, or, with several objectives, one that no other dominates.
  bool IsOptimal(TrialNumber trial) const;
  // Completed, but not known to keep every outcome constraint.
  bool BreaksConstraint(const Trial& trial) const;
};

absl::StatusOr<StudyRecord> RecordOf(v1::Study message);
absl::StatusOr<StudyRecord> GetStudy(Connection& connection, std::string_view name);
// Creates the study; if `validate_only`, only tells whether that could be done.
absl::StatusOr<v1::Study> CreateStudy(Connection& connection,
                                      const StudySpec& spec,
                                      bool validate_only = false);
// Stops what of it is under way, for good. One that has ended stays as it is, and that is no error.
absl::Status StopStudy(Connection& connection, std::string_view name, std::string_view reason);
// `damaged`: what is said of each study that cannot be read; may be null.
absl::StatusOr<std::vector<v1::Study>> ListStudies(Connection& connection,
                                                   const Query& query,
                                                   std::vector<std::string>* damaged = nullptr);

// Both forms of a trial.
struct TrialRecord {
  v1::Trial message;
  Trial trial;
  std::optional<QueuedGang> queued = {};  // See FindQueued.
};

// `trial`: a number, "best" or "last".  NotFound: there is none.  InvalidArgument: neither.
absl::StatusOr<TrialRecord> GetTrial(Connection& connection,
                                     std::string_view study,
                                     std::string_view trial);
// The trial's place among those that wait for room; nothing if it does not wait, or the server knows nothing of it.
std::optional<QueuedGang> FindQueued(Connection& connection, const TrialRecord& trial);
// Calls `visit` with each trial of the list while its pages arrive, so that none has to be held; what it returns ends the list.
// "objective" in the sort stands for the metric of the study's first objective.
absl::Status ForEachTrial(Connection& connection,
                          const StudyRecord& study,
                          const Query& query,
                          const std::function<absl::Status(TrialRecord)>& visit);
// The whole list.
absl::StatusOr<std::vector<TrialRecord>> ListTrials(Connection& connection,
                                                    const StudyRecord& study,
                                                    const Query& query);
// A picture of the trial's curve of a metric in about `max_points` points, at least 4: its ends, and extremes between.
absl::StatusOr<std::vector<v1::Measurement>> SampleMeasurements(Connection& connection,
                                                                const v1::Trial& trial,
                                                                const std::string& metric,
                                                                std::int32_t max_points);
absl::StatusOr<std::vector<v1::Measurement>> ListMeasurements(Connection& connection,
                                                              const v1::Trial& trial);

// The final value of the objective, or the last that was reported.
std::optional<double> ObjectiveOf(const Trial& trial, const std::string& metric);
// Of each objective of the study.
std::vector<std::optional<double>> ObjectivesOf(const Trial& trial, const StudySpec& spec);
// The values of `metric` in the measurements, in their order.
std::vector<double> CurveOf(const std::vector<v1::Measurement>& measurements,
                            const std::string& metric);
// The trial as a row, without its curve. As of `now`.
TrialRow RowOf(const TrialRecord& trial, const StudyRecord& study, absl::Time now);
// The step of its last measurement; 0 if it reported none.
std::int64_t LastStepOf(const Trial& trial);
// The first line of why it failed; empty if it did not.
std::string FailureLine(const Trial& trial);
// From its start to its end, or to `now`; nothing if it never ran.
std::optional<absl::Duration> DurationOf(const Trial& trial, absl::Time now);

// A fresh id for a call that changes something, so that a repetition is told from a second wish.
std::string NewRequestId();

}  // namespace vernier::cli
