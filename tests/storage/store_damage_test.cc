#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/connection.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "tests/storage/storage_testing.h"
#include "tests/study/random_workload.h"
#include "tests/study/study_fixture.h"
#include "vernier/core/error.h"

// Stores with damaged pages: what can be read is read, and what cannot be is said.
namespace vernier {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;
using testing::TempFolder;

constexpr std::size_t kPageSize = 4096;
const std::vector<std::string> kStudyNames = {"first", "second", "third"};

Caller Me() { return {.actor = "test", .request_id = ""}; }

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path + suffix);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Three studies one after the other, so that most pages belong to one of them.
class StoreDamage : public ::testing::Test {
 protected:
  void SetUp() override {
    {
      ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
      const auto studies = Studies::Create(*storage, clock_);
      for (const std::string& name : kStudyNames) {
        ASSERT_OK_AND_ASSIGN(const Study study,
                             studies->CreateStudy(study::ClientSpec(name), Me()));
        study::RandomWorkload workload(*studies, clock_, study.id, 4711);
        for (int i = 0; i < 150; ++i) workload.Step().IgnoreError();
        if (studies->GetStudy(study.id)->state == StudyState::kPaused) {
          ASSERT_THAT(studies->Resume(study.id, Me()), IsOk());
        }
      }
    }
    sound_ = ReadBytes(path_);
    const std::vector<std::string> said = Answers();
    right_ = {said.begin(), said.end()};
    ASSERT_GT(PageCount(), 30);
  }

  std::size_t PageCount() const { return sound_.size() / kPageSize; }
  void DamagePage(std::size_t page, const std::string& content) {
    std::string bytes = sound_;
    bytes.replace(page * kPageSize, kPageSize, content);
    WriteBytes(path_, bytes);
  }

  // The numbers of a scan's trials, as text.
  static absl::StatusOr<std::string> Scan(const Storage& storage,
                                          StudyId study,
                                          const TrialScan& scan) {
    std::string text;
    VERNIER_RETURN_IF_ERROR(storage.ScanTrials(study, scan, [&](const Trial& trial) {
      text += fmt::format(" {}", trial.number.value());
      return true;
    }));
    return text;
  }

  // What every reading call of the storage answers, as texts, but for those that say that the store is damaged.
  std::vector<std::string> Answers() {
    const auto storage = OpenSqliteStorage({.path = path_});
    std::vector<std::string> answers;
    if (!IsSaid(storage.status())) return answers;
    const auto note = [&](const std::string& call, const auto& answer, const auto& text) {
      if (IsSaid(answer.status())) answers.push_back(call + text(*answer));
    };
    const auto header = [](const Study& study) {
      return fmt::format("{} {} {}", study.spec.name, study.trials, study.last_event.value());
    };
    for (const std::string& name : kStudyNames) {
      note("by name ", (*storage)->GetStudyByName(name), header);
    }
    for (int id = 1; id <= 3; ++id) {
      note(fmt::format("events of {} ", id),
           (*storage)->ReadEvents(StudyId(id), EventSeq(0), 100'000),
           [](const auto& events) {
             std::string text = std::to_string(events.size());
             for (const Event& event : events) text += EventKind(event.payload);
             return text;
           });
      note(fmt::format("trials of {} ", id),
           (*storage)->ListTrials(StudyId(id), TrialNumber(0), 100'000),
           [](const auto& trials) {
             std::string text;
             for (const Trial& trial : trials) text += fmt::format(" {}", trial.number.value());
             return text;
           });
      const auto numbers = [](const std::string& text) { return text; };
      note(fmt::format("ranked of {} ", id),
           Scan(**storage, StudyId(id), {.metric = "accuracy", .descending = true}),
           numbers);
      note(fmt::format("completed of {} ", id),
           Scan(**storage, StudyId(id), {.states = {TrialState::kCompleted}}),
           numbers);
      note(fmt::format("curve of {} ", id),
           (*storage)->ListMeasurements({StudyId(id), TrialNumber(2)}),
           [](const auto& curve) { return std::to_string(curve.size()); });
    }
    note("deletion ", (*storage)->FindDeletion("none"), [](const auto& found) {
      return found.value_or("-");
    });
    return answers;
  }
  // OK, or damage in the words for it. Anything else fails the test.
  bool IsSaid(const absl::Status& status) {
    if (status.ok()) return true;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("vernier server check")));
    EXPECT_EQ(GetReason(status), Reason::kDataLoss) << status;
    return false;
  }

  TempFolder folder_;
  std::string path_ = folder_.PathOf("store.db");
  ManualClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  std::string sound_;
  std::set<std::string> right_;
};

