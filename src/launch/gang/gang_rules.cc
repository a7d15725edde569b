// The order of a decision: list the faults of all runs by time, find the decisive one (the fault that ends the gang),
// follow the chain of faults around it, and blame its first member that is more than a lost peer. Decisive and blamed
// are often different replicas: a chief's exit ends the gang, the worker that was killed before it is to blame.

#include "src/launch/gang/gang_rules.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "src/core/check.h"

namespace vernier::launch {
namespace {

using Phase = ReplicaObservation::Phase;

constexpr std::string_view kEvaluator = "evaluator";
// Number of failed replicas that a message names. A choice: in a gang of 64 all peers fail after the first.
constexpr std::size_t kMostBlamed = 3;
// Approximate limit of a message in bytes; no replica is added beyond it. A choice: a message is one cell of a list and
// one line of a log.
constexpr std::size_t kLongestMessage = 600;

// One failed run of a replica.
struct Fault {
  absl::Time time;
  std::size_t replica = 0;
  jobs::Failure failure;
  bool transient = false;
  bool lost = false;
  bool overcome = false;  // The replica was restarted after it.
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

// The faults that count, in order of time. The time of a loss is unknown; it sorts first, because a supervisor does not
// die of the failure of another replica.
std::vector<Fault> FindFaults(const GangTraits& gang,
                              std::span<const ReplicaObservation> replicas) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto& [role, index] = gang.replicas[i];
    if (role == kEvaluator || (gang.primary_alone && i > 0)) continue;
    for (const ReplicaObservation::Run& run : replicas[i].earlier) {
      AddFault(gang, i, run.exit, run.ended, run.words, /*overcome=*/true, faults);
    }
    if (replicas[i].phase == Phase::kEnded) {
      const ReplicaObservation& last = replicas[i];
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

// The first fault of the chain that ends with `last`: neighbours in a chain are at most `spread` apart.
std::size_t FirstOfChain(const GangTraits& gang,
                         const std::vector<Fault>& faults,
                         std::size_t last) {
  std::size_t first = last;
  while (first > 0 && faults[first].time - faults[first - 1].time <= gang.spread) --first;
  return first;
}

// The fault to blame for the chain: the first that is not a lost peer, else the first. It may come after the decisive
// one, since a program that raises an error closes its sockets before it ends.
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

// Sentence with the cause from the program's last words, "ValueError: bad lr (train.py:12 in main). ", or empty.
std::string CauseOf(const Fault& fault) {
  if (!fault.words.has_value() || fault.words->cause.empty()) return "";
  const std::string& cause = fault.words->cause;
  const bool is_sentence = cause.ends_with('.') || cause.ends_with('!') || cause.ends_with('?');
  return cause + (is_sentence ? " " : ". ");
}

// Sentence about a program that printed no cause.
std::string LastLineOf(const Fault& fault) {
  if (!fault.words.has_value() || !fault.words->cause.empty()) return "";
  if (fault.words->last_line.empty()) return " It printed no error message.";
  return fmt::format(" It printed no error message; its last line was '{}'.",
                     fault.words->last_line);
}

// Sentence on the restarts of the replica that the sentence before it names, or empty.
std::string RestartsOf(const ReplicaObservation& replica) {
  const std::size_t count = replica.earlier.size();
  if (count == 0) return "";
  return count == 1 ? " It was restarted once." : fmt::format(" It was restarted {} times.", count);
}

// The message: the cause, all about the replica to blame, then a sentence for each of the first other failed replicas.
std::string DescribeFaults(const std::vector<Fault>& faults,
                           std::size_t first,
                           std::size_t blamed,
                           std::span<const ReplicaObservation> replicas) {
  std::set<std::size_t> named = {faults[blamed].replica};
  std::string message = CauseOf(faults[blamed]) + faults[blamed].failure.message +
                        RestartsOf(replicas[faults[blamed].replica]) + LastLineOf(faults[blamed]);
  for (std::size_t i = first; i < faults.size() && named.size() < kMostBlamed; ++i) {
    const std::string& other = faults[i].failure.message;
    if (message.size() + other.size() >= kLongestMessage) break;
    if (named.insert(faults[i].replica).second) message += " " + other;
  }
  return message;
}

struct Judgement {
  GangEnd gang_end;
  bool lost_peer = false;  // The only fault known is the loss of a peer.
};

Judgement Blame(const GangTraits& gang,
                const std::vector<Fault>& faults,
                std::size_t decisive,
                std::span<const ReplicaObservation> replicas,
                absl::Time now) {
  const std::size_t first = FirstOfChain(gang, faults, decisive);
  const std::size_t at = FindBlamed(gang, faults, decisive);
  const Fault& blamed = faults[at];
  return {.gang_end = {.state = blamed.lost ? AttemptState::kLost : AttemptState::kFailed,
                       .failure = blamed.failure.failure,
                       .transient = blamed.transient,
                       .message = DescribeFaults(faults, first, at, replicas),
                       .time = now},
          .lost_peer = blamed.lost_peer()};
}

// The fault that ends the gang: a lost replica, else the primary's, else the first that was not overcome by a restart.
// Nothing: there is none.
std::optional<std::size_t> FindDecisive(const std::vector<Fault>& faults) {
  std::optional<std::size_t> decisive;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].overcome) continue;
    if (faults[i].lost) return i;
    if (!decisive.has_value() || faults[i].replica == 0) decisive = i;
  }
  return decisive;
}

bool HasRun(const ReplicaObservation& replica) {
  return replica.phase == ReplicaObservation::Phase::kRunning ||
         replica.phase == ReplicaObservation::Phase::kEnded;
}

// Start of the first run; nothing if it never ran, as far as is known.
std::optional<absl::Time> FirstStart(const ReplicaObservation& replica) {
  if (!replica.earlier.empty()) return replica.earlier.front().started;
  return HasRun(replica) ? std::optional(replica.started) : std::nullopt;
}

bool IsOverTime(const GangTraits& gang, const ReplicaObservation& primary, absl::Time now) {
  return gang.time_limit.has_value() && primary.phase == Phase::kRunning &&
         now - FirstStart(primary).value_or(now) >= *gang.time_limit;
}

// Whether no further record can show that another replica caused the primary's failure. A transient verdict needs no
// wait: whoever is to blame, another attempt follows.
bool IsHeard(const GangTraits& gang,
             const Judgement& judgement,
             std::span<const ReplicaObservation> replicas,
             absl::Time now) {
  if (gang.primary_alone || std::ranges::all_of(replicas, IsDown)) return true;
  const absl::Duration since = now - replicas.front().ended;
  if (judgement.lost_peer) return since >= gang.patience;
  return judgement.gang_end.transient || since >= gang.settling;
}

ReplicaResult ResultOf(const GangTraits::Replica& replica, const ReplicaObservation& observed) {
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
  for (const ReplicaObservation::Run& run : observed.earlier) {
    result.cpu_time += run.cpu_time;
    result.peak_memory_bytes = std::max(result.peak_memory_bytes, run.peak_memory_bytes);
  }
  return result;
}

// How long after its event a record may appear. A choice, ample for a slow disk and a busy host.
constexpr absl::Duration kLateRecord = absl::Seconds(30);
// Allowance for times slightly in the future: supervisors read the system's clock, this process its steady one.
constexpr absl::Duration kAhead = absl::Seconds(1);

}  // namespace

