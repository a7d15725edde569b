#include "src/wire/added_trial_proto.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::wire {
namespace {

using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

TrialAddition Back(const TrialAddition& addition) {
  v1::AddedTrial proto;
  EncodeAddedTrial(addition, &proto);
  const auto decoded = DecodeAddedTrial("trials[0]", proto);
  EXPECT_THAT(decoded, IsOk());
  return decoded.value_or(TrialAddition());
}

TEST(AddedTrial, KeepsPointCurveResultAndMetadata) {
  TrialAddition addition;
  addition.point = {{"lr", 0.1}, {"n", std::int64_t{3}}, {"on", true}, {"opt", std::string("sgd")}};
  addition.measurements = {{.step = 2,
                            .elapsed = absl::Seconds(3),
                            .time = absl::FromUnixSeconds(1'795'000'000),
                            .metrics = {{"a", std::numeric_limits<double>::infinity()}},
                            .source = "client"}};
  addition.last = Measurement{.step = 5, .elapsed = absl::Seconds(7), .metrics = {{"a", 0.5}}};
  addition.metadata = {{{.space = "s", .name = "k"}, {.type = "", .content = "v"}}};
  const TrialAddition back = Back(addition);
  EXPECT_EQ(back.point, addition.point);
  EXPECT_EQ(back.measurements, addition.measurements);
  EXPECT_EQ(back.last, addition.last);
  EXPECT_EQ(back.metadata, addition.metadata);
  EXPECT_FALSE(back.stopped.has_value() || back.failed.has_value() || back.infeasible.has_value());
}

TEST(AddedTrial, KeepsEachEnd) {
  TrialAddition stopped;
  stopped.stopped = "pruned";
  EXPECT_EQ(Back(stopped).stopped, "pruned");
  EXPECT_FALSE(Back(stopped).last.has_value());
  stopped.last = Measurement{.metrics = {{"a", 1}}};
  EXPECT_EQ(Back(stopped).last, stopped.last);
  TrialAddition failed;
  failed.failed = TrialFailure{.failure = FailureClass::kOutOfMemory, .message = "why"};
  EXPECT_EQ(Back(failed).failed->failure, FailureClass::kOutOfMemory);
  EXPECT_EQ(Back(failed).failed->message, "why");
  TrialAddition infeasible;
  infeasible.infeasible = "too wide";
  EXPECT_EQ(Back(infeasible).infeasible, "too wide");
  EXPECT_FALSE(Back({}).last.has_value());
}

TEST(AddedTrial, NamesWhatItCannotRead) {
  v1::AddedTrial no_kind;
  (*no_kind.mutable_parameters())["x"];
  EXPECT_THAT(DecodeAddedTrial("trials[3]", no_kind),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::StartsWith("trials[3].parameters.x")));
  v1::AddedTrial many;
  for (int i = 0; i <= 1000; ++i) {
    (*many.mutable_completed()->mutable_metrics())[std::to_string(i)] = i;
  }
  EXPECT_THAT(DecodeAddedTrial("trials[3]", many),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trials[3].completed.metrics: must be at most 1000, got 1001"));
  v1::AddedTrial unknown;
  unknown.mutable_failed()->set_failure(static_cast<v1::FailureClass>(77));
  EXPECT_THAT(
      DecodeAddedTrial("trials[3]", unknown),
      StatusIs(absl::StatusCode::kInvalidArgument, "trials[3].failed.failure: unknown class 77"));
}

}  // namespace
}  // namespace vernier::wire
