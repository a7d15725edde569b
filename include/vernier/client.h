#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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
#include "vernier/optimizer.h"

namespace vernier {

struct ClientOptions {
  // Name of the client: holder of its leases, actor of its events. Give each worker a name of its own: SuggestTrials
  // returns the trials that are leased to the name again.
  std::string name = "client";
  // Time for one call with all its retries. A list makes a call for each page. Of a stream, which may last for days: time to get it
  // going again after it was lost.
  absl::Duration timeout = absl::Seconds(30);
  // Number of tries of a call that is lost, the first one included. A call is lost if the server cannot be reached or
  // goes away during the call. The longest wait between tries doubles from `backoff` to four times of it; each wait is
  // between half of that and all of it, at random. Each try carries the same request_id, so that a change is made once.
  int attempts = 10;
  // The same, once the server has answered a call of this client: it is likely to come back, and the caller has work to lose.
  // The default is as many as `timeout` allows.
  int attempts_once_answered = std::numeric_limits<int>::max();
  absl::Duration backoff = absl::Milliseconds(100);
  // Token that a server requires over TCP. Empty: the content of the file $VERNIER_TOKEN_FILE; without that variable,
  // for a server on this host, the token of this user.
  std::string token;
};

// Which rows to list, in what order. The default is all of them, in the order of creation.
struct ListQuery {
  std::string filter;      // A subset of AIP-160: `state = COMPLETED AND metrics.accuracy > 0.9`.
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
  std::string text;  // As printed; bytes that are not UTF-8 are replaced.
  Severity severity = Severity::kInfo;
  // Only of a line that is a JSON object with a "message": the message, the time that the object states, and the other
  // fields of the object as JSON.
  std::optional<std::string> message;
  std::optional<absl::Time> stated;
  std::string fields;
};

// Which lines of a trial's logs to stream. The default is all lines of the last attempt.
struct TrialLogQuery {
  bool follow = false;                // Continue until the trial, or the given attempt, has ended.
  AttemptNumber attempt;              // 0: the last.
  std::string role;                   // Empty: all.
  std::optional<std::int32_t> index;  // With role.
  std::int64_t tail = 0;              // Number of matching lines, from the end. 0: all.
  Severity least = Severity::kDebug;  // Only lines of at least this severity.
  absl::Time since = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();  // Excluded.
};

// State of the server process.
struct ServerStatus {
  std::string version;
  std::string store;  // Path of the store.
  std::int64_t process_id = 0;
  absl::Time started;
  std::int64_t studies = 0;
  std::int64_t running_trials = 0;  // Trials that have not ended, waiting ones included.
  std::int64_t resident_bytes = 0;
};

// Result of recomputing the suggestions and stop verdicts of a study (StudyLog::Replay).
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
  std::vector<Line> problems;  // Diverged and unverifiable events.
};

