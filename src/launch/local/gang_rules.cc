#include "src/launch/local/gang_rules.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "src/core/check.h"

namespace vernier::launch {
namespace {

using Phase = Observation::Phase;

constexpr std::string_view kEvaluator = "evaluator";
// A message names this many of those that failed.
constexpr std::size_t kMostBlamed = 3;
// And is about so long, in bytes, at most.
constexpr std::size_t kLongestMessage = 600;

// A replica that failed, and when.
struct Fault {
  absl::Time time;
  std::size_t replica = 0;
  jobs::Failure failure;
  bool transient = false;
  bool lost = false;
  bool overcome = false;  // The replica was started again.
  std::optional<LastWords> words;

  bool lost_peer() const { return words.has_value() && words->lost_peer; }
};

void AddFault(const GangTraits& gang,
              std::size_t replica,
              const jobs::ReplicaExit& exit,
              absl::Time ended,
              const std::optional<LastWords>& words,
              bool overcome,
              std::vector<Fault>& faults) {
  const auto& [role, index] = gang.replicas[replica];
  const jobs::ExitKind kind = jobs::KindOf(exit);
  if (kind == jobs::ExitKind::kSuccess) return;
  faults.push_back({.time = ended,
                    .replica = replica,
                    .failure = jobs::Classify(role, index, exit),
                    .transient = jobs::RemedyOf(kind, gang.lenient) != jobs::Remedy::kNone,
                    .overcome = overcome,
                    .words = words});
}

// Those that count, first failure first; of a lost replica nobody knows when, but it is not lost because others failed.
std::vector<Fault> FindFaults(const GangTraits& gang, std::span<const Observation> replicas) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto& [role, index] = gang.replicas[i];
    if (role == kEvaluator || (gang.primary_alone && i > 0)) continue;
    for (const Observation::Run& run : replicas[i].earlier) {
      AddFault(gang, i, run.exit, run.ended, run.words, /*overcome=*/true, faults);
    }
    if (replicas[i].phase == Phase::kEnded) {
      const Observation& last = replicas[i];
      AddFault(gang, i, last.exit, last.ended, last.words, /*overcome=*/false, faults);
    } else if (replicas[i].phase == Phase::kGone || replicas[i].phase == Phase::kOrphaned) {
      const bool is_orphan = replicas[i].phase == Phase::kOrphaned;
      faults.push_back({.time = absl::InfinitePast(),
                        .replica = i,
                        .failure = is_orphan ? jobs::ClassifyOrphaned(role, index)
                                             : jobs::ClassifyLost(role, index),
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

// The fault to blame for all of the chain: the first that is more than the loss of a peer, if there is one; it may come
// after the decisive one.
std::size_t FindBlamed(const GangTraits& gang,
                       const std::vector<Fault>& faults,
                       std::size_t decisive) {
  const std::size_t first = FirstOfChain(gang, faults, decisive);
  for (std::size_t i = first; i < faults.size(); ++i) {
    if (i > decisive && faults[i].time - faults[i - 1].time > gang.spread) break;
    if (!faults[i].lost_peer()) return i;
  }
  return first;
}

// "ValueError: bad lr (train.py:12 in main). ", or nothing.
std::string CauseOf(const Fault& fault) {
  if (!fault.words.has_value() || fault.words->cause.empty()) return "";
  const std::string& cause = fault.words->cause;
  const bool is_sentence = cause.ends_with('.') || cause.ends_with('!') || cause.ends_with('?');
  return cause + (is_sentence ? " " : ". ");
}

// What is said of a program that did not say why it failed.
std::string LastLineOf(const Fault& fault) {
  if (!fault.words.has_value() || !fault.words->cause.empty()) return "";
  if (fault.words->last_line.empty()) return " It printed no error message.";
  return fmt::format(" It printed no error message; its last line was '{}'.",
                     fault.words->last_line);
}

// The cause, and one sentence for each of the first replicas that failed, the one to blame first.
std::string Describe(const GangTraits& gang,
                     const std::vector<Fault>& faults,
                     std::size_t first,
                     std::size_t blamed,
                     std::span<const Observation> replicas) {
  std::set<std::size_t> named = {faults[blamed].replica};
  std::string message = CauseOf(faults[blamed]) + faults[blamed].failure.message;
  for (std::size_t i = first; i < faults.size() && named.size() < kMostBlamed; ++i) {
    const std::string& other = faults[i].failure.message;
    if (message.size() + other.size() >= kLongestMessage) break;
    if (named.insert(faults[i].replica).second) message += " " + other;
  }
  const std::size_t restarts = replicas[faults[blamed].replica].earlier.size();
  if (restarts > 0) {
    const auto& [role, index] = gang.replicas[faults[blamed].replica];
    const std::string count = restarts == 1 ? "once" : fmt::format("{} times", restarts);
    message += fmt::format(" The replica {} {} was restarted {}.", role, index, count);
  }
  return message + LastLineOf(faults[blamed]);
}

struct Judgement {
  Verdict verdict;
  bool lost_peer = false;  // And nothing worse is known.
};

Judgement Blame(const GangTraits& gang,
                const std::vector<Fault>& faults,
                std::size_t decisive,
                std::span<const Observation> replicas,
                absl::Time now) {
  const std::size_t first = FirstOfChain(gang, faults, decisive);
  const std::size_t at = FindBlamed(gang, faults, decisive);
  const Fault& blamed = faults[at];
  return {.verdict = {.state = blamed.lost ? AttemptState::kLost : AttemptState::kFailed,
                      .failure = blamed.failure.failure,
                      .transient = blamed.transient,
                      .message = Describe(gang, faults, first, at, replicas),
                      .time = now},
          .lost_peer = blamed.lost_peer()};
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

bool HasRun(const Observation& replica) {
  return replica.phase == Observation::Phase::kRunning ||
         replica.phase == Observation::Phase::kEnded;
}

// Nothing: it never ran, as far as is known.
std::optional<absl::Time> FirstStart(const Observation& replica) {
  if (!replica.earlier.empty()) return replica.earlier.front().started;
  return HasRun(replica) ? std::optional(replica.started) : std::nullopt;
}

bool IsOverTime(const GangTraits& gang, const Observation& primary, absl::Time now) {
  return gang.time_limit.has_value() && primary.phase == Phase::kRunning &&
         now - FirstStart(primary).value_or(now) >= *gang.time_limit;
}

// Whether nobody can say any more that the primary failed because of another.
bool IsHeard(const GangTraits& gang,
             const Judgement& judgement,
             std::span<const Observation> replicas,
             absl::Time now) {
  if (gang.primary_alone || std::ranges::all_of(replicas, IsDown)) return true;
  const absl::Duration since = now - replicas.front().ended;
  if (judgement.lost_peer) return since >= gang.patience;
  return judgement.verdict.transient || since >= gang.settling;
}

ReplicaResult ResultOf(const GangTraits::Replica& replica, const Observation& observed) {
  ReplicaResult result{.role = replica.role,
                       .index = replica.index,
                       .exit_code = observed.exit.exit_code,
                       .signal = observed.exit.signal,
                       .restarts = static_cast<std::int32_t>(observed.earlier.size()),
                       .started = FirstStart(observed),
                       .ended = {},
                       .cpu_time = observed.cpu_time,
                       .peak_memory_bytes = observed.peak_memory_bytes,
                       .gpu = observed.gpu};
  if (observed.phase == Phase::kEnded) result.ended = observed.ended;
  for (const Observation::Run& run : observed.earlier) {
    result.cpu_time += run.cpu_time;
    result.peak_memory_bytes = std::max(result.peak_memory_bytes, run.peak_memory_bytes);
  }
  return result;
}

// A record may be seen this much after what it tells of.
constexpr absl::Duration kLateRecord = absl::Seconds(30);
// Two clocks may differ a little.
constexpr absl::Duration kAhead = absl::Seconds(1);

}  // namespace

void BoundTimes(const Observation& before, absl::Time since, absl::Time until, Observation& now) {
  const auto bound = [&](absl::Time time) {
    return std::clamp(time, std::min(since - kLateRecord, until), until + kAhead);
  };
  const bool is_known = before.started != absl::Time();
  for (std::size_t i = 0; i < now.earlier.size(); ++i) {
    Observation::Run& run = now.earlier[i];
    if (i < before.earlier.size()) {
      run.started = before.earlier[i].started;
      run.ended = before.earlier[i].ended;
      continue;
    }
    const bool was_running = i == before.earlier.size() && is_known;
    run.started = was_running ? before.started : bound(run.started);
    run.ended = bound(run.ended);
  }
  if (!HasRun(now)) return;
  const bool is_same_run = now.earlier.size() == before.earlier.size() && is_known;
  now.started = is_same_run ? before.started : bound(now.started);
  if (now.phase == Observation::Phase::kEnded) now.ended = bound(now.ended);
}

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
    Judgement judgement = Blame(gang, faults, *decisive, replicas, now);
    if (IsHeard(gang, judgement, replicas, now)) return std::move(judgement.verdict);
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
  return Blame(gang, faults, *decisive, replicas, now).verdict;
}

GangStatus Describe(const GangTraits& gang,
                    std::span<const Observation> replicas,
                    const std::optional<Verdict>& verdict) {
  GangStatus status;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    status.replicas.push_back(ResultOf(gang.replicas[i], replicas[i]));
    if (status.lost_output.empty()) status.lost_output = replicas[i].exit.lost_output;
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
  const bool primary_runs = replicas.front().phase == Phase::kRunning ||
                            replicas.front().phase == Phase::kOrphaned || IsDown(replicas.front());
  status.state = all_taken_on && primary_runs ? AttemptState::kRunning : AttemptState::kStarting;
  return status;
}

}  // namespace vernier::launch
