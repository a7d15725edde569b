// What must hold of the queue whatever comes: a simulated host, random gangs, no real time.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/launch/local/capacity_book.h"
#include "tests/support/extreme_values.h"
#include "vernier/core/rng.h"

namespace vernier::launch {
namespace {

using ::vernier::testing::kGiB;

constexpr double kTolerance = 1e-6;

HostCapacity Host() {
  HostCapacity host{.cpus = 16, .memory_bytes = 64 * kGiB, .gpus = {}};
  for (int i = 0; i < 4; ++i) host.gpus.push_back({std::to_string(i), "T4", 16 * kGiB});
  for (int i = 4; i < 6; ++i) host.gpus.push_back({std::to_string(i), "A100", 40 * kGiB});
  host.gpus.push_back({"6", "A100", 0});  // Cannot be shared.
  return host;
}

struct Load {
  std::string name;
  int gangs;
  double limited;    // The share of gangs that have a time limit.
  int priorities;    // How many there are.
  int pace_seconds;  // Between arrivals, on average.
};

bool IsAhead(const GangRequest& a, const GangRequest& b) {
  return std::tuple(-a.priority, a.queued, a.id) < std::tuple(-b.priority, b.queued, b.id);
}

// The host by an account of the test's own: never partial, never over-committed, device by device.
class Account {
 public:
  void Take(const GangRequest& gang, const GpuAssignment& gpus) {
    ASSERT_EQ(gpus.size(), gang.replicas.size());
    Book(gang, gpus, 1);
    ASSERT_LE(cpus, host_.cpus + kTolerance);
    ASSERT_LE(memory, host_.memory_bytes);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const Resources& asked = gang.replicas[i].resources;
      const std::set<std::string> distinct(gpus[i].begin(), gpus[i].end());
      ASSERT_EQ(distinct.size(), static_cast<std::size_t>(asked.gpus));
      for (const std::string& id : gpus[i]) CheckDevice(id, asked);
    }
  }
  void Give(const GangRequest& gang, const GpuAssignment& gpus) { Book(gang, gpus, -1); }

  double cpus = 0;
  std::int64_t memory = 0;

 private:
  void CheckDevice(const std::string& id, const Resources& asked) {
    const GpuDevice& gpu = host_.gpus[std::stoul(id)];
    ASSERT_TRUE(asked.gpu_type.empty() || asked.gpu_type == gpu.type);
    ASSERT_LE(owners_[id] + (shared_[id] > 0 ? 1 : 0), 1) << "device " << id;
    ASSERT_LE(shared_[id], gpu.memory_bytes) << "device " << id;
  }

