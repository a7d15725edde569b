#include "src/launch/local/gang_rules.h"

#include <algorithm>
#include <cstddef>
#include <set>
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
  std::size_t replica = 0;
  jobs::Failure failure;
  bool transient = false;
  bool lost = false;
  bool overcome = false;  // The replica was started again.
};

void AddFault(const GangTraits& gang,
              std::size_t replica,
              const jobs::ReplicaExit& exit,
              absl::Time ended,
              bool overcome,
              std::vector<Fault>& faults) {
  const auto& [role, index] = gang.replicas[replica];
  const jobs::ExitKind kind = jobs::KindOf(exit);
  if (kind == jobs::ExitKind::kSuccess) return;
  faults.push_back({.time = ended,
                    .replica = replica,
                    .failure = jobs::Classify(role, index, exit),
                    .transient = jobs::RemedyOf(kind, gang.lenient) != jobs::Remedy::kNone,
                    .overcome = overcome});
}

// Those that count, first failure first; of a lost replica nobody knows when, but it is not lost because others failed.
std::vector<Fault> FindFaults(const GangTraits& gang, std::span<const Observation> replicas) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto& [role, index] = gang.replicas[i];
    if (role == kEvaluator) continue;
    for (const Observation::Run& run : replicas[i].earlier) {
      AddFault(gang, i, run.exit, run.ended, /*overcome=*/true, faults);
    }
    if (replicas[i].phase == Phase::kEnded) {
      AddFault(gang, i, replicas[i].exit, replicas[i].ended, /*overcome=*/false, faults);
    } else if (replicas[i].phase == Phase::kGone) {
      faults.push_back({.time = absl::InfinitePast(),
                        .replica = i,
                        .failure = jobs::ClassifyLost(role, index),
                        .transient = true,
                        .lost = true});
    }
  }
  std::ranges::stable_sort(faults, {}, &Fault::time);
  return faults;
}

// The fault from which the last one of a chain follows: no two neighbours are further apart than the spread.
std::size_t FirstOfChain(const GangTraits& gang,
                         const std::vector<Fault>& faults,
                         std::size_t last) {
  std::size_t first = last;
  while (first > 0 && faults[first].time - faults[first - 1].time <= gang.spread) --first;
  return first;
}

// One sentence for each of the first replicas that failed.
std::string Describe(const GangTraits& gang,
                     const std::vector<Fault>& faults,
                     std::size_t first,
                     std::span<const Observation> replicas) {
  std::set<std::size_t> named;
  std::string message;
  for (std::size_t i = first; i < faults.size() && named.size() < kMostBlamed; ++i) {
    if (!named.insert(faults[i].replica).second) continue;
    message += (message.empty() ? "" : " ") + faults[i].failure.message;
  }
  const std::size_t restarts = replicas[faults[first].replica].earlier.size();
  if (restarts == 0) return message;
  const auto& [role, index] = gang.replicas[faults[first].replica];
  const std::string count = restarts == 1 ? "once" : fmt::format("{} times", restarts);
  return message + fmt::format(" The replica {} {} was restarted {}.", role, index, count);
}

Verdict Blame(const GangTraits& gang,
              const std::vector<Fault>& faults,
              std::size_t decisive,
              std::span<const Observation> replicas,
              absl::Time now) {
  const std::size_t first = FirstOfChain(gang, faults, decisive);
  const Fault& blamed = faults[first];
  return {.state = blamed.lost ? AttemptState::kLost : AttemptState::kFailed,
          .failure = blamed.failure.failure,
          .transient = blamed.transient,
          .message = Describe(gang, faults, first, replicas),
          .time = now};
}

// The fault that brings the gang down: a lost replica, the primary's, or the first that nobody has got over.  Nothing:
// there is none.
std::optional<std::size_t> FindDecisive(const std::vector<Fault>& faults) {
  std::optional<std::size_t> decisive;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].overcome) continue;
    if (faults[i].lost) return i;
    if (!decisive.has_value() || faults[i].replica == 0) decisive = i;
  }
  return decisive;
}

absl::Time FirstStart(const Observation& replica) {
  return replica.earlier.empty() ? replica.started : replica.earlier.front().started;
}

bool IsOverTime(const GangTraits& gang, const Observation& primary, absl::Time now) {
  return gang.time_limit.has_value() && primary.phase == Phase::kRunning &&
         now - FirstStart(primary) >= *gang.time_limit;
}

// Whether nobody can say any more that the primary failed because of another.
bool IsHeard(const GangTraits& gang,
             const Verdict& verdict,
             std::span<const Observation> replicas,
             absl::Time now) {
  return verdict.transient || std::ranges::all_of(replicas, IsDown) ||
         now - replicas.front().ended >= gang.settling;
}

ReplicaResult ResultOf(const GangTraits::Replica& replica, const Observation& observed) {
  ReplicaResult result{.role = replica.role,
                       .index = replica.index,
                       .exit_code = observed.exit.exit_code,
                       .signal = observed.exit.signal,
                       .restarts = static_cast<std::int32_t>(observed.earlier.size()),
                       .cpu_time = observed.cpu_time,
                       .peak_memory_bytes = observed.peak_memory_bytes};
  for (const Observation::Run& run : observed.earlier) {
    result.cpu_time += run.cpu_time;
    result.peak_memory_bytes = std::max(result.peak_memory_bytes, run.peak_memory_bytes);
  }
  return result;
}

}  // namespace

std::optional<Verdict> Decide(const GangTraits& gang,
                              std::span<const Observation> replicas,
                              absl::Time now) {
  VERNIER_CHECK(replicas.size() == gang.replicas.size() && !replicas.empty(),
                "as many observations as replicas");
  const Observation& primary = replicas.front();
  if (primary.phase == Phase::kEnded && primary.exit.exit_code == 0) {
    return Verdict{.state = AttemptState::kSucceeded, .time = now};
  }
  const std::vector<Fault> faults = FindFaults(gang, replicas);
  const std::optional<std::size_t> decisive = FindDecisive(faults);
  if (IsDown(primary)) {
    Verdict verdict = Blame(gang, faults, *decisive, replicas, now);
    if (IsHeard(gang, verdict, replicas, now)) return verdict;
    return std::nullopt;
  }
  if (IsOverTime(gang, primary, now)) {
    return Verdict{.state = AttemptState::kFailed,
                   .failure = FailureClass::kTimeout,
                   .message = fmt::format("ran for longer than its time limit of {}",
                                          absl::FormatDuration(*gang.time_limit)),
                   .time = now};
  }
  if (!decisive.has_value()) return std::nullopt;
  const Fault& fault = faults[*decisive];
  // A primary that has just been started again will not end well without those that went down with it.
  const bool is_hopeless = faults[FirstOfChain(gang, faults, *decisive)].replica == 0;
  if (!fault.lost && !is_hopeless && now - fault.time < gang.patience) return std::nullopt;
  return Blame(gang, faults, *decisive, replicas, now);
}

GangStatus Describe(const GangTraits& gang,
                    std::span<const Observation> replicas,
                    const std::optional<Verdict>& verdict) {
  GangStatus status;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    status.replicas.push_back(ResultOf(gang.replicas[i], replicas[i]));
  }
  if (verdict.has_value() && std::ranges::all_of(replicas, IsDown)) {
    status.state = verdict->state;
    status.failure = verdict->failure;
    status.transient = verdict->transient;
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
