#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "tests/codec/random_event.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

// Random calls to memory and to SQLite, whose answers must not differ.
namespace vernier {
namespace {

using ::vernier::testing::IsOk;
using ::vernier::testing::TempFolder;

constexpr int kCalls = 10'000;
constexpr int kCallsPerOpening = 100;
constexpr std::uint64_t kNames = 5;

template <typename T>
void ExpectSame(const absl::StatusOr<T>& memory, const absl::StatusOr<T>& sqlite) {
  ASSERT_EQ(memory.status().code(), sqlite.status().code()) << sqlite.status();
  if (memory.ok()) {
    EXPECT_EQ(*memory, *sqlite);
  }
}

class Model {
 public:
  explicit Model(std::uint64_t seed) : rng_(seed) { Reopen(); }

  void Reopen() {
    sqlite_.reset();
    auto opened =
        sqlite::Open({.path = folder_.PathOf("store")}, {.vfs = "", .synchronous = false});
    ASSERT_THAT(opened, IsOk());
    sqlite_ = *std::move(opened);
  }

  void Call() {
    switch (rng_.UniformInt(12)) {
      case 0:
        return Create();
      case 1:
        return rng_.UniformInt(6) == 0 ? Delete() : Studies();
      case 2:
        return Trials();
      case 3:
        return Events();
      case 4:
        return Measurements();
      case 5:
        return Line();
      default:
        return Commit();
    }
  }

 private:
  StudyId AnyStudy() { return StudyId(static_cast<std::int64_t>(rng_.UniformInt(last_id_ + 2))); }
  std::size_t AnyLimit() { return rng_.UniformInt(20); }
  std::string AnyName() { return "study-" + std::to_string(rng_.UniformInt(kNames)); }

  // Few, so that some come again; one of them empty.
  std::string AnyRequest() {
    const std::uint64_t number = rng_.UniformInt(kNames);
    return number == 0 ? "" : "request-" + std::to_string(number);
  }

  void Create() {
    Event created = testing::CreatedEvent(AnyName());
    std::get<StudyCreated>(created.payload).spec.seed = rng_.NextU64();
    const auto study = memory_->CreateStudy(created);
    ExpectSame(study, sqlite_->CreateStudy(created));
    if (study.ok()) last_id_ = static_cast<std::uint64_t>(study->id.value());
  }

  void Delete() {
    const StudyId id = AnyStudy();
    const std::string request = AnyRequest();
    EXPECT_EQ(memory_->DeleteStudy(id, request).code(), sqlite_->DeleteStudy(id, request).code());
  }

  void Studies() {
    const StudyId id = AnyStudy();
    ExpectSame(memory_->GetStudy(id), sqlite_->GetStudy(id));
    const std::string name = AnyName();
    ExpectSame(memory_->GetStudyByName(name), sqlite_->GetStudyByName(name));
    const std::string request = AnyRequest();
    ExpectSame(memory_->FindDeletion(request), sqlite_->FindDeletion(request));
    const std::size_t limit = AnyLimit();
    ExpectSame(memory_->ListStudies(id, limit), sqlite_->ListStudies(id, limit));
  }

  void Trials() {
    const StudyId study = AnyStudy();
    const TrialNumber number(static_cast<std::int64_t>(rng_.UniformInt(12)));
    ExpectSame(memory_->GetTrial({study, number}), sqlite_->GetTrial({study, number}));
    const std::size_t limit = AnyLimit();
    ExpectSame(memory_->ListTrials(study, number, limit),
               sqlite_->ListTrials(study, number, limit));
  }

  void Events() {
    const StudyId study = AnyStudy();
    const EventSeq after(static_cast<std::int64_t>(rng_.UniformInt(60)));
    const std::size_t limit = AnyLimit();
    ExpectSame(memory_->ReadEvents(study, after, limit), sqlite_->ReadEvents(study, after, limit));
  }

  void Measurements() {
    const TrialId trial{AnyStudy(), TrialNumber(static_cast<std::int64_t>(rng_.UniformInt(12)))};
    ExpectSame(memory_->ListMeasurements(trial), sqlite_->ListMeasurements(trial));
    ExpectSame(memory_->ReadReports(trial), sqlite_->ReadReports(trial));
    ExpectSame(memory_->ReadSnapshot(trial.study), sqlite_->ReadSnapshot(trial.study));
    const std::string request = std::to_string(rng_.UniformInt(60));
    ExpectSame(memory_->ReadRequest(trial.study, request),
               sqlite_->ReadRequest(trial.study, request));
  }

