// Who waits for whom: the queue of the capacity book.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/local/capacity_book.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;
using ::vernier::testing::kGiB;

constexpr auto kWaits = absl::StatusCode::kResourceExhausted;
constexpr char kKept[] =
    "behind 1 gang of higher priority or age; what is free is kept for the first of them";

AttemptId AttemptOf(std::int64_t trial) {
  return {{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)};
}

HostCapacity SmallHost() {
  return {.cpus = 8,
          .memory_bytes = 64 * kGiB,
          .gpus = {{"0", "T4", 16 * kGiB},
                   {"1", "T4", 16 * kGiB},
                   {"2", "A100", 40 * kGiB},
                   {"3", "A100", 40 * kGiB}}};
}

class QueueTest : public ::testing::Test {
 protected:
  // A gang of one replica; a later one is younger.
  GangRequest Gang(std::int64_t trial,
                   const Resources& resources,
                   std::optional<absl::Duration> time_limit = std::nullopt) const {
    return {.id = AttemptOf(trial),
            .study = "study",
            .replicas = {{.role = "chief", .resources = resources}},
            .queued = absl::FromUnixSeconds(trial),
            .time_limit = time_limit};
  }
  static GangRequest Urgent(GangRequest gang, std::int32_t priority) {
    gang.priority = priority;
    return gang;
  }
  std::vector<std::string> Waiting() {
    std::vector<std::string> lines;
    for (const QueuedGang& gang : book_.Queue()) {
      lines.push_back(std::to_string(gang.id.trial.number.value()) + ": " + gang.reason);
    }
    return lines;
  }
  std::optional<absl::Duration> HeadStartsIn() {
    const std::vector<QueuedGang> queue = book_.Queue();
    if (queue.empty() || !queue[0].start_by) return std::nullopt;
    return *queue[0].start_by - clock_.Now();
  }

  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  CapacityBook book_{SmallHost(), clock_};
};

TEST_F(QueueTest, AnUrgentGangGoesFirstThenTheElder) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 8})), IsOk());
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 4})), StatusIs(kWaits, "needs 4 cpus, 0 free"));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 4})), StatusIs(kWaits, "needs 4 cpus, 0 free"));
  EXPECT_THAT(book_.Place(Urgent(Gang(5, {.cpus = 4}), 1)), StatusIs(kWaits));
  const std::string behind = " of higher priority or age; needs 4 cpus, 0 free";
  EXPECT_THAT(
      Waiting(),
      ElementsAre(
          "5: needs 4 cpus, 0 free", "3: behind 1 gang" + behind, "4: behind 2 gangs" + behind));
  book_.Release(AttemptOf(1));
  EXPECT_THAT(Waiting(),
              ElementsAre("5: about to start", "3: about to start", "4: needs 4 cpus, 0 free"));
  // Whoever asks first: the room is for those whose turn it is.
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 4})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 4})), IsOk());
  EXPECT_THAT(book_.Place(Urgent(Gang(5, {.cpus = 4}), 1)), IsOk());
  EXPECT_THAT(Waiting(), ElementsAre("4: needs 4 cpus, 0 free"));
}

TEST_F(QueueTest, AWithdrawnGangHoldsNobodyUp) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6})), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 4})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 2})), StatusIs(kWaits, kKept));
  book_.Release(AttemptOf(2));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 2})), IsOk());
  EXPECT_THAT(Waiting(), IsEmpty());
}

TEST_F(QueueTest, AGangThatAsksForSomethingElseQueuesAnew) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6})), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 4})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 2})), IsOk());
}

TEST_F(QueueTest, LetsAGangPassThatEndsBeforeTheHeadCouldStart) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6}, absl::Minutes(60))), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 8})), StatusIs(kWaits, "needs 8 cpus, 2 free"));
  EXPECT_EQ(HeadStartsIn(), absl::Minutes(60));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 1})), StatusIs(kWaits, kKept));
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 1}, absl::Minutes(61))), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(5, {.cpus = 1}, absl::Minutes(60))), IsOk());
  EXPECT_EQ(HeadStartsIn(), absl::Minutes(60));
}

TEST_F(QueueTest, LetsAGangPassThatTakesWhatTheHeadLeavesOver) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6}, absl::Minutes(60))), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 7})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 2})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 1})), IsOk());
  EXPECT_EQ(HeadStartsIn(), absl::Minutes(60));
  EXPECT_THAT(book_.Place(Gang(5, {.cpus = 1})), StatusIs(kWaits));  // There is no more to spare.
}

