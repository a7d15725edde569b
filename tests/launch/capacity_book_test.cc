#include "src/launch/local/capacity_book.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;
using ::vernier::testing::kGiB;

AttemptId Attempt(std::int64_t trial) {
  return {{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)};
}

std::vector<ReplicaRequest> Replicas(const std::vector<Resources>& resources) {
  std::vector<ReplicaRequest> gang;
  for (const Resources& each : resources) gang.push_back({.role = "worker", .resources = each});
  return gang;
}

GangRequest Gang(std::int64_t trial, const std::vector<Resources>& resources) {
  return {.id = Attempt(trial), .study = "study", .replicas = Replicas(resources)};
}

HostCapacity AnyHost() {
  return {.cpus = 4,
          .memory_bytes = 8 * kGiB,
          .gpus = {{"0", "T4", 16 * kGiB}, {"1", "A100", 40 * kGiB}, {"2", "A100", 40 * kGiB}}};
}

struct FitCase {
  std::string name;
  std::vector<Resources> gang;
  std::string error;  // Empty: it fits.
};
class CapacityFitTest : public ::testing::TestWithParam<FitCase> {};

TEST_P(CapacityFitTest, OfTheEmptyHostIsExplained) {
  const ManualClock clock(absl::UnixEpoch());
  const absl::Status status = CapacityBook(AnyHost(), clock).CheckFits(Replicas(GetParam().gang));
  EXPECT_EQ(status.message(), GetParam().error);
  EXPECT_EQ(status.code(),
            GetParam().error.empty() ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Gangs,
    CapacityFitTest,
    ::testing::Values(
        FitCase{"All", {{.cpus = 4, .memory_bytes = 8 * kGiB, .gpus = 3}}, ""},
        FitCase{"Cpus",
                {{.cpus = 2}, {.cpus = 2.5}},
                "needs 4.5 cpus, this host has 4; --fitting scaled (host.fitting of the server's "
                "configuration) would make its shares smaller"},
        FitCase{"Memory",
                {{.memory_bytes = 9 * kGiB}},
                "needs 9 GiB of memory, this host has 8 GiB; --fitting scaled (host.fitting of the "
                "server's "
                "configuration) would make its shares smaller"},
        FitCase{"AnyGpus", {{.gpus = 4}}, "needs 4 gpus, this host has 3"},
        FitCase{"TypedGpus", {{.gpus = 2, .gpu_type = "T4"}}, "needs 2 T4, this host has 1"},
        FitCase{"UnknownType", {{.gpus = 1, .gpu_type = "H100"}}, "needs 1 H100, this host has 0"},
        FitCase{"TypedLeaveTooFewForAny",
                {{.cpus = 1, .gpus = 2, .gpu_type = "A100"}, {.cpus = 1, .gpus = 2}},
                "needs 4 gpus, this host has 3"},
        FitCase{"Shares",
                {{.gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = 8 * kGiB},
                 {.gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = 8 * kGiB}},
                ""},
        FitCase{"TooManyShares",
                {{.gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = 8 * kGiB},
                 {.gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = 8 * kGiB},
                 {.gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = 8 * kGiB}},
                "needs 3 T4 shares of 8 GiB, this host has 2"},
        FitCase{"ShareLargerThanADevice",
                {{.gpus = 1, .gpu_memory_bytes = 48 * kGiB}},
                "needs 1 gpu share of 48 GiB, this host has 0"},
        FitCase{"SharesOfOneReplicaAreOfDifferentDevices",
                {{.gpus = 2, .gpu_type = "T4", .gpu_memory_bytes = kGiB}},
                "the devices of this host do not suit all of its replicas at once"},
        FitCase{"Several",
                {{.cpus = 5, .memory_bytes = 9 * kGiB}},
                "needs 5 cpus, this host has 4; needs 9 GiB of memory, this host has 8 GiB; "
                "--fitting scaled (host.fitting of the server's "
                "configuration) would make its shares smaller"}),
    [](const auto& test) { return test.param.name; });

class CapacityBookTest : public ::testing::Test {
 protected:
  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
};

TEST_F(CapacityBookTest, SaysWhyADeviceCannotBeShared) {
  const std::vector<ReplicaRequest> share =
      Replicas({{.gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = kGiB}});
  EXPECT_THAT(CapacityBook({.cpus = 1, .gpus = {{"7", "T4"}}}, clock_).CheckFits(share),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "needs 1 T4 share of 1 GiB, this host has 0; device 7 cannot be shared, its "
                       "memory is not known"));
  EXPECT_THAT(
      CapacityBook({.cpus = 1, .gpus = {{"7", "T4"}, {"8", "T4"}}}, clock_).CheckFits(share),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "needs 1 T4 share of 1 GiB, this host has 0; devices 7, 8 cannot be shared, their "
               "memory is not known"));
}

