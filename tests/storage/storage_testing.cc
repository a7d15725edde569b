#include "tests/storage/storage_testing.h"

#include <cstdlib>

#include "src/core/check.h"
#include "src/core/status.h"

namespace vernier::testing {
namespace {

constexpr std::size_t kAll = 1'000'000;

Event Following(const Study& study, EventPayload payload) {
  Event event;
  event.seq = EventSeq(study.last_event.value() + 1);
  event.time = study.updated + absl::Milliseconds(1);
  event.actor = "test";
  event.payload = std::move(payload);
  return event;
}

Commit CommitOf(const Study& study, Event event, Trial trial) {
  Commit commit;
  commit.study = study.id;
  commit.expected = study.last_event;
  commit.header = study;
  commit.header.last_event = event.seq;
  commit.header.updated = event.time;
  commit.events = {std::move(event)};
  commit.trials = {std::move(trial)};
  return commit;
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "vernier-test-XXXXXX").string();
  VERNIER_CHECK(mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Event CreatedEvent(const std::string& name) {
  StudyCreated created;
  created.spec.name = name;
  created.spec.objectives = {{.metric = "loss", .goal = Goal::kMinimize}};
  absl::StatusOr<Space> space =
      Space::Create({{.name = "lr", .domain = FloatDomain{1e-5, 0.1, Scale::kLog}, .when = {}}});
  VERNIER_CHECK(space.ok(), "the test's space is legal");
  created.spec.space = *std::move(space);
  return {.seq = EventSeq(1),
          .time = absl::FromUnixSeconds(1'700'000'000),
          .actor = "test",
          .request_id = "create-" + name,
          .payload = std::move(created)};
}

Commit TrialCommit(const Study& study) {
  Trial trial;
  trial.number = TrialNumber(study.trials + 1);
  trial.point = {{"lr", 0.001 * static_cast<double>(trial.number.value())}};
  trial.suggestion.algorithm = "random";
  trial.created = study.updated;
  Event event = Following(study,
                          TrialCreated{.trial = trial.number,
                                       .point = trial.point,
                                       .suggestion = trial.suggestion,
                                       .optimizer_state = ""});
  Commit commit = CommitOf(study, std::move(event), std::move(trial));
  commit.header.trials += 1;
  return commit;
}

Commit TrialCommitAfter(EventSeq last, Study study) {
  study.last_event = last;
  return TrialCommit(study);
}

Commit MeasurementCommit(const Study& study, Trial trial, std::int64_t step) {
  Measurement measurement{.step = step,
                          .elapsed = absl::Seconds(step),
                          .time = study.updated,
                          .metrics = {{"loss", 1.0 / static_cast<double>(1 + step)}},
                          .source = "client"};
  trial.last = measurement;
  trial.measurements += 1;
  Event event = Following(
      study, MeasurementReported{.trial = trial.number, .measurement = std::move(measurement)});
  return CommitOf(study, std::move(event), std::move(trial));
}

Written WriteTrials(Storage& storage, const std::string& study_name, int commits) {
  Written written;
  absl::StatusOr<Study> study = storage.CreateStudy(CreatedEvent(study_name));
  written.error = study.status();
  if (!study.ok()) return written;
  written.study = study->id;
  for (int i = 0; i < commits; ++i) {
    Commit commit = TrialCommit(*study);
    *study = commit.header;
    written.error = storage.Begin(std::move(commit))->Wait();
    if (!written.error.ok()) return written;
    written.trials += 1;
  }
  return written;
}

absl::Status CheckConsistent(const Storage& storage, StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Study study, storage.GetStudy(id));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials,
                           storage.ListTrials(id, TrialNumber(0), kAll));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> events,
                           storage.ReadEvents(id, EventSeq(0), kAll));
  std::int64_t created = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].seq.value() != static_cast<std::int64_t>(i) + 1)
      return Internal("a gap in the log");
    if (EventKind(events[i].payload) == "trial_created") ++created;
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].number.value() != static_cast<std::int64_t>(i) + 1)
      return Internal("a gap in the trials");
  }
  const auto rows = static_cast<std::int64_t>(trials.size());
  if (created != rows || study.trials != rows) {
    return Internal("{} trials created, {} rows, {} in the header", created, rows, study.trials);
  }
  if (study.last_event.value() != static_cast<std::int64_t>(events.size())) {
    return Internal("last event {} of {}", study.last_event.value(), events.size());
  }
  return absl::OkStatus();
}

}  // namespace vernier::testing
