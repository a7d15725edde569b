#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/caller.h"
#include "vernier/core/amendment.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/optimizer.h"
#include "vernier/study_log.h"
#include "vernier/trials.h"

namespace vernier::python {

// The studies of one place: a store in this process (Store) or a server (Server). The calls, and their errors, are those of
// StudyAdmin, StudyReader, Trials and StudyLog. `actor` names this process in the log. A call with a `Caller` takes effect once,
// also if it is repeated in another place that has the same file. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  // --- studies ---
  virtual absl::StatusOr<StudyId> CreateStudy(const StudySpec& spec, const Caller& caller) = 0;
  virtual absl::Status Amend(StudyId id, const Amendment& change, const std::string& actor) = 0;
  virtual absl::StatusOr<StudyId> FindStudy(const std::string& name) = 0;
  virtual absl::StatusOr<Study> GetStudy(StudyId id) = 0;
  // May be older than the last amendment; the parts that cannot change are right.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) = 0;
  virtual absl::StatusOr<std::vector<Study>> ListStudies() = 0;
  virtual absl::StatusOr<ReplayReport> Replay(StudyId id) = 0;
  virtual absl::Status Pause(StudyId id, const std::string& actor) = 0;
  virtual absl::Status Resume(StudyId id, const std::string& actor) = 0;
  virtual absl::Status Stop(StudyId id, const std::string& reason, const std::string& actor) = 0;
  virtual absl::Status Finish(StudyId id, const std::string& reason, const std::string& actor) = 0;
  virtual absl::Status Delete(const std::string& name, bool force, const std::string& actor) = 0;

  // --- trials ---
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) = 0;
  // The trials that clients have.
  virtual absl::StatusOr<std::vector<Trial>> ListLeased(StudyId id) = 0;
  virtual absl::StatusOr<Trial> GetTrial(TrialId id) = 0;
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) = 0;
  virtual absl::StatusOr<std::vector<PredictedPoint>> Predict(StudyId id,
                                                              std::vector<Point> points) = 0;
  virtual absl::StatusOr<Trial> AddTrial(StudyId id,
                                         const TrialAddition& addition,
                                         const Caller& caller) = 0;
  virtual absl::StatusOr<Trial> StopTrial(TrialId id,
                                          const std::string& reason,
                                          const std::string& actor) = 0;

  // --- the trials of this process ---
  virtual absl::StatusOr<std::vector<Trial>> Suggest(StudyId id,
                                                     std::size_t count,
                                                     const std::string& holder) = 0;
  virtual absl::StatusOr<ReportedTrial> Report(TrialId id,
                                               const Measurement& measurement,
                                               const LeaseToken& lease) = 0;
  virtual absl::Status Heartbeat(TrialId id, const LeaseToken& lease) = 0;
  // Studies::EndLease.
  virtual absl::Status EndLease(TrialId id, const LeaseToken& lease, const std::string& actor) = 0;
  virtual absl::StatusOr<Trial> End(TrialId id, const TrialEnd& end, const LeaseToken& lease) = 0;
};

}  // namespace vernier::python
