#include "src/service/log_stream.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"
#include "vernier/storage.h"

namespace vernier::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// Lines by the directory of their attempt; a read gives two of them at most.
class FakeLogs final : public LogSource {
 public:
  class Cursor final : public LogCursor {
   public:
    explicit Cursor(std::deque<std::string> lines) : lines_(std::move(lines)) {}
    absl::Status SeekTail(std::int64_t count) override {
      while (static_cast<std::int64_t>(lines_.size()) > count) lines_.pop_front();
      return absl::OkStatus();
    }
    absl::StatusOr<std::vector<LogLine>> Read() override {
      std::vector<LogLine> read;
      for (; !lines_.empty() && read.size() < 2; lines_.pop_front()) {
        read.push_back({.time = {}, .role = "chief", .text = lines_.front()});
      }
      return read;
    }

   private:
    std::deque<std::string> lines_;
  };

  std::unique_ptr<LogCursor> Open(const Attempt& attempt,
                                  const std::string& role,
                                  std::optional<std::int32_t>) override {
    opened_role = role;
    return std::make_unique<Cursor>(lines[attempt.directory]);
  }

  std::map<std::string, std::deque<std::string>> lines;
  std::string opened_role;
};

class LogStreamTest : public ::testing::Test {
 protected:
  LogStreamTest() {
    StudySpec spec;
    spec.name = "study";
    spec.objectives = {{.metric = "accuracy"}};
    spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{}}});
    spec.algorithm = {.name = "random"};
    spec.budget.trials = 5;
    spec.job = TrainingJob{.command = {"true"}};
    const auto study = studies_->CreateStudy(spec, {.actor = "test"});
    EXPECT_THAT(study, IsOk());
    const auto trials = studies_->Ask(study->id, 1, {.actor = "test"}, {});
    EXPECT_THAT(trials, IsOk());
    trial_ = {study->id, trials->front().number};
  }

  void RunAttempt(const std::string& directory) {
    EXPECT_THAT(studies_->Move(trial_, TrialState::kQueued, FailureClass::kNone, ""), IsOk());
    EXPECT_THAT(studies_->PlaceAttempt(
                    trial_, {{.role = "chief", .host = "localhost", .port = 1}}, directory),
                IsOk());
  }

  absl::Status Run() {
    LogStream stream(*studies_, logs_, trial_, request_, [this](const v1::LogLine& line) {
      texts_.push_back(line.text());
      return texts_.size() < stop_after_;
    });
    return stream.Run({});
  }

  ManualClock clock_{absl::FromUnixSeconds(1'795'000'000)};
  const std::unique_ptr<Storage> storage_ = NewMemoryStorage();
  const std::unique_ptr<Studies> studies_ = Studies::Create(*storage_, clock_);
  FakeLogs logs_;
  TrialId trial_;
  v1::StreamTrialLogsRequest request_;
  std::vector<std::string> texts_;
  std::size_t stop_after_ = 1000;
};

TEST_F(LogStreamTest, OfATrialThatNeverRanIsEmpty) {
  EXPECT_THAT(Run(), IsOk());
  EXPECT_TRUE(texts_.empty());
}

TEST_F(LogStreamTest, GivesEveryLineAsValidText) {
  logs_.lines["/a"] = {"one", "two", "thr\xff", "four", "five"};
  RunAttempt("/a");
  request_.set_role("chief");
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(texts_, ElementsAre("one", "two", "thr\xEF\xBF\xBD", "four", "five"));
  EXPECT_EQ(logs_.opened_role, "chief");
}

TEST_F(LogStreamTest, GivesTheLastLinesOnly) {
  logs_.lines["/a"] = {"one", "two", "three", "four"};
  RunAttempt("/a");
  request_.set_tail(2);
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(texts_, ElementsAre("three", "four"));
}

TEST_F(LogStreamTest, OfAnAttemptThatIsNotThereSaysSo) {
  RunAttempt("/a");
  request_.set_attempt(7);
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no attempt 7")));
}

TEST_F(LogStreamTest, EndsWhenNobodyReads) {
  logs_.lines["/a"] = {"one", "two", "three"};
  RunAttempt("/a");
  stop_after_ = 1;
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(texts_, ElementsAre("one"));
}

TEST_F(LogStreamTest, FollowingEndsWithTheTrial) {
  logs_.lines["/a"] = {"one"};
  RunAttempt("/a");
  EXPECT_THAT(studies_->Move(trial_, TrialState::kRunning, FailureClass::kNone, ""), IsOk());
  EXPECT_THAT(studies_->Fail(trial_, FailureClass::kUserError, "exit code 1", std::nullopt, {}),
              IsOk());
  request_.set_follow(true);
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(texts_, ElementsAre("one"));
}

}  // namespace
}  // namespace vernier::service
