#include "src/cli/log_position.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Time At(std::int64_t milliseconds) { return absl::FromUnixMillis(100'000 + milliseconds); }

v1::LogLine Line(const std::string& role, std::int64_t at, const std::string& text) {
  v1::LogLine line;
  wire::EncodeTime(At(at), line.mutable_time());
  line.set_attempt(1);
  line.set_role(role);
  line.set_text(text);
  return line;
}

std::vector<std::string> Passed(LogPosition& position, const std::vector<v1::LogLine>& lines) {
  std::vector<std::string> texts;
  for (const v1::LogLine& line : lines) {
    if (position.Pass(line)) texts.push_back(line.text());
  }
  return texts;
}

TEST(LogPosition, AStreamThatBeginsAgainGoesOnWhereItWasInEachReplica) {
  LogPosition position;
  EXPECT_THAT(Passed(position,
                     {Line("chief", 0, "a"),
                      Line("chief", 10, "b"),
                      Line("chief", 10, "b"),
                      Line("worker", 5, "c")}),
              ElementsAre("a", "b", "b", "c"));
  v1::StreamTrialLogsRequest request;
  request.set_tail(2);
  position.Resume(request);
  EXPECT_EQ(request.tail(), 0);
  EXPECT_LT(wire::DecodeTime(request.since_time()), At(5));
  EXPECT_THAT(Passed(position,
                     {Line("chief", 0, "a"),
                      Line("worker", 5, "c"),
                      Line("chief", 10, "b"),
                      Line("chief", 10, "b"),
                      Line("chief", 10, "b"),
                      Line("worker", 6, "d"),
                      Line("evaluator", 4, "e"),
                      Line("chief", 11, "f")}),
              ElementsAre("b", "d", "e", "f"));
  position.Resume(request);
  EXPECT_THAT(Passed(position, {Line("chief", 10, "b"), Line("chief", 11, "f")}), IsEmpty());
}

TEST(LogPosition, AsksForNoMoreThanWasAskedForAtFirst) {
  LogPosition position;
  v1::StreamTrialLogsRequest request;
  request.set_tail(2);
  position.Resume(request);
  EXPECT_EQ(request.tail(), 2) << "nothing was read";
  EXPECT_FALSE(request.has_since_time());
  wire::EncodeTime(At(9'900), request.mutable_since_time());
  position.Pass(Line("chief", 10'000, "a"));
  position.Resume(request);
  EXPECT_EQ(wire::DecodeTime(request.since_time()), At(9'900));
}

}  // namespace
}  // namespace vernier::cli
