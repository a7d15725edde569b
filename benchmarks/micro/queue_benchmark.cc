// What the queue of a host costs: a decision, and asking for a gang that waits.
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "src/launch/local/capacity_book.h"

namespace vernier::launch {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

HostCapacity Host() {
  HostCapacity host{.cpus = 96, .memory_bytes = 768 * kGiB, .gpus = {}};
  for (int i = 0; i < 16; ++i) host.gpus.push_back({std::to_string(i), "A100", 40 * kGiB});
  return host;
}

GangRequest Gang(std::int64_t trial, const Resources& resources) {
  return {.id = {{StudyId(1), TrialNumber(trial)}, AttemptNumber(1)},
          .study = "study",
          .replicas = {{.role = "chief", .resources = resources}},
          .priority = static_cast<std::int32_t>(trial % 3),
          .queued = absl::FromUnixSeconds(trial),
          .time_limit = absl::Hours(2)};
}

// Alike: the trials of a few studies. Otherwise no two ask for the same, which is the worst case.
Resources NeedOf(std::int64_t trial, bool alike) {
  const std::int64_t kind = alike ? trial % 8 : trial;
  return {.cpus = 1 + static_cast<double>(kind % 997) / 1000,
          .memory_bytes = (1 + kind % 7) * kGiB,
          .gpus = static_cast<std::int32_t>(1 + kind % 2),
          .gpu_memory_bytes = 2 * kGiB + kind};
}

Placement Placed() {
  ReplicaPlacement chief;
  chief.role = "chief";
  chief.gpus = {"0"};
  return {chief};
}

// A host with a job on every device, one that has all of them at the head of the queue, and so many behind it.
struct Scene {
  Scene(std::int64_t waiting, bool alike) {
    for (int i = 0; i < 16; ++i) Place(Gang(1 + i, {.cpus = 3, .gpus = 1}));
    GangRequest head = Gang(100, {.cpus = 1, .gpus = 16});
    head.priority = 1000;
    Place(head);
    for (std::int64_t i = 1; i < waiting; ++i) Place(Gang(100 + i, NeedOf(i, alike)));
  }

  void Place(const GangRequest& gang) { benchmark::DoNotOptimize(book.Place(gang)); }

  ManualClock clock{absl::FromUnixSeconds(1'700'000'000)};
  CapacityBook book{Host(), clock};
};

// A job ends, and the next gang that asks has the whole queue planned anew: some may share the free device for a while,
// all others are looked at and refused.
void BM_Decision(benchmark::State& state) {
  const bool alike = state.range(1) != 0;
  Scene scene(state.range(0), alike);
  const GangRequest small = Gang(1, {.cpus = 3, .gpus = 1});
  const GangRequest last = Gang(100 + state.range(0) - 1, NeedOf(state.range(0) - 1, alike));
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    scene.book.Take(small, Placed());
    scene.book.Release(small.id);
    state.ResumeTiming();
    scene.Place(last);
  }
}
BENCHMARK(BM_Decision)
    ->ArgNames({"waiting", "alike"})
    ->ArgsProduct({{100, 1000, 10000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

// What the engine does at every step for every gang that waits, while nothing changes.
void BM_AskAgain(benchmark::State& state) {
  Scene scene(state.range(0), /*alike=*/true);
  std::vector<GangRequest> gangs;
  for (std::int64_t i = 1; i < state.range(0); ++i) gangs.push_back(Gang(100 + i, NeedOf(i, true)));
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) scene.Place(gangs[next++ % gangs.size()]);
}
BENCHMARK(BM_AskAgain)->ArgName("waiting")->Arg(10000)->Unit(benchmark::kMicrosecond);

// After a change each gang's reason is put into words anew when it is asked for.
void BM_Reasons(benchmark::State& state) {
  Scene scene(state.range(0), /*alike=*/true);
  const GangRequest small = Gang(1, {.cpus = 3, .gpus = 1});
  for ([[maybe_unused]] auto _ : state) {
    scene.book.Take(small, Placed());
    benchmark::DoNotOptimize(scene.book.Queue());
  }
}
BENCHMARK(BM_Reasons)->ArgName("waiting")->Arg(10000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vernier::launch
