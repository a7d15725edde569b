#include "src/launch/local/gang_rules.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "fmt/format.h"
#include "src/core/check.h"

namespace vernier::launch {
namespace {

using Phase = Observation::Phase;

constexpr std::string_view kEvaluator = "evaluator";
// A message names this many of those that failed.
constexpr std::size_t kMostBlamed = 3;

// A replica that failed, and when.
struct Fault {
  absl::Time time;
  jobs::Failure failure;
  bool lost = false;
};

// Those that count, first failure first; of a lost replica nobody knows when, but it is not lost because others failed.
std::vector<Fault> FindFaults(const GangTraits& gang, std::span<const Observation> replicas) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto& [role, index] = gang.replicas[i];
    if (role == kEvaluator) continue;
    if (replicas[i].phase == Phase::kGone) {
      faults.push_back({absl::InfinitePast(), jobs::ClassifyLost(role, index), true});
    } else if (replicas[i].phase == Phase::kEnded) {
      const jobs::Failure failure = jobs::Classify(role, index, replicas[i].exit);
      if (failure.failure != FailureClass::kNone) {
        faults.push_back({replicas[i].ended, failure, false});
      }
    }
  }
  std::ranges::stable_sort(faults, {}, &Fault::time);
  return faults;
}

Verdict Blame(const std::vector<Fault>& faults, absl::Time now) {
  Verdict verdict{.state = faults.front().lost ? AttemptState::kLost : AttemptState::kFailed,
                  .failure = faults.front().failure.failure,
                  .message = faults.front().failure.message,
                  .time = now};
  for (std::size_t i = 1; i < std::min(faults.size(), kMostBlamed); ++i) {
    verdict.message += " " + faults[i].failure.message;
  }
  return verdict;
}

bool IsOverTime(const GangTraits& gang, const Observation& primary, absl::Time now) {
  return gang.time_limit.has_value() && primary.phase == Phase::kRunning &&
         now - primary.started >= *gang.time_limit;
}

}  // namespace

std::optional<Verdict> Decide(const GangTraits& gang,
                              std::span<const Observation> replicas,
                              absl::Time now) {
  VERNIER_CHECK(replicas.size() == gang.replicas.size() && !replicas.empty(),
                "as many observations as replicas");
  const Observation& primary = replicas.front();
  const std::vector<Fault> faults = FindFaults(gang, replicas);
  if (primary.phase == Phase::kEnded && primary.exit.exit_code == 0) {
    return Verdict{.state = AttemptState::kSucceeded, .time = now};
  }
  if (IsDown(primary)) return Blame(faults, now);
  if (IsOverTime(gang, primary, now)) {
    return Verdict{.state = AttemptState::kFailed,
                   .failure = FailureClass::kTimeout,
                   .message = fmt::format("ran for longer than its time limit of {}",
                                          absl::FormatDuration(*gang.time_limit)),
                   .time = now};
  }
  if (!faults.empty() && (faults.front().lost || now - faults.front().time >= gang.patience)) {
    return Blame(faults, now);
  }
  return std::nullopt;
}

GangStatus Describe(const GangTraits& gang,
                    std::span<const Observation> replicas,
                    const std::optional<Verdict>& verdict) {
  GangStatus status;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    status.replicas.push_back({.role = gang.replicas[i].role,
                               .index = gang.replicas[i].index,
                               .exit_code = replicas[i].exit.exit_code,
                               .signal = replicas[i].exit.signal});
  }
  if (verdict.has_value() && std::ranges::all_of(replicas, IsDown)) {
    status.state = verdict->state;
    status.failure = verdict->failure;
    status.message = verdict->message;
    return status;
  }
  const bool all_taken_on = std::ranges::none_of(
      replicas, [](const Observation& replica) { return replica.phase == Phase::kNotStarted; });
  const bool primary_runs = replicas.front().phase == Phase::kRunning || IsDown(replicas.front());
  status.state = all_taken_on && primary_runs ? AttemptState::kRunning : AttemptState::kStarting;
  return status;
}

}  // namespace vernier::launch