  void Book(const GangRequest& gang, const GpuAssignment& gpus, int sign) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const Resources& asked = gang.replicas[i].resources;
      cpus += sign * asked.cpus;
      memory += sign * asked.memory_bytes;
      for (const std::string& id : gpus[i]) {
        if (asked.gpu_memory_bytes == 0) owners_[id] += sign;
        shared_[id] += sign * asked.gpu_memory_bytes;
      }
    }
  }

  const HostCapacity host_ = Host();
  std::map<std::string, int> owners_;
  std::map<std::string, std::int64_t> shared_;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const Load& load) : load_(load), rng_(seed) {}

  void Run() {
    for (int i = 1; i <= load_.gangs && !::testing::Test::HasFatalFailure(); ++i) {
      RunUntil(clock_.Now() + absl::Seconds(Pick(0, 2 * load_.pace_seconds)));
      Arrive(i);
      if (rng_.Uniform() < 0.02) WithdrawOne();
    }
    while (!ends_.empty() && !::testing::Test::HasFatalFailure()) RunUntil(ends_.begin()->first);
    EXPECT_TRUE(waiting_.empty()) << waiting_.size() << " gangs were never placed";
    EXPECT_TRUE(book_.Queue().empty());
    EXPECT_NEAR(book_.Status().free_cpus, Host().cpus, kTolerance);
  }

  // That the rules were put to the test at all.
  std::int64_t passed() const { return passed_; }
  std::int64_t promises() const { return promises_; }

 private:
  // One gang, from its arrival to its end.
  struct Job {
    GangRequest request;
    absl::Duration runs;  // Never beyond its time limit.
    GpuAssignment gpus;   // Once it is placed.
  };

  std::int64_t Pick(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(rng_.UniformInt(most - least + 1));
  }

  Resources AnyResources() {
    Resources resources{.cpus = static_cast<double>(Pick(0, 30)) / 10,
                        .memory_bytes = Pick(0, 8) * kGiB};
    if (rng_.Uniform() < 0.5) return resources;
    const char* const types[] = {"", "T4", "A100"};
    resources.gpu_type = types[Pick(0, 2)];
    resources.gpus = static_cast<std::int32_t>(Pick(1, 2));
    if (rng_.Uniform() < 0.5) resources.gpu_memory_bytes = Pick(1, 12) * kGiB;
    return resources;
  }

  Job AnyJob(int number) {
    Job job{.request = {.id = {{StudyId(1), TrialNumber(number)}, AttemptNumber(1)},
                        .priority = static_cast<std::int32_t>(Pick(1, load_.priorities)),
                        .queued = clock_.Now()},
            .runs = absl::Seconds(Pick(1, 600)),
            .gpus = {}};
    job.request.replicas.push_back({.role = "chief", .resources = AnyResources()});
    const Resources worker = AnyResources();
    const std::int64_t workers = rng_.Uniform() < 0.1 ? 5 : Pick(0, 2);
    for (std::int64_t i = 0; i < workers; ++i) {
      job.request.replicas.push_back({.role = "worker", .resources = worker});
    }
    // Few kinds of gangs, as studies have them, so that equal ones meet.
    if (!kinds_.empty() && rng_.Uniform() < 0.7) {
      job.request.replicas = kinds_[rng_.UniformInt(kinds_.size())];
    } else if (kinds_.size() < 50) {
      kinds_.push_back(job.request.replicas);
    }
    if (rng_.Uniform() < load_.limited) {
      job.request.time_limit = absl::Ceil(job.runs * (1 + rng_.Uniform()), absl::Minutes(1));
    }
    return job;
  }

  void Arrive(int number) {
    Job job = AnyJob(number);
    if (!book_.CheckFits(job.request.replicas).ok()) return;
    // More urgent gangs may move promises.
    if (head_ && IsAhead(job.request, waiting_.at(head_->id).request)) head_.reset();
    const AttemptId id = job.request.id;
    waiting_.emplace(id, std::move(job));
    if (Ask(id)) CheckNoEqualElderWaits(running_.at(id).request);
    AskForAll();
  }

  void WithdrawOne() {
    if (waiting_.empty()) return;
    const auto chosen = std::next(waiting_.begin(), Pick(0, std::ssize(waiting_) - 1));
    book_.Release(chosen->first);
    waiting_.erase(chosen);
    AskForAll();
  }

  // Ends what is due until then, and lets others start each time.
  void RunUntil(absl::Time time) {
    while (!ends_.empty() && ends_.begin()->first <= time) {
      const auto [end, id] = *ends_.begin();
      ends_.erase(ends_.begin());
      clock_.Advance(end - clock_.Now());
      const Job& ended = running_.at(id);
      account_.Give(ended.request, ended.gpus);
      running_.erase(id);
      book_.Release(id);
      AskForAll();
    }
    clock_.Advance(time - clock_.Now());
  }

  // As the engine does, in an order that must not matter.
  void AskForAll() {
    FollowHead();
    std::vector<AttemptId> ids;
    for (const auto& [id, job] : waiting_) ids.push_back(id);
    if (rng_.Uniform() < 0.5) std::ranges::reverse(ids);
    std::vector<GangRequest> placed;
    for (const AttemptId& id : ids) {
      if (Ask(id)) placed.push_back(running_.at(id).request);
    }
    for (const GangRequest& gang : placed) CheckNoEqualElderWaits(gang);
    FollowHead();
  }

  bool Ask(const AttemptId& id) {
    const double cpus = account_.cpus;
    const std::int64_t memory = account_.memory;
    auto assignment = book_.Place(waiting_.at(id).request);
    if (!assignment.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(assignment.status())) << assignment.status();
      return false;
    }
    Job job = std::move(waiting_.at(id));
    waiting_.erase(id);
    job.gpus = *std::move(assignment);
    account_.Take(job.request, job.gpus);
    if (head_ && waiting_.contains(head_->id)) {
      CheckPassing(job.request, Host().cpus - cpus, Host().memory_bytes - memory);
    }
    ends_.emplace(clock_.Now() + job.runs, id);
    running_.emplace(id, std::move(job));
    return true;
  }

  // A gang that passes a head whose start is not known takes nothing of what the head waits for, and leaves the head's
  // need of the rest.
  void CheckPassing(const GangRequest& gang, double free_cpus, std::int64_t free_memory) {
    const GangRequest& head = waiting_.at(head_->id).request;
    if (IsAhead(gang, head)) return;
    ++passed_;
    if (head_->start_by) return;
    const GangNeed need = SumOf(head.replicas);
    EXPECT_GE(Host().cpus - account_.cpus + kTolerance, std::min(need.cpus, free_cpus));
    EXPECT_GE(Host().memory_bytes - account_.memory, std::min(need.memory_bytes, free_memory));
  }

  void CheckNoEqualElderWaits(const GangRequest& gang) {
    for (const auto& [id, other] : waiting_) {
      const GangRequest& elder = other.request;
      EXPECT_FALSE(IsAhead(elder, gang) && elder.priority == gang.priority &&
                   elder.replicas == gang.replicas && elder.time_limit == gang.time_limit)
          << "trial " << gang.id.trial.number.value() << " before " << id.trial.number.value();
    }
  }

  // What was promised to the head stands, until it is placed or withdrawn.
  void FollowHead() {
    const std::optional<QueuedGang> before = std::exchange(head_, std::nullopt);
    for (QueuedGang& gang : book_.Queue()) {
      if (gang.reason == "about to start") continue;
      head_ = std::move(gang);
      break;
    }
    if (!head_ || !before || before->id != head_->id || !before->start_by) return;
    ++promises_;
    ASSERT_TRUE(head_->start_by.has_value());
    ASSERT_LE(*head_->start_by, *before->start_by);
  }

  const Load load_;
  Rng rng_;
  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  CapacityBook book_{Host(), clock_};
  Account account_;
  std::vector<std::vector<ReplicaRequest>> kinds_;
  std::map<AttemptId, Job> waiting_;
  std::map<AttemptId, Job> running_;
  std::multimap<absl::Time, AttemptId> ends_;
  std::optional<QueuedGang> head_;  // As last seen.
  std::int64_t passed_ = 0;
  std::int64_t promises_ = 0;
};

class QueuePropertyTest : public ::testing::TestWithParam<Load> {};

TEST_P(QueuePropertyTest, HoldsWhateverComes) {
  Simulation simulation(/*seed=*/20231114, GetParam());
  simulation.Run();
  EXPECT_GT(simulation.passed(), GetParam().gangs / 100);
  EXPECT_EQ(simulation.promises() > GetParam().gangs / 100, GetParam().limited > 0);
}

// 100,000 gangs in all.
INSTANTIATE_TEST_SUITE_P(Loads,
                         QueuePropertyTest,
                         ::testing::Values(Load{"AllLimited", 30000, 1.0, 1, 95},
                                           Load{"MostLimited", 30000, 0.95, 3, 95},
                                           Load{"SomeLimited", 20000, 0.5, 2, 95},
                                           Load{"NoneLimited", 20000, 0.0, 3, 110}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vernier::launch
