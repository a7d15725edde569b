#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "python/src/backend.h"
#include "python/src/stream.h"
#include "vernier/client.h"

namespace vernier::python {

// A server, called over gRPC. A study has the id that it has in the server's store, under which a process knows it that had the
// store open itself. Errors, besides those of Backend: as Client.
class Server final : public Backend {
 public:
  // Connects at the first call. `attempts`: ClientOptions::attempts and attempts_once_answered. `actor`: name of this process.
  Server(const std::string& address,
         const std::string& token,
         absl::Duration timeout,
         std::pair<int, int> attempts,
         const std::string& actor);

  // In the child of a fork: leaks the connection, whose threads the child has not got.
  void Abandon();

  absl::StatusOr<ServerStatus> GetStatus() { return client_->GetServerStatus(); }
  absl::StatusOr<std::vector<Node>> ListNodes() { return client_->ListNodes(); }
  absl::StatusOr<std::string> UploadPackage(const std::string& path) {
    return client_->UploadPackage(path);
  }
  absl::Status ValidateStudy(const StudySpec& spec) { return client_->ValidateStudy(spec); }
  // The events after `after`, as JSON: all there are, or with `follow` also those to come until the study has ended.
  std::unique_ptr<Stream> Watch(StudyId id, EventSeq after, bool follow);
  // The lines that the trial's replicas printed, as JSON.
  std::unique_ptr<Stream> Logs(TrialId id, const TrialLogQuery& query);

  absl::StatusOr<StudyId> CreateStudy(const StudySpec& spec, const Caller& caller) override;
  absl::Status Amend(StudyId id, const Amendment& change, const std::string& actor) override;
  absl::StatusOr<StudyId> FindStudy(const std::string& name) override;
  absl::StatusOr<Study> GetStudy(StudyId id) override;
  absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) override;
  absl::StatusOr<std::vector<Study>> ListStudies() override;
  absl::StatusOr<ReplayReport> Replay(StudyId id) override;
  absl::Status Pause(StudyId id, const std::string& actor) override;
  absl::Status Resume(StudyId id, const std::string& actor) override;
  absl::Status Stop(StudyId id, const std::string& reason, const std::string& actor) override;
  absl::Status Finish(StudyId id, const std::string& reason, const std::string& actor) override;
  absl::Status Delete(const std::string& name, bool force, const std::string& actor) override;
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) override;
  absl::StatusOr<std::vector<Trial>> ListLeased(StudyId id) override;
  absl::StatusOr<Trial> GetTrial(TrialId id) override;
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) override;
  absl::StatusOr<std::vector<PredictedPoint>> Predict(StudyId id,
                                                      std::vector<Point> points) override;
  absl::StatusOr<Trial> AddTrial(StudyId id,
                                 const TrialAddition& addition,
                                 const Caller& caller) override;
  absl::StatusOr<Trial> StopTrial(TrialId id,
                                  const std::string& reason,
                                  const std::string& actor) override;
  absl::StatusOr<std::vector<Trial>> Suggest(StudyId id,
                                             std::size_t count,
                                             const std::string& holder) override;
  absl::StatusOr<ReportedTrial> Report(TrialId id,
                                       const Measurement& measurement,
                                       const LeaseToken& lease) override;
  absl::Status Heartbeat(TrialId id, const LeaseToken& lease) override;
  absl::Status EndLease(TrialId id, const LeaseToken& lease, const std::string& actor) override;
  absl::StatusOr<Trial> End(TrialId id, const TrialEnd& end, const LeaseToken& lease) override;

 private:
  struct Known {
    std::string name;
    std::shared_ptr<const StudySpec> spec;
  };

  // Remembers the study under its id, which it returns.
  StudyId Remember(const Study& study);
  std::optional<Known> Find(StudyId id) const;
  // NotFound: the server has no such study.
  absl::StatusOr<Known> Get(StudyId id);
  absl::StatusOr<std::string> NameOf(StudyId id);

  std::shared_ptr<Client> client_;
  std::shared_ptr<Client> patient_;  // For calls that may take long.
  mutable std::mutex mutex_;
  std::map<StudyId, Known> studies_;  // Guarded by mutex_.
  std::int64_t last_made_up_ = 0;     // Guarded by mutex_.
};

}  // namespace vernier::python
