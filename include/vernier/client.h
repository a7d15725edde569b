#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/amendment.h"
#include "vernier/core/event.h"
#include "vernier/core/severity.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier {

struct ClientOptions {
  // The client's name for itself: holder of its leases, actor of its events. One name, one worker: what is held under a
  // name is handed out again to whoever asks under it.
  std::string name = "client";
  // For one call with all its retries.
  absl::Duration timeout = absl::Seconds(30);
  // Tries of a call that the server did not answer (UNAVAILABLE), the first one included; waits between them grow from
  // `backoff` to four times of it, with jitter, so that a server that is back is found within half a second. Each try
  // carries the same request_id, so that a change is made once.
  int attempts = 10;
  absl::Duration backoff = absl::Milliseconds(100);
  // What the server asks for over TCP. Empty: what the file named by $VERNIER_TOKEN_FILE holds, or for a server of this host,
  // the user's own.
  std::string token;
};

// What to list. Empty: everything, in the order of creation.
struct ListQuery {
  std::string filter;      // AIP-160: `state = COMPLETED AND metrics.accuracy > 0.9`.
  std::string order_by;    // `metrics.accuracy desc, number`.
  std::int64_t limit = 0;  // 0: no limit.
};

// One line that a replica printed.
struct TrialLogLine {
  absl::Time time;
  AttemptNumber attempt;
  std::string role;
  std::int32_t index = 0;
  bool is_stderr = false;
  std::string text;  // As it was printed.
  Severity severity = Severity::kInfo;
  // Where the line is JSON: what it says, its own time, and its other fields as a JSON object.
  std::optional<std::string> message;
  std::optional<absl::Time> stated;
  std::string fields;
};

// Which lines of a trial's logs.
struct TrialLogQuery {
  bool follow = false;                // Go on until the trial, or the attempt asked for, has ended.
  AttemptNumber attempt;              // 0: the last.
  std::string role;                   // Empty: all.
  std::optional<std::int32_t> index;  // With role.
  std::int64_t tail = 0;              // Only the last so many lines that match; 0: all.
  Severity least = Severity::kDebug;
  absl::Time since = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();  // Itself excluded.
};

struct ServerStatus {
  std::string version;
  std::string store;
  std::int64_t process_id = 0;
  absl::Time started;
  std::int64_t studies = 0;
  std::int64_t running_trials = 0;
  std::int64_t resident_bytes = 0;
};

struct ReplaySummary {
  enum class Result { kVerified, kDiverged, kUnverifiable };
  struct Line {
    EventSeq event;
    TrialNumber trial;
    Result result = Result::kUnverifiable;
    std::string detail;
  };
  std::int64_t suggestions = 0;
  std::int64_t stops = 0;
  std::int64_t verified = 0;
  std::vector<Line> problems;  // Diverged and unverifiable ones.
};

// A Vernier server, reached over gRPC. Studies are known by name; Study::id is 0 in what it returns.
//
// Thread-safe. Durability: a change that returned OK survives the server's death. A call that a lost connection
// interrupted is tried again under the same request_id. Errors are those of the server, with their reason (GetReason) and
// field (GetField); besides: Unavailable: no server there, DeadlineExceeded: no answer in time.
class Client {
 public:
  // A client of the server at a gRPC target: "127.0.0.1:7117", "unix:/run/vernier.sock". Connects with the first call.
  static std::unique_ptr<Client> Connect(const std::string& address, ClientOptions options = {});
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // --- studies ---
  // InvalidArgument: a FieldError.  AlreadyExists (kStudyExists).
  virtual absl::StatusOr<Study> CreateStudy(const StudySpec& spec) = 0;
  // As CreateStudy, but nothing is stored.
  virtual absl::Status ValidateStudy(const StudySpec& spec) = 0;
  virtual absl::StatusOr<Study> GetStudy(std::string_view study) = 0;
  virtual absl::StatusOr<std::vector<Study>> ListStudies(const ListQuery& query = {}) = 0;
  // Replaces what is named; the rest stays.  InvalidArgument: a bound below what is spent.
  using Amendment = vernier::Amendment;
  virtual absl::StatusOr<Study> AmendStudy(std::string_view study, const Amendment& change) = 0;
  virtual absl::Status DeleteStudy(std::string_view study, bool force = false) = 0;
  virtual absl::StatusOr<Study> PauseStudy(std::string_view study) = 0;
  virtual absl::StatusOr<Study> ResumeStudy(std::string_view study) = 0;
  virtual absl::StatusOr<Study> StopStudy(std::string_view study, std::string_view reason) = 0;
  // As StopStudy, of a study that has reached what it was for: COMPLETED in the end.
  virtual absl::StatusOr<Study> FinishStudy(std::string_view study, std::string_view reason) = 0;