TEST_F(StoreDamage, EveryReadOfAStoreWithADamagedPageIsRightOrSaysSo) {
  const std::string noise = std::string(kPageSize, '\xA5');
  std::size_t told = 0;
  for (const std::string& content : {std::string(kPageSize, '\0'), noise}) {
    for (std::size_t page = 0; page < PageCount(); ++page) {
      DamagePage(page, content);
      const std::vector<std::string> answers = Answers();
      if (answers.size() < right_.size()) ++told;
      for (const std::string& answer : answers) {
        EXPECT_TRUE(right_.contains(answer)) << "page " << page << ": " << answer.substr(0, 200);
      }
    }
  }
  EXPECT_GT(told, PageCount()) << "most pages hold something that is asked for";
}

// The rules on top of the store: each study is as it was, or damaged by name, whatever else is damaged.
TEST_F(StoreDamage, EveryStudyOfAStoreWithADamagedPageIsRightOrDamaged) {
  WriteBytes(path_, sound_);
  std::map<std::string, Study> right;
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
    const auto studies = Studies::Create(*storage, clock_);
    for (const std::string& name : kStudyNames) right[name] = studies->FindStudy(name).value();
  }
  for (std::size_t page = 0; page < PageCount(); ++page) {
    DamagePage(page, std::string(kPageSize, '\xA5'));
    const auto storage = OpenSqliteStorage({.path = path_});
    if (!IsSaid(storage.status())) continue;
    const auto studies = Studies::Create(**storage, clock_);
    IsSaid(studies->Tick().status());
    for (const std::string& name : kStudyNames) {
      const absl::StatusOr<Study> study = studies->FindStudy(name);
      if (!IsSaid(study.status())) continue;
      EXPECT_EQ(study->spec, right[name].spec) << "page " << page;
      EXPECT_GE(study->last_event, right[name].last_event) << "page " << page;
      IsSaid(studies->Ask(study->id, 1, Me(), {}).status());
    }
    const auto list = studies->ListStudies();
    if (!IsSaid(list.status())) continue;
    EXPECT_GE(list->size() + studies->DamagedStudies().size(), kStudyNames.size())
        << "page " << page;
  }
}

TEST_F(StoreDamage, ADamagedLogIsThatStudysAlone) {
  std::size_t of_second = 0;  // A page of the second study's log.
  for (std::size_t i = 1; i < PageCount(); ++i) {
    DamagePage(i, std::string(kPageSize, '\xA5'));
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
    const auto is_read = [&](int id) {
      return storage->ReadEvents(StudyId(id), EventSeq(0), 100'000).ok() &&
             storage->GetStudy(StudyId(id)).ok();
    };
    if (is_read(1) && !is_read(2) && is_read(3)) of_second = i;
    if (of_second != 0) break;
  }
  ASSERT_GT(of_second, 0);
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
  const auto studies = Studies::Create(*storage, clock_);
  EXPECT_THAT(studies->Tick().value(), ElementsAre(StudyId(1), StudyId(3)));
  EXPECT_THAT(studies->FindStudy("second"),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("study 'second' is damaged"), HasSubstr(path_))));
  const std::vector<DamagedStudy> damaged = studies->DamagedStudies();
  ASSERT_EQ(damaged.size(), 1);
  EXPECT_EQ(damaged.front().name, "second");
  EXPECT_EQ(studies->ListStudies()->size(), 3) << "its row can be read";
  for (const char* name : {"first", "third"}) {
    const Study study = studies->FindStudy(name).value();
    EXPECT_THAT(studies->AddTrial(
                    study.id,
                    {.point = {{"x", 0.25}}, .last = Measurement{.metrics = {{"accuracy", 1}}}},
                    Me()),
                IsOk());
  }
}