  vernier::Commit AnyCommit(const Study& study) {
    vernier::Commit commit;
    commit.study = study.id;
    commit.expected = study.last_event;
    if (rng_.UniformInt(8) == 0) commit.expected = EventSeq(study.last_event.value() - 1);
    commit.header = study;
    for (std::uint64_t left = 1 + rng_.UniformInt(3); left > 0; --left) {
      // Any kind but a study's creation.
      const std::size_t kind = 1 + rng_.UniformInt(std::variant_size_v<EventPayload> - 1);
      EventPayload payload = testing::RandomPayload(rng_, kind);
      if (auto* reported = std::get_if<MeasurementReported>(&payload)) {
        reported->trial = TrialNumber(static_cast<std::int64_t>(rng_.UniformInt(12)));
      }
      const auto seq =
          commit.expected.value() + static_cast<std::int64_t>(commit.events.size()) + 1;
      commit.events.push_back({.seq = EventSeq(seq),
                               .time = study.updated + absl::Nanoseconds(7),
                               .actor = "model",
                               .request_id = std::to_string(seq),
                               .payload = std::move(payload)});
    }
    commit.header.last_event = commit.events.back().seq;
    commit.header.updated = commit.events.back().time;
    commit.header.completed = static_cast<std::int64_t>(rng_.UniformInt(100));
    for (std::uint64_t left = rng_.UniformInt(3); left > 0; --left) {
      const TrialNumber number(static_cast<std::int64_t>(1 + rng_.UniformInt(12)));
      commit.trials.push_back(testing::RandomTrial(rng_, number));
    }
    if (rng_.UniformInt(4) == 0) commit.snapshot = AnySnapshot(study.id);
    return commit;
  }

  SnapshotChange AnySnapshot(StudyId study) {
    const auto stored = memory_->ReadSnapshot(study);
    const bool is_any = stored.ok() && stored->has_value();
    SnapshotChange change;
    change.first_part = rng_.UniformInt((is_any ? (*stored)->parts.size() : 0) + 1);
    for (std::uint64_t left = rng_.UniformInt(3); left > 0; --left) {
      change.parts.push_back(std::to_string(rng_.NextU64()));
    }
    if (rng_.UniformInt(4) != 0) change.head = std::to_string(rng_.NextU64());
    return change;
  }

  Study StudyFor(StudyId id) {
    const absl::StatusOr<Study> study = memory_->GetStudy(id);
    Study unknown;
    unknown.id = id;
    return study.ok() ? *study : unknown;
  }

  void Commit() {
    const vernier::Commit commit = AnyCommit(StudyFor(AnyStudy()));
    EXPECT_EQ(memory_->Begin(commit)->Wait().code(), sqlite_->Begin(commit)->Wait().code());
  }

  // Several commits in line before anybody waits.
  void Line() {
    Study study = StudyFor(AnyStudy());
    std::vector<std::unique_ptr<PendingCommit>> memory;
    std::vector<std::unique_ptr<PendingCommit>> sqlite;
    for (int i = 0; i < 4; ++i) {
      const vernier::Commit commit = AnyCommit(study);
      memory.push_back(memory_->Begin(commit));
      sqlite.push_back(sqlite_->Begin(commit));
      study = commit.header;
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
      EXPECT_EQ(memory[i]->Wait().code(), sqlite[i]->Wait().code());
    }
  }

  Rng rng_;
  TempFolder folder_;
  std::unique_ptr<Storage> memory_ = NewMemoryStorage();
  std::unique_ptr<Storage> sqlite_;
  std::uint64_t last_id_ = 0;
};

TEST(StorageModel, MemoryAndSqliteAnswerAlike) {
  constexpr std::uint64_t kSeed = 20261121;
  Model model(kSeed);
  for (int call = 0; call < kCalls; ++call) {
    if (call % kCallsPerOpening == 0) model.Reopen();
    model.Call();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "call " << call << " of seed " << kSeed;
  }
}

}  // namespace
}  // namespace vernier
