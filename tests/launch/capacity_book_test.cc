#include "src/launch/local/capacity_book.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

AttemptId Attempt(std::int64_t trial) {
  return {{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)};
}

std::vector<ReplicaRequest> Gang(const std::vector<Resources>& resources) {
  std::vector<ReplicaRequest> gang;
  for (const Resources& each : resources) gang.push_back({.role = "worker", .resources = each});
  return gang;
}

HostCapacity AnyHost() {
  return {.cpus = 4, .memory_bytes = 8 * kGiB, .gpus = {{"0", "T4"}, {"1", "A100"}, {"2", "A100"}}};
}

struct FitCase {
  std::string name;
  std::vector<Resources> gang;
  std::string error;  // Empty: it fits.
};
class CapacityFitTest : public ::testing::TestWithParam<FitCase> {};

TEST_P(CapacityFitTest, OfTheEmptyHostIsExplained) {
  const absl::Status status = CapacityBook(AnyHost()).CheckFits(Gang(GetParam().gang));
  EXPECT_EQ(status.message(), GetParam().error);
  EXPECT_EQ(status.code(),
            GetParam().error.empty() ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Gangs,
    CapacityFitTest,
    ::testing::Values(
        FitCase{"All", {{.cpus = 4, .memory_bytes = 8 * kGiB, .gpus = 3}}, ""},
        FitCase{"Cpus", {{.cpus = 2}, {.cpus = 2.5}}, "needs 4.5 cpus, this host has 4"},
        FitCase{
            "Memory", {{.memory_bytes = 9 * kGiB}}, "needs 9 GiB of memory, this host has 8 GiB"},
        FitCase{"AnyGpus", {{.gpus = 4}}, "needs 4 gpus, this host has 3"},
        FitCase{"TypedGpus",
                {{.gpus = 2, .gpu_type = "T4"}},
                "needs 2 gpus of type T4, this host has 1"},
        FitCase{"UnknownType",
                {{.gpus = 1, .gpu_type = "H100"}},
                "needs 1 gpus of type H100, this host has 0"},
        FitCase{"TypedLeaveTooFewForAny",
                {{.cpus = 1, .gpus = 2, .gpu_type = "A100"}, {.cpus = 1, .gpus = 2}},
                "needs 4 gpus, this host has 3"},
        FitCase{"Several",
                {{.cpus = 5, .memory_bytes = 9 * kGiB}},
                "needs 5 cpus, this host has 4; needs 9 GiB of memory, this host has 8 GiB"}),
    [](const auto& test) { return test.param.name; });

TEST(CapacityBook, GivesAllOrNothing) {
  CapacityBook book(AnyHost());
  ASSERT_THAT(book.Reserve(Attempt(1), Gang({{.cpus = 3}})), IsOk());
  const absl::Status waits = book.Reserve(Attempt(2), Gang({{.cpus = 1}, {.cpus = 1}})).status();
  EXPECT_THAT(waits, StatusIs(absl::StatusCode::kResourceExhausted, "needs 2 cpus, 1 free"));
  EXPECT_EQ(GetReason(waits), Reason::kInsufficientCapacity);
  // What could not be placed holds nothing: there is room for one.
  EXPECT_THAT(book.Reserve(Attempt(3), Gang({{.cpus = 1}})), IsOk());
  book.Release(Attempt(1));
  EXPECT_THAT(book.Reserve(Attempt(2), Gang({{.cpus = 1}, {.cpus = 1}})), IsOk());
}

TEST(CapacityBook, AddsFractionsUp) {
  CapacityBook book({.cpus = 1});
  for (int trial = 1; trial <= 10; ++trial) {
    EXPECT_THAT(book.Reserve(Attempt(trial), Gang({{.cpus = 0.1}})), IsOk());
  }
  EXPECT_THAT(book.Reserve(Attempt(11), Gang({{.cpus = 0.1}})),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(CapacityBook, LetsTypedReplicasChooseFirst) {
  CapacityBook book(AnyHost());
  ASSERT_OK_AND_ASSIGN(
      const GpuAssignment gpus,
      book.Reserve(Attempt(1), Gang({{.cpus = 1, .gpus = 1}, {.gpus = 2, .gpu_type = "A100"}})));
  EXPECT_THAT(gpus, ElementsAre(ElementsAre("0"), ElementsAre("1", "2")));
}

TEST(CapacityBook, GivesOneReplicaDevicesOfOneTypeWhereItCan) {
  CapacityBook book(AnyHost());
  ASSERT_OK_AND_ASSIGN(const GpuAssignment gpus,
                       book.Reserve(Attempt(1), Gang({{.cpus = 1, .gpus = 2}, {.cpus = 1}})));
  EXPECT_THAT(gpus, ElementsAre(ElementsAre("1", "2"), IsEmpty()));
}

TEST(CapacityBook, BooksWhatRunsEvenBeyondWhatThereIs) {
  CapacityBook book(AnyHost());
  book.Take(Attempt(1), Gang({{.cpus = 6, .gpus = 1}}), {{.role = "worker", .gpus = {"1"}}});
  EXPECT_THAT(book.Reserve(Attempt(2), Gang({{.cpus = 1}})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 cpus, 0 free"));
  EXPECT_THAT(book.Reserve(Attempt(3), Gang({{.cpus = 0, .gpus = 2, .gpu_type = "A100"}})),
              StatusIs(absl::StatusCode::kResourceExhausted));
  book.Release(Attempt(1));
  EXPECT_THAT(book.Reserve(Attempt(2), Gang({{.cpus = 4, .gpus = 3}})), IsOk());
}

}  // namespace
}  // namespace vernier::launch
