#include "src/cli/room_hint.h"

#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"

namespace vernier::cli {
namespace {

using ::vernier::testing::kGiB;

Node AnyHost() {
  return {.name = "h",
          .cpus = 2,
          .memory_bytes = 8 * kGiB,
          .devices = {{.type = "", .count = 1}, {.type = "T4", .count = 2}}};
}

std::string HintFor(std::int32_t parallel, const Resources& chief, const Resources& worker = {}) {
  StudySpec spec{.name = "s"};
  spec.parallel = parallel;
  spec.job = TrainingJob{.command = {"train"}};
  spec.job->replicas[Role::kPrimary].resources = chief;
  spec.job->replicas[Role::kWorker] = {.count = 1, .resources = worker};
  return RoomHint(spec, {AnyHost()});
}

TEST(RoomHint, SaysHowManyTrialsTheHostHasRoomFor) {
  EXPECT_EQ(HintFor(2, {.cpus = 1}, {.cpus = 1}),
            "2 at a time asked, room for 1: each trial needs 2 cpus, the host has 2");
  EXPECT_EQ(HintFor(20, {.cpus = 0.1}, {.cpus = 0.1}),
            "20 at a time asked, room for 10: each trial needs 0.2 cpus, the host has 2");
  EXPECT_EQ(
      HintFor(3, {.memory_bytes = 3 * kGiB}),
      "3 at a time asked, room for 2: each trial needs 3.0 GiB of memory, the host has 8.0 GiB");
  EXPECT_EQ(HintFor(3, {.gpus = 1, .gpu_type = "T4"}),
            "3 at a time asked, room for 2: each trial needs 1 T4, the host has 2");
  EXPECT_EQ(HintFor(2, {.gpus = 1}, {.gpus = 1}),
            "2 at a time asked, room for 1: each trial needs 2 gpus, the host has 3");
}

TEST(RoomHint, SaysNothingWhereThereIsRoomOrNobodyCanTell) {
  EXPECT_EQ(HintFor(1000, {}), "");
  EXPECT_EQ(HintFor(1, {.cpus = 2}), "");
  EXPECT_EQ(HintFor(20, {.cpus = 0.1}), "");
  EXPECT_EQ(HintFor(2, {.cpus = 64}), "");  // Accepted, so scaled down.
  EXPECT_EQ(HintFor(9, {.gpus = 1, .gpu_memory_bytes = kGiB}), "");
  StudySpec spec{.name = "s"};
  spec.parallel = 9;
  EXPECT_EQ(RoomHint(spec, {AnyHost()}), "");
  spec.job = TrainingJob{.command = {"train"}};
  spec.job->replicas[Role::kPrimary].resources.cpus = 2;
  EXPECT_EQ(RoomHint(spec, {}), "");
  EXPECT_EQ(RoomHint(spec, {AnyHost(), AnyHost()}), "");
  spec.budget.trials = 1;
  EXPECT_EQ(RoomHint(spec, {AnyHost()}), "");
}

StudySpec SpecWith(const ReplicaSpec& chief) {
  StudySpec spec{.name = "s"};
  spec.job = TrainingJob{.command = {"train"}};
  spec.job->replicas[Role::kPrimary] = chief;
  return spec;
}

TEST(GpuHint, SaysThatAJobWithoutGpusSeesNoneOfTheHost) {
  EXPECT_EQ(GpuHint(SpecWith({.count = 1}), {AnyHost()}),
            "job: it asks for no GPU, so its programs do not see the 3 GPUs here; write "
            "`replicas: {chief: {gpus: 1}}` in the job to give each trial one");
  Node one{.name = "h", .devices = {{.type = "T4", .count = 1}}};
  StudySpec spec = SpecWith({.count = 1});
  spec.job->primary_name = "master";
  EXPECT_EQ(GpuHint(spec, {one}),
            "job: it asks for no GPU, so its programs do not see the GPU here; write `replicas: "
            "{master: {gpus: 1}}` in the job to give each trial one");
}

TEST(GpuHint, SaysNothingWhereThereAreNoneOrTheJobChose) {
  EXPECT_EQ(GpuHint(SpecWith({.count = 1}), {{.name = "h", .cpus = 2}}), "");
  EXPECT_EQ(GpuHint(SpecWith({.count = 1, .resources = {.gpus = 1}}), {AnyHost()}), "");
  EXPECT_EQ(GpuHint(SpecWith({.count = 1, .machine_type = "n1-standard-4"}), {AnyHost()}), "");
  EXPECT_EQ(GpuHint(StudySpec{.name = "clients"}, {AnyHost()}), "");
}

}  // namespace
}  // namespace vernier::cli