// A Vernier server, called over gRPC. Studies are identified by name; Study::id is 0 in the results.
//
//   const auto client = Client::Connect("127.0.0.1:7117", {.name = "worker-1"});
//   while (true) {
//     const auto trials = client->SuggestTrials("digits");
//     if (!trials.ok()) break;  // ResourceExhausted or OutOfRange: there are no more trials.
//     const Trial& trial = trials->front();
//     const auto ended = client->Complete("digits", trial, {{"accuracy", Train(trial.point)}});
//   }
//
// Thread-safe. Calls block until the answer is there; ClientOptions::timeout bounds that. Durability: a change that
// returned OK survives the death of the server. A call that is lost is tried again (ClientOptions::attempts).
//
// Errors are those of the server, with reason (GetReason) and field (GetField). In addition, every call may return
// Unavailable: no server there; DeadlineExceeded: no answer in time; Unauthenticated: the token is missing or wrong.
// NotFound: there is no such study (kStudyNotFound) or trial (kTrialNotFound).
class Client {
 public:
  // Makes a client of the server at a gRPC target: "127.0.0.1:7117", "unix:/run/vernier.sock". Never null; the first
  // call connects.
  static std::unique_ptr<Client> Connect(const std::string& address, ClientOptions options = {});
  // Makes a client of the same server, over the same connection, with another name.
  virtual std::unique_ptr<Client> WithName(std::string name) const = 0;
  // Makes a client of the same server, over the same connection, for one change. The change carries this request id (see
  // Caller), so that a caller who got no answer can repeat it elsewhere. Empty: an id of its own, as other changes have.
  virtual std::unique_ptr<Client> WithRequestId(std::string request_id) const = 0;
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // --- studies ---
  // InvalidArgument: a FieldError.  AlreadyExists (kStudyExists): the name is taken.
  virtual absl::StatusOr<Study> CreateStudy(const StudySpec& spec) = 0;
  // Makes the checks of CreateStudy; stores nothing. Errors: as CreateStudy.
  virtual absl::Status ValidateStudy(const StudySpec& spec) = 0;
  virtual absl::StatusOr<Study> GetStudy(std::string_view study) = 0;
  virtual absl::StatusOr<std::vector<Study>> ListStudies(const ListQuery& query = {}) = 0;
  // Changes the parts that `change` sets; the others stay (StudyAdmin::Amend).
  // InvalidArgument: a FieldError, for instance a bound below what is already spent.
  using Amendment = vernier::Amendment;
  virtual absl::StatusOr<Study> AmendStudy(std::string_view study, const Amendment& change) = 0;
  // Removes the study with its trials.  FailedPrecondition: trials of it are running, and `force` is false.
  virtual absl::Status DeleteStudy(std::string_view study, bool force = false) = 0;
  // Starts no new trials; running ones continue.  FailedPrecondition (kIllegalTransition): the study is not ACTIVE.
  virtual absl::StatusOr<Study> PauseStudy(std::string_view study) = 0;
  // Makes a paused study ACTIVE again.  FailedPrecondition (kIllegalTransition): the study is not PAUSED.
  virtual absl::StatusOr<Study> ResumeStudy(std::string_view study) = 0;
  // Stops the study and its trials: STOPPING, then CANCELLED once the last trial has ended. `reason` may be empty.
  virtual absl::StatusOr<Study> StopStudy(std::string_view study, std::string_view reason) = 0;
  // As StopStudy, for a study that has reached its purpose: it becomes COMPLETED.
  virtual absl::StatusOr<Study> FinishStudy(std::string_view study, std::string_view reason) = 0;

  // --- trials ---
  virtual absl::StatusOr<Trial> GetTrial(std::string_view study, TrialNumber trial) = 0;
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(std::string_view study,
                                                        const ListQuery& query = {}) = 0;
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(std::string_view study,
                                                                    TrialNumber trial) = 0;
  // Returns the trial's curve of `metric`, thinned out to at most `max_points` points, which must be 4 or more: the
  // first, the last, and the extremes of equal parts of the curve between them.
  virtual absl::StatusOr<std::vector<Measurement>> SampleMeasurements(std::string_view study,
                                                                      TrialNumber trial,
                                                                      std::string_view metric,
                                                                      std::int32_t max_points) = 0;
  // Adds a point of the user's choice as a trial, to be run before new suggestions. With `final_metrics`, it was tried
  // elsewhere, and the trial is completed at once.  InvalidArgument: a FieldError.
  virtual absl::StatusOr<Trial> AddTrial(
      std::string_view study,
      const Point& point,
      const std::optional<std::map<std::string, double>>& final_metrics = std::nullopt) = 0;
  // Stops a trial on a user's request: a waiting trial is cancelled, a running one told to stop.
  // FailedPrecondition: the trial has ended.
  virtual absl::StatusOr<Trial> StopTrial(std::string_view study,
                                          TrialNumber trial,
                                          std::string_view reason) = 0;
  // Deletes a trial for users and for the algorithm. Its number is not used again.
  // FailedPrecondition: the study runs its own job and the trial has not ended.
  virtual absl::Status DeleteTrial(std::string_view study, TrialNumber trial) = 0;
  // Predicts the objectives and the slacks of outcome constraints at 1 to 1,000 points, in their order.
  // FailedPrecondition: the algorithm has no model, or too few trials for one.  InvalidArgument: a FieldError.
  virtual absl::StatusOr<std::vector<PredictedPoint>> PredictPoints(
      std::string_view study, const std::vector<Point>& points) = 0;

