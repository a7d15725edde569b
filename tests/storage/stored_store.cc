#include "tests/storage/stored_store.h"

#include <limits>
#include <string>

#include "tests/storage/storage_testing.h"
#include "vernier/core/error.h"

namespace vernier::testing {
namespace {

const absl::Time kTime = absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(123'456'789);

Trial FullTrial() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Trial trial;
  trial.number = TrialNumber(1);
  trial.state = TrialState::kCompleted;
  trial.point = {
      {"lr", 1e-5}, {"kind", std::string("nan")}, {"flag", true}, {"n", std::int64_t{7}}};
  trial.suggestion = {.algorithm = "gp",
                      .version = "1",
                      .options = R"({"num_restarts":4})",
                      .fingerprint = "x86-64",
                      .as_of = EventSeq(3),
                      .state_from = EventSeq(2),
                      .stream = std::numeric_limits<std::uint64_t>::max(),
                      .batch_size = 2,
                      .batch_index = 1,
                      .pending = {TrialNumber(9)},
                      .origin = "model",
                      .acquisition = -0.0,
                      .predicted_mean = kInfinity,
                      .predicted_deviation = 0.25,
                      .importance = {{"lr", 1.0}},
                      .note = "Grüße\n\"quoted\""};
  trial.created = kTime;
  trial.started = kTime + absl::Seconds(1);
  trial.ended = kTime + absl::Seconds(2);
  trial.last = Measurement{.step = 3,
                           .elapsed = absl::Milliseconds(1500),
                           .time = kTime,
                           .metrics = {{"loss", 0.1}, {"gap", -kInfinity}},
                           .source = "log"};
  trial.final_metrics = {{"loss", 0.1}};
  trial.measurements = 1;
  trial.failure = FailureClass::kLost;
  trial.message = "stopped early";
  trial.stop = StopRecord{.rule = "median",
                          .version = "1",
                          .options = "{}",
                          .as_of = EventSeq(4),
                          .numbers = {{"median", 0.5}},
                          .explanation = "0.1 is below 0.5"};
  trial.lease = Lease{.holder = "w1", .token = 5, .expires = kTime + absl::Minutes(1)};
  trial.attempts = {
      {.number = AttemptNumber(1),
       .state = AttemptState::kFailed,
       .placement = {{.role = "chief", .index = 0, .host = "::1", .port = 9, .gpus = {"0"}}},
       .directory = "/runs/1",
       .placed = kTime,
       .started = kTime,
       .ended = std::nullopt,
       .failure = FailureClass::kOutOfMemory,
       .message = "killed",
       .replicas = {{.role = "chief", .index = 0, .exit_code = std::nullopt, .signal = 9}}}};
  return trial;
}

// One of each kind that may follow a study's creation.
std::vector<EventPayload> FullPayloads(const Trial& trial) {
  const TrialNumber number = trial.number;
  const AttemptNumber attempt(1);
  return {
      StudyStateChanged{StudyState::kActive, StudyState::kPaused, "paused by hand"},
      StudyAmended{.budget = {.trials = 9, .failed_trials = 2, .time = absl::Hours(1)},
                   .parallel = 3},
      AlgorithmChanged{.name = "gp", .from_version = "1", .to_version = "2"},
      TrialCreated{number, trial.point, trial.suggestion, "state"},
      TrialStateChanged{.trial = number,
                        .from = TrialState::kRunning,
                        .to = TrialState::kCompleted,
                        .failure = FailureClass::kNone,
                        .message = "",
                        .final_metrics = trial.final_metrics},
      MeasurementReported{number, *trial.last},
      StopDecided{number, *trial.stop},
      LeaseGranted{number, *trial.lease},
      LeaseRenewed{number, kTime},
      LeaseExpired{number, 5},
      AttemptPlaced{number, attempt, trial.attempts[0].placement, "/runs/1"},
      AttemptStateChanged{.trial = number,
                          .attempt = attempt,
                          .to = AttemptState::kFailed,
                          .failure = FailureClass::kOutOfMemory,
                          .message = "killed",
                          .replicas = trial.attempts[0].replicas},
  };
}

absl::Status WriteFullStudy(Storage& storage) {
  VERNIER_ASSIGN_OR_RETURN(Study study, storage.CreateStudy(CreatedEvent("full")));
  Commit commit;
  commit.study = study.id;
  commit.expected = study.last_event;
  commit.header = study;
  commit.trials = {FullTrial()};
  for (EventPayload& payload : FullPayloads(commit.trials.front())) {
    const auto seq = commit.expected.value() + static_cast<std::int64_t>(commit.events.size()) + 1;
    commit.events.push_back({.seq = EventSeq(seq),
                             .time = kTime + absl::Seconds(seq),
                             .actor = "engine",
                             .request_id = "r" + std::to_string(seq),
                             .payload = std::move(payload)});
  }
  commit.header.state = StudyState::kPaused;
  commit.header.reason = "paused by hand";
  commit.header.updated = commit.events.back().time;
  commit.header.last_event = commit.events.back().seq;
  commit.header.spec.parallel = 3;
  commit.header.spec_version = 2;
  commit.header.trials = 1;
  commit.header.completed = 1;
  commit.header.best = TrialNumber(1);
  commit.header.optimal = {TrialNumber(1)};
  return storage.Begin(std::move(commit))->Wait();
}

}  // namespace

absl::Status WriteStoredContent(Storage& storage) {
  VERNIER_ASSIGN_OR_RETURN(const Study gone, storage.CreateStudy(CreatedEvent("gone")));
  VERNIER_RETURN_IF_ERROR(storage.DeleteStudy(gone.id, "delete-gone"));
  VERNIER_RETURN_IF_ERROR(WriteFullStudy(storage));
  return WriteTrials(storage, "plain", 3).error;
}

}  // namespace vernier::testing