TEST_F(QueueTest, AnUnusedLeaveToPassIsVoidOnceItsTimeIsOver) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6}, absl::Minutes(60))), IsOk());
  ASSERT_THAT(book_.Place(Gang(2, {.cpus = 2}, absl::Minutes(60))), IsOk());
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 8})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 1}, absl::Minutes(50))), StatusIs(kWaits));
  book_.Release(AttemptOf(2));
  EXPECT_THAT(Waiting(), ElementsAre("3: needs 8 cpus, 1 free", "4: about to start"));
  clock_.Advance(absl::Minutes(11));
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 1}, absl::Minutes(50))), StatusIs(kWaits, kKept));
}

TEST_F(QueueTest, WithoutTimeLimitsLetsAGangPassThatTakesNothingTheHeadWaitsFor) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 1, .gpus = 1, .gpu_type = "T4"})), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 4, .gpus = 2, .gpu_type = "T4"})),
              StatusIs(kWaits, "needs 2 T4, 1 free"));
  EXPECT_EQ(HeadStartsIn(), std::nullopt);
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 1, .gpus = 1, .gpu_type = "T4"})),
              StatusIs(kWaits, kKept));
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 1, .gpus = 1})), IsOk());  // An A100.
  EXPECT_THAT(book_.Place(Gang(5, {.cpus = 2})), IsOk());
  // The head's need of CPUs, which it does not wait for, must fit beside it all the same.
  EXPECT_THAT(book_.Place(Gang(6, {.cpus = 1})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(7, {.cpus = 1}, absl::Seconds(1))), StatusIs(kWaits));
}

TEST_F(QueueTest, WithoutTimeLimitsNothingPassesAHeadThatWaitsForCpus) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6})), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 4})), StatusIs(kWaits));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 0.5}, absl::Seconds(1))), StatusIs(kWaits, kKept));
}

TEST_F(QueueTest, DevicesOfAnyTypeAreKeptForAHeadThatWaitsForAny) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 1, .gpus = 2, .gpu_type = "T4"})), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 1, .gpus = 3})),
              StatusIs(kWaits, "needs 3 gpus, 2 free"));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 1, .gpus = 1})), StatusIs(kWaits, kKept));
  EXPECT_THAT(book_.Place(Gang(4, {.cpus = 1})), IsOk());
}

TEST_F(QueueTest, AShareMayPassOnADeviceThatTheHeadDoesNotNeed) {
  const Resources share = {.cpus = 1, .gpus = 1, .gpu_memory_bytes = 4 * kGiB};
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 1, .gpus = 2, .gpu_type = "A100"}, absl::Hours(1))),
              IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 1, .gpus = 3})), StatusIs(kWaits));
  ASSERT_OK_AND_ASSIGN(const GpuAssignment gpus, book_.Place(Gang(3, share)));
  EXPECT_EQ(HeadStartsIn(), absl::Hours(1));
  ASSERT_OK_AND_ASSIGN(const GpuAssignment beside, book_.Place(Gang(4, share)));
  EXPECT_EQ(beside, gpus);
}

TEST_F(QueueTest, ATimeLimitCountsFromTheStart) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 8}, absl::Minutes(60))), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 8})), StatusIs(kWaits));
  book_.MarkStarted(AttemptOf(1), clock_.Now() + absl::Minutes(5));
  EXPECT_EQ(HeadStartsIn(), absl::Minutes(65));
}

TEST_F(QueueTest, AGangThatOverrunsItsTimeLimitMayEndAnyMoment) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 6}, absl::Minutes(60))), IsOk());
  EXPECT_THAT(book_.Place(Gang(2, {.cpus = 8})), StatusIs(kWaits));
  clock_.Advance(absl::Minutes(61));
  EXPECT_THAT(book_.Place(Gang(3, {.cpus = 1}, absl::Seconds(1))), StatusIs(kWaits, kKept));
}

TEST_F(QueueTest, DescribesWhatEachGangNeeds) {
  ASSERT_THAT(book_.Place(Gang(1, {.cpus = 8})), IsOk());
  ASSERT_THAT(book_.Place(Gang(2, {.cpus = 1})), StatusIs(kWaits));
  GangRequest mixed = Gang(3, {.cpus = 2.5, .memory_bytes = 4 * kGiB, .gpus = 2, .gpu_type = "T4"});
  mixed.replicas.push_back({.resources = {.gpus = 1}});
  mixed.replicas.push_back({.resources = {.gpus = 1, .gpu_memory_bytes = kGiB}});
  ASSERT_THAT(book_.Place(mixed), StatusIs(kWaits));
  const std::vector<QueuedGang> queue = book_.Queue();
  ASSERT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue[0].needs, "1 cpu");
  EXPECT_EQ(queue[1].needs, "2.5 cpus, 4 GiB of memory, 1 gpu, 1 gpu share of 1 GiB, 2 T4");
}

}  // namespace
}  // namespace vernier::launch