  // --- for workers that run trials themselves ---
  // Returns 1 to `count` trials that are leased to this client: first those it has already, then those whose lease
  // expired, then new ones. Pass the trial with its lease to the calls below.
  // ResourceExhausted: the budget is spent (kBudgetSpent), or too many trials run (kParallelLimit; try again later).
  // OutOfRange (kSpaceExhausted): every point was tried.  FailedPrecondition: the study is not ACTIVE, or runs its own
  // job.
  virtual absl::StatusOr<std::vector<Trial>> SuggestTrials(std::string_view study,
                                                           std::int32_t count = 1) = 0;
  // Renews the lease of a trial that reports nothing for longer than the lease lasts.
  // Aborted (kLeaseLost): the trial was leased to another client; stop working on it.
  virtual absl::StatusOr<Trial> Heartbeat(std::string_view study, const Trial& leased) = 0;
  // Ends the lease of another client that is known to have died, so that the trial is offered again at once.
  // Aborted (kLeaseLost): the lease has ended, or the trial was leased again.
  virtual absl::StatusOr<Trial> EndLease(std::string_view study, const Trial& leased) = 0;
  struct Reported {
    Trial trial;
    bool should_stop = false;  // End the trial now; trial.stop says why.
  };
  // Adds measurements to the trial's curve, and renews the lease. Repeated measurements are skipped.
  // Aborted (kLeaseLost): as Heartbeat.  FailedPrecondition (kTrialFinished): the trial has ended.
  virtual absl::StatusOr<Reported> Report(std::string_view study,
                                          const Trial& leased,
                                          const std::vector<Measurement>& measurements) = 0;
  // As Report, from a program of a job that the server runs. `token` is its $VERNIER_TOKEN.
  // Aborted (kLeaseLost): the attempt of the program has ended, or a later one took its place.  PermissionDenied:
  // `token` does not belong to the trial.
  virtual absl::StatusOr<Reported> ReportFromJob(std::string_view study,
                                                 TrialNumber trial,
                                                 std::string_view token,
                                                 const std::vector<Measurement>& measurements) = 0;
  // Completes the trial. `final_metrics` must have a value for every objective; if it is empty, the last measurements
  // count. Errors of Complete, Fail and MarkInfeasible: Aborted and FailedPrecondition as Report.
  virtual absl::StatusOr<Trial> Complete(
      std::string_view study,
      const Trial& leased,
      const std::map<std::string, double>& final_metrics = {}) = 0;
  // Ends the trial without values. Another try of the point might succeed.
  virtual absl::StatusOr<Trial> Fail(std::string_view study,
                                     const Trial& leased,
                                     FailureClass failure,
                                     std::string_view message) = 0;
  // Ends the trial without values. The point cannot be evaluated.
  virtual absl::StatusOr<Trial> MarkInfeasible(std::string_view study,
                                               const Trial& leased,
                                               std::string_view message) = 0;

  // --- streams ---
  // Calls `sink`, in the caller's thread, with each event after `after`, oldest first. With `follow`, continues until
  // the study has ended. Returns OK early when `sink` returns false. A lost connection is resumed where it broke. The
  // client's timeout does not apply.  Cancelled: `stop` fired.
  virtual absl::Status WatchStudy(std::string_view study,
                                  EventSeq after,
                                  bool follow,
                                  const std::function<bool(const Event&)>& sink,
                                  std::stop_token stop = {}) = 0;
  // Calls `sink` with each line of the trial's logs that matches `query`, in the order of time. Returns OK early when
  // `sink` returns false. The client's timeout does not apply. Unlike WatchStudy, a lost connection is not resumed.
  // Cancelled: `stop` fired.
  virtual absl::Status StreamTrialLogs(std::string_view study,
                                       TrialNumber trial,
                                       const TrialLogQuery& query,
                                       const std::function<bool(const TrialLogLine&)>& sink,
                                       std::stop_token stop = {}) = 0;

  // --- the files of jobs ---
  // Sends a package, or the archive of a job's code, to the server, which stores it under its hash. Returns the server's
  // name for it, for the job's definition. The client's timeout does not apply.
  // InvalidArgument: no file that can be read, or one that is too large.
  virtual absl::StatusOr<std::string> UploadPackage(const std::string& path) = 0;

  // --- the machines ---
  virtual absl::StatusOr<std::vector<Node>> ListNodes() = 0;
  // Gangs that wait for room, in the order of the queue: higher priority first, then longer waiting.
  virtual absl::StatusOr<std::vector<QueuedGang>> ListQueue() = 0;

  // --- the server ---
  // Recomputes every suggestion and stop verdict of the study and compares. May take longer than the default timeout.
  virtual absl::StatusOr<ReplaySummary> ReplayStudy(std::string_view study) = 0;
  virtual absl::StatusOr<ServerStatus> GetServerStatus() = 0;

 protected:
  Client() = default;
};

}  // namespace vernier