  // --- trials ---
  virtual absl::StatusOr<Trial> GetTrial(std::string_view study, TrialNumber trial) = 0;
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(std::string_view study,
                                                        const ListQuery& query = {}) = 0;
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(std::string_view study,
                                                                    TrialNumber trial) = 0;
  // A picture of the trial's curve of `metric` in about `max_points` points, at least 4: the first, the last, and the
  // extremes between.
  virtual absl::StatusOr<std::vector<Measurement>> SampleMeasurements(std::string_view study,
                                                                      TrialNumber trial,
                                                                      std::string_view metric,
                                                                      std::int32_t max_points) = 0;
  // A point of the user's own; with `final_metrics`, one that was tried elsewhere.
  virtual absl::StatusOr<Trial> AddTrial(
      std::string_view study,
      const Point& point,
      const std::optional<std::map<std::string, double>>& final_metrics = std::nullopt) = 0;
  // A user's wish: a waiting trial is cancelled, a running one told to stop.
  virtual absl::StatusOr<Trial> StopTrial(std::string_view study,
                                          TrialNumber trial,
                                          std::string_view reason) = 0;
  // As if it had never been; its number is not used again.  FailedPrecondition: the study runs its own job and the trial has
  // not ended.
  virtual absl::Status DeleteTrial(std::string_view study, TrialNumber trial) = 0;

  // --- for workers that run trials themselves ---
  // Up to `count` trials leased to this client: those it holds already, then those offered again, then new ones. The
  // lease is in Trial::lease; its token goes with every call about the trial.
  virtual absl::StatusOr<std::vector<Trial>> SuggestTrials(std::string_view study,
                                                           std::int32_t count = 1) = 0;
  // Renews the lease.  Aborted (kLeaseLost): somebody else has the trial by now; stop working on it.
  virtual absl::StatusOr<Trial> Heartbeat(std::string_view study, const Trial& leased) = 0;
  struct Reported {
    Trial trial;
    bool should_stop = false;  // End the trial now; trial.stop says why.
  };
  virtual absl::StatusOr<Reported> Report(std::string_view study,
                                          const Trial& leased,
                                          const std::vector<Measurement>& measurements) = 0;
  // From a program of a job that the server runs: `token` is its $VERNIER_TOKEN.  Aborted (kLeaseLost): a later attempt of
  // the trial took the place of the program's.  PermissionDenied: not a token of the trial.
  virtual absl::StatusOr<Reported> ReportFromJob(std::string_view study,
                                                 TrialNumber trial,
                                                 std::string_view token,
                                                 const std::vector<Measurement>& measurements) = 0;
  // Without `final_metrics` the last measurement counts.
  virtual absl::StatusOr<Trial> Complete(
      std::string_view study,
      const Trial& leased,
      const std::map<std::string, double>& final_metrics = {}) = 0;
  virtual absl::StatusOr<Trial> Fail(std::string_view study,
                                     const Trial& leased,
                                     FailureClass failure,
                                     std::string_view message) = 0;
  virtual absl::StatusOr<Trial> MarkInfeasible(std::string_view study,
                                               const Trial& leased,
                                               std::string_view message) = 0;

  // --- streams ---
  // Calls `sink` with each event after `after`, oldest first; with `follow`, goes on until the study has ended. A lost
  // connection is taken up again where it broke. Ends early, with OK, when `sink` returns false; Cancelled: `stop` fired.
  // The client's timeout does not apply.
  virtual absl::Status WatchStudy(std::string_view study,
                                  EventSeq after,
                                  bool follow,
                                  const std::function<bool(const Event&)>& sink,
                                  std::stop_token stop = {}) = 0;
  virtual absl::Status StreamTrialLogs(std::string_view study,
                                       TrialNumber trial,
                                       const TrialLogQuery& query,
                                       const std::function<bool(const TrialLogLine&)>& sink,
                                       std::stop_token stop = {}) = 0;

  // --- the machines ---
  virtual absl::StatusOr<std::vector<Node>> ListNodes() = 0;
  // The trials that wait for room, in the order in which they get it.
  virtual absl::StatusOr<std::vector<QueuedGang>> ListQueue() = 0;

  // --- the server ---
  virtual absl::StatusOr<ReplaySummary> ReplayStudy(std::string_view study) = 0;
  virtual absl::StatusOr<ServerStatus> GetServerStatus() = 0;

 protected:
  Client() = default;
};

}  // namespace vernier