TEST_F(CapacityBookTest, GivesAllOrNothing) {
  CapacityBook book(AnyHost(), clock_);
  ASSERT_THAT(book.Place(Gang(1, {{.cpus = 3}})), IsOk());
  const absl::Status waits = book.Place(Gang(2, {{.cpus = 1}, {.cpus = 1}})).status();
  EXPECT_THAT(waits, StatusIs(absl::StatusCode::kResourceExhausted, "needs 2 cpus, 1 free"));
  EXPECT_EQ(GetReason(waits), Reason::kInsufficientCapacity);
  EXPECT_EQ(book.Status().free_cpus, 1);
  book.Release(Attempt(1));
  EXPECT_THAT(book.Place(Gang(2, {{.cpus = 1}, {.cpus = 1}})), IsOk());
  EXPECT_EQ(book.Status().free_cpus, 2);
}

TEST_F(CapacityBookTest, AddsFractionsUp) {
  CapacityBook book({.cpus = 1}, clock_);
  for (int trial = 1; trial <= 10; ++trial) {
    EXPECT_THAT(book.Place(Gang(trial, {{.cpus = 0.1}})), IsOk());
  }
  EXPECT_THAT(book.Place(Gang(11, {{.cpus = 0.1}})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 0.1 cpus, 0 free"));
}

TEST_F(CapacityBookTest, LetsTypedReplicasChooseFirst) {
  CapacityBook book(AnyHost(), clock_);
  ASSERT_OK_AND_ASSIGN(
      const GpuAssignment gpus,
      book.Place(Gang(1, {{.cpus = 1, .gpus = 1}, {.gpus = 2, .gpu_type = "A100"}})));
  EXPECT_THAT(gpus, ElementsAre(ElementsAre("0"), ElementsAre("1", "2")));
}

TEST_F(CapacityBookTest, GivesOneReplicaDevicesOfOneTypeWhereItCan) {
  CapacityBook book(AnyHost(), clock_);
  ASSERT_OK_AND_ASSIGN(const GpuAssignment gpus,
                       book.Place(Gang(1, {{.cpus = 1, .gpus = 2}, {.cpus = 1}})));
  EXPECT_THAT(gpus, ElementsAre(ElementsAre("1", "2"), IsEmpty()));
}

TEST_F(CapacityBookTest, SharesADeviceUntilItsMemoryIsGone) {
  CapacityBook book({.cpus = 8, .gpus = {{"0", "T4", 16 * kGiB}, {"1", "T4", 16 * kGiB}}}, clock_);
  const Resources share = {.cpus = 1, .gpus = 1, .gpu_type = "T4", .gpu_memory_bytes = 6 * kGiB};
  ASSERT_OK_AND_ASSIGN(const GpuAssignment first, book.Place(Gang(1, {share, share})));
  EXPECT_THAT(first, ElementsAre(ElementsAre("0"), ElementsAre("0")));
  // A whole device is one that nobody has a part of.
  ASSERT_OK_AND_ASSIGN(const GpuAssignment whole, book.Place(Gang(2, {{.cpus = 1, .gpus = 1}})));
  EXPECT_THAT(whole, ElementsAre(ElementsAre("1")));
  EXPECT_THAT(book.Status().devices, ElementsAre(FieldsAre("T4", 2, 0, 1)));
  EXPECT_THAT(book.Place(Gang(3, {share})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 T4 share of 6 GiB, 0 free"));
  book.Release(Attempt(2));
  EXPECT_THAT(book.Place(Gang(3, {share})), IsOk());
  EXPECT_THAT(book.Place(Gang(4, {{.cpus = 1, .gpus = 1}})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 gpu, 0 free"));
}

TEST_F(CapacityBookTest, BooksWhatRunsEvenBeyondWhatThereIs) {
  CapacityBook book(AnyHost(), clock_);
  book.Take(Gang(1, {{.cpus = 6, .gpus = 1}}), {{.role = "worker", .gpus = {"1", "gone"}}});
  EXPECT_EQ(book.Status().free_cpus, 0);
  EXPECT_THAT(book.Status().devices,
              ElementsAre(FieldsAre("A100", 2, 1, 0), FieldsAre("T4", 1, 1, 0)));
  EXPECT_THAT(
      book.Place(Gang(2, {{.cpus = 4, .gpus = 2, .gpu_type = "A100"}})),
      StatusIs(absl::StatusCode::kResourceExhausted, "needs 4 cpus, 0 free; needs 2 A100, 1 free"));
  book.Release(Attempt(1));
  EXPECT_THAT(book.Place(Gang(2, {{.cpus = 4, .gpus = 2, .gpu_type = "A100"}})), IsOk());
}

TEST_F(CapacityBookTest, BooksTheSharesOfWhatRuns) {
  CapacityBook book({.cpus = 8, .gpus = {{"0", "T4", 16 * kGiB}}}, clock_);
  const Resources share = {.cpus = 1, .gpus = 1, .gpu_memory_bytes = 10 * kGiB};
  book.Take(Gang(1, {share}), {{.role = "worker", .gpus = {"0"}}});
  EXPECT_THAT(
      book.Place(Gang(2, {share})),
      StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 gpu share of 10 GiB, 0 free"));
  EXPECT_THAT(
      book.Place(Gang(3, {{.cpus = 1, .gpus = 1, .gpu_memory_bytes = 6 * kGiB}})),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "behind 1 gang of higher priority or age; what is free is kept for the first of "
               "them"));
}

TEST_F(CapacityBookTest, ScalesCpusAndMemoryDownToTheHostIfToldTo) {
  CapacityBook book(AnyHost(), clock_, Fitting::kScaled);
  const Resources large = {.cpus = 12, .memory_bytes = 8 * kGiB};
  EXPECT_THAT(book.CheckFits(Replicas({large, large})), IsOk());
  ASSERT_THAT(book.Place(Gang(1, {large, large})), IsOk());
  // It may use the host, and leaves room for another one.
  EXPECT_NEAR(SumOf(book.Fitted(Gang(1, {large, large}))).cpus, AnyHost().cpus, 1e-9);
  EXPECT_NEAR(book.Status().free_cpus, AnyHost().cpus / 2, 1e-9);
  EXPECT_EQ(book.Status().free_memory_bytes, 4 * kGiB);
  ASSERT_THAT(book.Place(Gang(2, {large, large})), IsOk());
  EXPECT_THAT(book.Place(Gang(3, {{.cpus = 1}})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 cpu, 0 free"));
  book.Release(Attempt(1));
  // One factor for each dimension, and none where its part is enough.
  ASSERT_THAT(book.Place(Gang(3, {{.cpus = 16, .memory_bytes = kGiB}})), IsOk());
  EXPECT_EQ(book.Status().free_memory_bytes, 3 * kGiB);
}

// Four CPUs and 15 GiB on a host of two CPUs and 24 GiB, as the smallest tier asks for.
TEST_F(CapacityBookTest, TwoGangsThatAreScaledDownShareASmallHost) {
  CapacityBook book({.cpus = 2, .memory_bytes = 24 * kGiB}, clock_, Fitting::kScaled);
  const Resources basic = {.cpus = 4, .memory_bytes = 15 * kGiB};
  ASSERT_THAT(book.Place(Gang(1, {basic})), IsOk());
  ASSERT_THAT(book.Place(Gang(2, {basic})), IsOk());
  EXPECT_THAT(book.Place(Gang(3, {basic})), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(book.Fitted(Gang(1, {basic}))[0].resources.cpus, 2);
  EXPECT_EQ(book.Fitted(Gang(1, {basic}))[0].resources.memory_bytes, 15 * kGiB);
}

TEST_F(CapacityBookTest, ScalesDownToWhatEachOfTheGangsThatRunAtOnceMayHave) {
  CapacityBook book({.cpus = 4, .memory_bytes = 8 * kGiB + 12'347}, clock_, Fitting::kScaled);
  for (int trial = 1; trial <= 3; ++trial) {
    GangRequest gang = Gang(trial,
                            {{.cpus = 9, .memory_bytes = 7 * kGiB},
                             {.cpus = 3, .memory_bytes = 7 * kGiB},
                             {.cpus = 1}});
    gang.parallel = 3;
    ASSERT_THAT(book.Place(gang), IsOk()) << trial;
    const std::vector<ReplicaRequest> fitted = book.Fitted(gang);
    EXPECT_NEAR(fitted[0].resources.cpus, 4.0 / 3 * 9 / 13, 1e-9);
    EXPECT_EQ(fitted[0].resources.memory_bytes + fitted[1].resources.memory_bytes,
              (8 * kGiB + 12'347) / 3);
    EXPECT_EQ(fitted[1].resources.memory_bytes % (1 << 20), 0);
    EXPECT_EQ(fitted[2].resources.memory_bytes, 0);
  }
  EXPECT_EQ(book.Status().free_cpus, 0);
  EXPECT_EQ(book.Status().free_memory_bytes, 0);
  EXPECT_THAT(book.Place(Gang(4, {{.cpus = 1, .memory_bytes = kGiB}})),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "needs 1 cpu, 0 free; needs 1 GiB of memory, 0 B free"));
}

TEST_F(CapacityBookTest, WhatAsksForNothingSharesTheHost) {
  CapacityBook book({.cpus = 2, .memory_bytes = kGiB}, clock_);
  const std::vector<Resources> nothing(4);
  ASSERT_THAT(book.CheckFits(Replicas(nothing)), IsOk());
  ASSERT_THAT(book.Place(Gang(1, {{.cpus = 2}})), IsOk());
  for (int trial = 2; trial <= 10; ++trial) ASSERT_THAT(book.Place(Gang(trial, nothing)), IsOk());
  // What is asked for stays strict, whoever shares the rest.
  EXPECT_EQ(book.Status().free_cpus, 0);
  EXPECT_THAT(book.Place(Gang(11, {{}, {.cpus = 1}})),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 1 cpu, 0 free"));
  ASSERT_THAT(book.Place(Gang(12, nothing)), IsOk());  // It delays nobody.
}

TEST_F(CapacityBookTest, WhatAsksForNothingFitsAHostThatIsOverbooked) {
  CapacityBook book({.cpus = 2}, clock_);
  book.Take(Gang(1, {{.cpus = 3}}), {{.role = "worker"}});
  EXPECT_THAT(book.Place(Gang(2, {{}, {}})), IsOk());
}

TEST_F(CapacityBookTest, DescribesOnlyWhatIsAskedFor) {
  EXPECT_EQ(Describe(SumOf(Replicas({{}, {}}))), "nothing");
  EXPECT_EQ(Describe(SumOf(Replicas({{}, {.gpus = 2, .gpu_type = "T4"}}))), "2 T4");
  EXPECT_EQ(Describe(SumOf(Replicas({{.cpus = 1}, {.memory_bytes = kGiB}}))),
            "1 cpu, 1 GiB of memory");
}

TEST_F(CapacityBookTest, ScalesOnlyReplicasThatAsk) {
  CapacityBook book({.cpus = 2, .memory_bytes = kGiB}, clock_, Fitting::kScaled);
  GangRequest gang = Gang(1, {{.cpus = 8}, {}, {}});
  gang.parallel = 100;
  const std::vector<ReplicaRequest> fitted = book.Fitted(gang);
  EXPECT_NEAR(fitted[0].resources.cpus, 0.1, 1e-9);
  EXPECT_EQ(fitted[1].resources.cpus, 0);
}

TEST_F(CapacityBookTest, LeavesAsItIsWhatFitsTheHost) {
  CapacityBook book(AnyHost(), clock_, Fitting::kScaled);
  GangRequest gang = Gang(1, {{.cpus = 4, .memory_bytes = 8 * kGiB}});
  gang.parallel = 2;
  EXPECT_EQ(book.Fitted(gang), gang.replicas);
}

TEST_F(CapacityBookTest, DoesNotScaleDownToNothing) {
  CapacityBook book({.cpus = 4, .memory_bytes = 2 * kGiB}, clock_, Fitting::kScaled);
  GangRequest gang =
      Gang(1, {{.cpus = 9, .memory_bytes = kGiB}, {.cpus = 9, .memory_bytes = kGiB + 1}});
  gang.parallel = 1000;
  const std::vector<ReplicaRequest> fitted = book.Fitted(gang);
  EXPECT_NEAR(fitted[0].resources.cpus, 0.1, 1e-9);
  EXPECT_EQ(fitted[0].resources.memory_bytes + fitted[1].resources.memory_bytes, 512 << 20);
  // Nor to more than there is.
  CapacityBook tiny({.cpus = 0.1, .memory_bytes = 100 << 20}, clock_, Fitting::kScaled);
  ASSERT_THAT(tiny.Place(gang), IsOk());
  EXPECT_EQ(tiny.Status().free_cpus, 0);
  EXPECT_EQ(tiny.Status().free_memory_bytes, 0);
}

TEST_F(CapacityBookTest, LeavesNoCrumbsWhereThirteenReplicasDoNotDivideTheHost) {
  CapacityBook book({.cpus = 4, .memory_bytes = 8'123'456'788}, clock_, Fitting::kScaled);
  const std::vector<Resources> large(13, {.cpus = 16, .memory_bytes = 60 * kGiB});
  ASSERT_THAT(book.Place(Gang(1, large)), IsOk());
  ASSERT_THAT(book.Place(Gang(2, large)), IsOk());
  EXPECT_EQ(book.Status().free_cpus, 0);
  EXPECT_EQ(book.Status().free_memory_bytes, 0);
}

TEST_F(CapacityBookTest, TellsSmallSizesInUnitsThatSuitThem) {
  CapacityBook book({.cpus = 2, .memory_bytes = 300 << 10}, clock_);
  EXPECT_THAT(
      book.CheckFits(Replicas({{.memory_bytes = 3 << 19, .gpus = 1}})),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "needs 1.5 MiB of memory, this host has 300 KiB; needs 1 gpu, this host has 0"));
}

TEST_F(CapacityBookTest, NeverScalesDevices) {
  EXPECT_THAT(CapacityBook(AnyHost(), clock_, Fitting::kScaled)
                  .CheckFits(Replicas({{.cpus = 100, .gpus = 4}})),
              StatusIs(absl::StatusCode::kInvalidArgument, "needs 4 gpus, this host has 3"));
}

}  // namespace
}  // namespace vernier::launch
