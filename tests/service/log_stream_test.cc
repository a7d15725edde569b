#include "src/service/log_stream.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/civil_time.h"
#include "gtest/gtest.h"
#include "src/study/engine_moves.h"
#include "src/wire/time_proto.h"
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
        launch::Interpret(read.back());
      }
      return read;
    }
    bool at_end() const override { return lines_.empty(); }

   private:
    std::deque<std::string> lines_;
  };

  absl::StatusOr<std::unique_ptr<LogCursor>> Open(const Attempt& attempt,
                                                  const LogFilter& filter) override {
    opened = filter;
    return std::make_unique<Cursor>(lines[attempt.directory]);
  }

  std::map<std::string, std::deque<std::string>> lines;
  LogFilter opened;
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
    EXPECT_THAT(studies_->engine_moves().Move(trial_, TrialState::kQueued, FailureClass::kNone, ""),
                IsOk());
    EXPECT_THAT(
        studies_->engine_moves().PlaceAttempt(trial_,
                                              {{.role = "chief", .host = "localhost", .port = 1},
                                               {.role = "worker", .host = "localhost", .port = 2},
                                               {.role = "worker", .host = "localhost", .port = 3}},
                                              directory),
        IsOk());
  }

  absl::Status Run() {
    const auto take = [this](const v1::LogLine& line) {
      lines_.push_back(line);
      texts_.push_back(line.text());
      return texts_.size() < stop_after_;
    };
    const auto filter = DecodeFilter(request_);
    EXPECT_THAT(filter, IsOk());
    LogStream stream(*studies_, logs_, clock_, trial_, request_, *filter, take);
    return stream.Run({});
  }

  ManualClock clock_{absl::FromUnixSeconds(1'795'000'000)};
  const std::unique_ptr<Storage> storage_ = NewMemoryStorage();
  const std::unique_ptr<Studies> studies_ = Studies::Create(*storage_, clock_);
  FakeLogs logs_;
  TrialId trial_;
  v1::StreamTrialLogsRequest request_;
  std::vector<v1::LogLine> lines_;
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
  EXPECT_EQ(logs_.opened.role, "chief");
}

TEST_F(LogStreamTest, SaysWhatALineSays) {
  logs_.lines["/a"] = {
      R"({"severity":"WARNING","message":"m","time":"2026-11-21T04:12:13Z","step":3})", "plain"};
  RunAttempt("/a");
  EXPECT_THAT(Run(), IsOk());
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_EQ(lines_[0].severity(), v1::LogLine::WARNING);
  EXPECT_EQ(lines_[0].message(), "m");
  EXPECT_EQ(wire::DecodeTime(lines_[0].stated_time()),
            absl::FromCivil(absl::CivilSecond(2026, 11, 21, 4, 12, 13), absl::UTCTimeZone()));
  EXPECT_EQ(lines_[0].fields_json(), R"({"step":3})");
  EXPECT_EQ(lines_[1].severity(), v1::LogLine::INFO);
  EXPECT_FALSE(lines_[1].has_message());
  EXPECT_FALSE(lines_[1].has_stated_time());
}

TEST_F(LogStreamTest, AsksForWhatMatches) {
  RunAttempt("/a");
  request_.set_role("worker");
  request_.set_index(1);
  request_.set_min_severity(v1::LogLine::ERROR);
  request_.mutable_since_time()->set_seconds(5);
  request_.mutable_until_time()->set_seconds(9);
  EXPECT_THAT(Run(), IsOk());
  EXPECT_EQ(logs_.opened.role, "worker");
  EXPECT_EQ(logs_.opened.index, 1);
  EXPECT_EQ(logs_.opened.least, Severity::kError);
  EXPECT_EQ(logs_.opened.since, absl::FromUnixSeconds(5));
  EXPECT_EQ(logs_.opened.until, absl::FromUnixSeconds(9));
}

TEST_F(LogStreamTest, RefusesAReplicaThatTheAttemptLacks) {
  RunAttempt("/a");
  request_.set_role("wrker");
  EXPECT_THAT(Run(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "role: must be one of chief, worker, got 'wrker'"));
  request_.set_role("worker");
  request_.set_index(2);
  EXPECT_THAT(Run(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "index: must be at most 1 of role worker, got 2"));
}

TEST_F(LogStreamTest, RefusesWhatNothingCanMatch) {
  v1::StreamTrialLogsRequest request;
  request.set_index(1);
  EXPECT_THAT(DecodeFilter(request),
              StatusIs(absl::StatusCode::kInvalidArgument, "index: needs a role beside it"));
  request.Clear();
  request.set_min_severity(static_cast<v1::LogLine::Severity>(99));
  EXPECT_THAT(DecodeFilter(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "min_severity: must be one of the known ones, got 99"));
  request.Clear();
  request.mutable_since_time()->set_seconds(5);
  request.mutable_until_time()->set_seconds(5);
  EXPECT_THAT(DecodeFilter(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("since_time: must be before until_time, which is 1970-01-01")));
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
  EXPECT_THAT(studies_->engine_moves().Move(trial_, TrialState::kRunning, FailureClass::kNone, ""),
              IsOk());
  EXPECT_THAT(studies_->Fail(trial_, FailureClass::kUserError, "exit code 1", std::nullopt, {}),
              IsOk());
  request_.set_follow(true);
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(texts_, ElementsAre("one"));
}

TEST_F(LogStreamTest, FollowingEndsWithTheAttemptThatWasAskedFor) {
  logs_.lines["/a"] = {"one"};
  RunAttempt("/a");
  const AttemptId first{trial_, AttemptNumber(1)};
  for (const AttemptState state :
       {AttemptState::kStarting, AttemptState::kRunning, AttemptState::kLost}) {
    EXPECT_THAT(
        studies_->engine_moves().MoveAttempt(first, state, FailureClass::kNone, true, "", {}),
        IsOk());
  }
  logs_.lines["/b"] = {"two"};
  RunAttempt("/b");
  request_.set_attempt(1);
  request_.set_follow(true);
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(texts_, ElementsAre("one"));
}

TEST_F(LogStreamTest, FollowingEndsWhenItsTimeHasPassed) {
  logs_.lines["/a"] = {"one"};
  RunAttempt("/a");
  request_.set_follow(true);
  wire::EncodeTime(clock_.Now() - absl::Seconds(1), request_.mutable_until_time());
  EXPECT_THAT(Run(), IsOk());
  EXPECT_THAT(texts_, ElementsAre("one"));
}

}  // namespace
}  // namespace vernier::service