// Whatever page is damaged: a study that cannot be read goes by force, unless its own row is there, and the others are as before.
TEST_F(StoreDamage, ADamagedStudyIsDeletedByForceAndTheOthersStay) {
  std::size_t deleted = 0;
  for (std::size_t page = 1; page < PageCount(); ++page) {
    DamagePage(page, std::string(kPageSize, '\xA5'));
    const auto texts_of = [&](const Storage& storage, int id) {
      std::string text;
      const auto events = storage.ReadEvents(StudyId(id), EventSeq(0), 100'000);
      const auto trials = storage.ListTrials(StudyId(id), TrialNumber(0), 100'000);
      if (events.ok()) text += fmt::format("{} events", events->size());
      if (trials.ok()) text += fmt::format("{} trials", trials->size());
      return text;
    };
    {
      const auto storage = OpenSqliteStorage({.path = path_});
      if (!storage.ok()) continue;
      const auto studies = Studies::Create(**storage, clock_);
      if (!absl::IsDataLoss(studies->FindStudy("second").status())) continue;
      const std::string first = texts_of(**storage, 1);
      const std::string third = texts_of(**storage, 3);
      EXPECT_FALSE(studies->Delete("second", false, Me()).ok());
      if (!IsSaid(studies->Delete("second", true, Me()))) continue;
      ++deleted;
      EXPECT_THAT(studies->FindStudy("second"), StatusIs(absl::StatusCode::kNotFound));
      EXPECT_EQ(studies->DamagedStudies().size(), 0U) << "page " << page;
      EXPECT_EQ(texts_of(**storage, 1), first) << "page " << page;
      EXPECT_EQ(texts_of(**storage, 3), third) << "page " << page;
    }
    // What is left of it goes as far as it can, also when the store is opened again.
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
    const auto studies = Studies::Create(*storage, clock_);
    EXPECT_THAT(studies->FindStudy("second"), StatusIs(absl::StatusCode::kNotFound));
    IsSaid(studies->CreateStudy(study::ClientSpec("second"), Me()).status());
  }
  EXPECT_GT(deleted, 3) << "pages of its log";
}

// Commits in line at the same time share a transaction; the one that meets the damage must not take the others with it.
TEST_F(StoreDamage, ACommitThatMeetsDamageDoesNotSpoilThoseItIsWrittenWith) {
  {
    std::filesystem::remove(path_);
    ASSERT_OK_AND_ASSIGN(const auto storage,
                         sqlite::Open({.path = path_}, {.vfs = "", .synchronous = false}));
    // So many that the ends of their logs are in different pages of every index.
    for (const std::string& name : kStudyNames) {
      ASSERT_THAT(testing::WriteTrials(*storage, name, 600).error, IsOk());
    }
  }
  sound_ = ReadBytes(path_);
  int found = 0;
  for (std::size_t page = 1; page < PageCount() && found == 0; ++page) {
    DamagePage(page, std::string(kPageSize, '\xA5'));
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
    std::vector<Study> studies;
    for (const std::string& name : kStudyNames) {
      const absl::StatusOr<Study> study = storage->GetStudyByName(name);
      if (study.ok()) studies.push_back(*study);
    }
    if (studies.size() < kStudyNames.size()) continue;
    std::vector<std::unique_ptr<PendingCommit>> commits;
    for (const Study& study : studies) {
      commits.push_back(storage->Begin(testing::TrialCommit(study)));
    }
    std::vector<absl::Status> statuses;
    for (const auto& commit : commits) statuses.push_back(commit->Wait());
    for (const absl::Status& status : statuses) IsSaid(status);
    if (!statuses[0].ok() || statuses[1].ok() || !statuses[2].ok()) continue;
    ++found;
    EXPECT_THAT(std::string(statuses[1].message()), HasSubstr("study 'second' is damaged"));
    for (const std::size_t sound : {0, 2}) {
      EXPECT_EQ(storage->GetStudy(studies[sound].id)->trials, studies[sound].trials + 1);
    }
  }
  EXPECT_GT(found, 0) << "a page that only the second study's next commit needs";
}

// What the log of a study lacks at its end is missed by nothing but its row.
TEST_F(StoreDamage, ALogThatEndsTooEarlyIsDamaged) {
  WriteBytes(path_, sound_);
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
  Study study = storage->GetStudyByName("first").value();
  {
    ASSERT_OK_AND_ASSIGN(const auto connection,
                         sqlite::Connection::Open(path_, absl::Seconds(1), ""));
    ASSERT_THAT(connection->Execute("UPDATE studies SET last_event = last_event + 1 WHERE id = 1"),
                IsOk());
  }
  const auto studies = Studies::Create(*storage, clock_);
  EXPECT_THAT(studies->FindStudy("first"),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr(fmt::format("its log ends at event {}, {} were stored",
                                             study.last_event.value(),
                                             study.last_event.value() + 1))));
  EXPECT_THAT(studies->FindStudy("second"), IsOk());
}

// One study's row is what cannot be parsed: it is left out of the list, and told apart.
TEST_F(StoreDamage, AStudyWhoseRowIsDamagedIsLeftOutOfTheListAndNamed) {
  WriteBytes(path_, sound_);
  {
    ASSERT_OK_AND_ASSIGN(const auto connection,
                         sqlite::Connection::Open(path_, absl::Seconds(1), ""));
    ASSERT_THAT(connection->Execute("UPDATE studies SET spec = '{' WHERE id = 2"), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path_}));
  const auto studies = Studies::Create(*storage, clock_);
  EXPECT_THAT(studies->Tick().value(), ElementsAre(StudyId(1), StudyId(3)));
  const std::vector<Study> list = studies->ListStudies().value();
  ASSERT_EQ(list.size(), 2);
  const std::vector<DamagedStudy> damaged = studies->DamagedStudies();
  ASSERT_EQ(damaged.size(), 1);
  EXPECT_THAT(std::string(damaged.front().error.message()), HasSubstr("study 'second'"));
  EXPECT_THAT(studies->CreateStudy(study::ClientSpec("fourth"), {.actor = "t", .request_id = "r"}),
              IsOk());
}

}  // namespace
}  // namespace vernier