void BoundTimes(const ReplicaObservation& before,
                absl::Time since,
                absl::Time until,
                ReplicaObservation& now) {
  const auto bound = [&](absl::Time time) {
    return std::clamp(time, std::min(since - kLateRecord, until), until + kAhead);
  };
  const bool is_known = before.started != absl::Time();
  for (std::size_t i = 0; i < now.earlier.size(); ++i) {
    ReplicaObservation::Run& run = now.earlier[i];
    if (i < before.earlier.size()) {
      run.started = before.earlier[i].started;
      run.ended = before.earlier[i].ended;
      continue;
    }
    // The run that was the current one at the previous observation has its start from then.
    const bool was_running = i == before.earlier.size() && is_known;
    run.started = was_running ? before.started : bound(run.started);
    run.ended = bound(run.ended);
  }
  if (!HasRun(now)) return;
  const bool is_same_run = now.earlier.size() == before.earlier.size() && is_known;
  now.started = is_same_run ? before.started : bound(now.started);
  if (now.phase == ReplicaObservation::Phase::kEnded) now.ended = bound(now.ended);
}

std::optional<GangEnd> Decide(const GangTraits& gang,
                              std::span<const ReplicaObservation> replicas,
                              absl::Time now) {
  VERNIER_CHECK(replicas.size() == gang.replicas.size() && !replicas.empty(),
                "as many observations as replicas");
  const ReplicaObservation& primary = replicas.front();
  if (primary.phase == Phase::kEnded && primary.exit.exit_code == 0) {
    return GangEnd{.state = AttemptState::kSucceeded, .time = now};
  }
  const std::vector<Fault> faults = FindFaults(gang, replicas);
  const std::optional<std::size_t> decisive = FindDecisive(faults);
  if (IsDown(primary)) {
    Judgement judgement = Blame(gang, faults, *decisive, replicas, now);
    if (IsHeard(gang, judgement, replicas, now)) return std::move(judgement.gang_end);
    return std::nullopt;
  }
  if (IsOverTime(gang, primary, now)) {
    return GangEnd{.state = AttemptState::kFailed,
                   .failure = FailureClass::kTimeout,
                   .message = fmt::format("ran for longer than its time limit of {}",
                                          absl::FormatDuration(*gang.time_limit)),
                   .time = now};
  }
  if (!decisive.has_value()) return std::nullopt;
  const Fault& fault = faults[*decisive];
  // If the primary failed first and is up again, its workers went down with it. It has nobody to join, so waiting is
  // pointless.
  const bool is_hopeless = faults[FirstOfChain(gang, faults, *decisive)].replica == 0;
  if (!fault.lost && !is_hopeless && now - fault.time < gang.patience) return std::nullopt;
  return Blame(gang, faults, *decisive, replicas, now).gang_end;
}

GangStatus Describe(const GangTraits& gang,
                    std::span<const ReplicaObservation> replicas,
                    const std::optional<GangEnd>& gang_end) {
  GangStatus status;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    status.replicas.push_back(ResultOf(gang.replicas[i], replicas[i]));
    if (status.lost_output.empty()) status.lost_output = replicas[i].exit.lost_output;
  }
  if (gang_end.has_value() && std::ranges::all_of(replicas, IsDown)) {
    status.state = gang_end->state;
    status.failure = gang_end->failure;
    status.transient = gang_end->transient;
    status.message = gang_end->message;
    return status;
  }
  const bool all_taken_on = std::ranges::none_of(replicas, [](const ReplicaObservation& replica) {
    return replica.phase == Phase::kNotStarted;
  });
  const bool primary_runs = replicas.front().phase == Phase::kRunning ||
                            replicas.front().phase == Phase::kOrphaned || IsDown(replicas.front());
  status.state = all_taken_on && primary_runs ? AttemptState::kRunning : AttemptState::kStarting;
  return status;
}

}  // namespace vernier::launch
