// Every call that changes who holds or waits resets the plan, unless the change cannot affect it: a newcomer at the end
// of the queue is only appended (CanAppend), and a gang that takes its grant was already subtracted from the plan's
// free room. That keeps polling with 10,000 waiting gangs at half a microsecond (benchmarks/results/queue.json).
//
// Reasons are put into words only when asked for, and cached per gang: `changes_` grows with each event after which an
// old text could be wrong.

#include "src/launch/local/capacity_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "fmt/format.h"
#include "src/core/check.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

constexpr char kScaledHint[] =
    "; --fitting scaled (host.fitting of the server's configuration) would make its shares smaller";

// A gang is not scaled below these for each replica; instead gangs wait for each other. A choice: less is of no use to
// a training program.
constexpr double kLeastCpus = 0.1;
constexpr double kLeastMemory = 256.0 * (1 << 20);

// The part of the host for one of `parallel` gangs, but not less than `least`, nor more than the host.
double PartOf(double host, double parallel, double least) {
  return std::min(host, std::max(host / parallel, least));
}

void ScaleCpus(double factor, std::vector<ReplicaRequest>& replicas) {
  for (ReplicaRequest& replica : replicas) replica.resources.cpus *= factor;
}

// Scales memory to whole MiB, and adds the remainder to the first replica that asks for memory.
void ScaleMemory(std::int64_t from, std::int64_t to, std::vector<ReplicaRequest>& replicas) {
  constexpr std::int64_t kMiB = 1 << 20;
  const double factor = static_cast<double>(to) / static_cast<double>(from);
  Resources* first = nullptr;
  std::int64_t rest = to;
  for (ReplicaRequest& replica : replicas) {
    Resources& asks = replica.resources;
    if (asks.memory_bytes == 0) continue;
    const auto exact = static_cast<std::int64_t>(static_cast<double>(asks.memory_bytes) * factor);
    // Never 0, which would mean no limit.
    asks.memory_bytes = exact < kMiB ? std::max<std::int64_t>(1, exact) : exact - exact % kMiB;
    rest -= asks.memory_bytes;
    if (first == nullptr) first = &asks;
  }
  if (rest > 0) first->memory_bytes += rest;
}

bool IsTooLarge(const GangNeed& need, const HostCapacity& host) {
  return need.cpus > host.cpus || need.memory_bytes > host.memory_bytes;
}

// Which dimensions are scaled: those in which the gang exceeds the host, or all in which it exceeds its part.
enum class Scaling { kWhatIsTooLarge, kAll };

// The gang scaled to the part of the host that one of `parallel` gangs may have.
std::vector<ReplicaRequest> ScaledTo(const HostCapacity& host,
                                     const GangRequest& gang,
                                     double parallel,
                                     Scaling scaling) {
  std::vector<ReplicaRequest> replicas = gang.replicas;
  const GangNeed need = SumOf(replicas);
  const auto asking = [&](auto asked) {
    return static_cast<double>(std::ranges::count_if(
        replicas, [&](const ReplicaRequest& replica) { return replica.resources.*asked > 0; }));
  };
  const bool all = scaling == Scaling::kAll;
  const double cpus = PartOf(host.cpus, parallel, kLeastCpus * asking(&Resources::cpus));
  if (need.cpus > (all ? cpus : host.cpus)) ScaleCpus(cpus / need.cpus, replicas);
  const auto memory =
      static_cast<std::int64_t>(PartOf(static_cast<double>(host.memory_bytes),
                                       parallel,
                                       kLeastMemory * asking(&Resources::memory_bytes)));
  if (need.memory_bytes > (all ? memory : host.memory_bytes)) {
    ScaleMemory(need.memory_bytes, memory, replicas);
  }
  return replicas;
}

}  // namespace

CapacityBook::CapacityBook(HostCapacity capacity, const Clock& clock, Fitting fitting)
    : capacity_(std::move(capacity)), clock_(clock), fitting_(fitting) {}

// Higher priority first, then longer waiting; the id makes the order total.
bool CapacityBook::IsBefore(const Waiting* a, const Waiting* b) {
  const auto rank = [](const GangRequest& gang) {
    return std::tuple(-gang.priority, gang.queued, gang.id);
  };
  return rank(a->request) < rank(b->request);
}

std::vector<ReplicaRequest> CapacityBook::Fitted(const GangRequest& gang) const {
  if (fitting_ == Fitting::kStrict) return gang.replicas;
  return ScaledTo(capacity_, gang, std::max(1, gang.parallel), Scaling::kWhatIsTooLarge);
}

// A gang that is too large books a part of the host, at most half, so that a second one can run beside it. Its limits
// (Fitted) let it use the whole host while it is alone.
std::vector<ReplicaRequest> CapacityBook::Booked(const GangRequest& gang) const {
  if (fitting_ == Fitting::kStrict || !IsTooLarge(SumOf(gang.replicas), capacity_)) {
    return gang.replicas;
  }
  return ScaledTo(capacity_, gang, std::max(2, gang.parallel), Scaling::kAll);
}

absl::Status CapacityBook::CheckFits(const std::vector<ReplicaRequest>& replicas) const {
  GangRequest gang;
  gang.replicas = replicas;
  const std::string shortfall = Shortfall(SumOf(Fitted(gang)), capacity_);
  if (shortfall.empty()) return absl::OkStatus();
  const bool would_scale =
      fitting_ == Fitting::kStrict &&
      Shortfall(SumOf(ScaledTo(capacity_, gang, 1, Scaling::kWhatIsTooLarge)), capacity_).empty();
  return InvalidArgument("{}{}", shortfall, would_scale ? kScaledHint : "");
}

absl::StatusOr<GpuAssignment> CapacityBook::Place(const GangRequest& gang) {
  VERNIER_CHECK(!holdings_.contains(gang.id), "the attempt holds capacity already");
  VERNIER_ASSIGN_OR_RETURN(Waiting * waiting, Enter(gang));
  UpdatePlan();
  if (waiting->grant.has_value()) return Hold(*waiting);
  return WithReason(ResourceExhausted("{}", ReasonOf(*waiting)), Reason::kInsufficientCapacity);
}

absl::StatusOr<CapacityBook::Waiting*> CapacityBook::Enter(const GangRequest& gang) {
  if (const auto known = waiting_.find(gang.id); known != waiting_.end()) {
    // The engine asks for the same gang again and again. One that asks for something else loses its place.
    if (known->second->request == gang) return known->second.get();
    Withdraw(gang.id);
  }
  // A gang that can never start must not become the head, where it would block the queue for good.
  VERNIER_RETURN_IF_ERROR(CheckFits(gang.replicas));
  auto entry = std::make_unique<Waiting>(Waiting{
      .request = gang, .planned = {.need = SumOf(Booked(gang)), .time_limit = gang.time_limit}});
  Waiting* const newcomer = entry.get();
  waiting_.emplace(gang.id, std::move(entry));
  const auto place = std::ranges::upper_bound(queue_, newcomer, IsBefore);
  if (place != queue_.end()) ++changes_;  // Reasons of later gangs count those before them.
  queue_.insert(place, newcomer);
  // The common case, a new trial behind all others, costs one look and not a new plan.
  if (CanAppend(*newcomer)) {
    Consider(*newcomer);
  } else {
    plan_.reset();
  }
  return newcomer;
}

bool CapacityBook::CanAppend(const Waiting& newcomer) const {
  if (!plan_.has_value()) return false;
  if (head_ != nullptr && IsBefore(&newcomer, head_)) return false;
  return std::ranges::none_of(granted_,
                              [&](const Waiting* other) { return IsBefore(&newcomer, other); });
}

void CapacityBook::UpdatePlan() {
  if (!plan_.has_value() || clock_.Now() > plan_->valid_until()) MakePlan();
}

void CapacityBook::MakePlan() {
  ++changes_;
  head_ = nullptr;
  granted_.clear();
  plan_.emplace(Free(), Endings());
  for (Waiting* gang : queue_) Consider(*gang);
}

void CapacityBook::Consider(Waiting& gang) {
  const absl::Time now = clock_.Now();
  // The promise stays with the gang even if it is the head of a new plan.
  const bool is_promised = promised_to_ == gang.request.id;
  std::optional<Claim> claim =
      plan_->Consider(gang.planned, is_promised ? promise_ : std::nullopt, now);
  gang.grant.reset();
  if (claim.has_value()) {
    gang.grant = {.claim = *std::move(claim), .from = now};
    granted_.push_back(&gang);
  } else if (head_ == nullptr) {
    head_ = &gang;
    promise_ = plan_->promise();
    promised_to_ = gang.request.id;
  }
}

std::vector<Ending> CapacityBook::Endings() const {
  std::vector<Ending> endings;
  for (const auto& [id, holding] : holdings_) {
    if (holding.end) endings.push_back({.end = *holding.end, .claim = holding.claim});
  }
  return endings;
}

// Computed from scratch: adding and subtracting fractions of CPUs for months would accumulate rounding errors.
Room CapacityBook::Free() const {
  Room free(capacity_);
  for (const auto& [id, holding] : holdings_) free.Take(holding.claim);
  return free;
}

GpuAssignment CapacityBook::Hold(const Waiting& gang) {
  const std::optional<absl::Duration> limit = gang.request.time_limit;
  Holding holding{.claim = gang.grant->claim, .time_limit = limit, .end = {}};
  if (limit) holding.end = gang.grant->from + *limit;
  GpuAssignment ids = IdsOf(holding.claim);
  holdings_.emplace(gang.request.id, std::move(holding));
  Remove(gang);  // Its room is already taken in the plan.
  return ids;
}

void CapacityBook::Remove(const Waiting& gang) {
  std::erase(granted_, &gang);
  queue_.erase(std::ranges::lower_bound(queue_, &gang, IsBefore));
  waiting_.erase(waiting_.find(gang.request.id));
}

void CapacityBook::Withdraw(const AttemptId& id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  const Waiting& gang = *found->second;
  // Others in the queue took nothing from the plan's rooms.
  if (&gang == head_ || gang.grant.has_value()) plan_.reset();
  ++changes_;
  Remove(gang);
}

void CapacityBook::Take(const GangRequest& gang, const Placement& placement) {
  Withdraw(gang.id);
  Holding holding{
      .claim = ClaimOf(gang, placement), .time_limit = gang.time_limit, .end = std::nullopt};
  if (gang.time_limit) holding.end = clock_.Now() + *gang.time_limit;
  holdings_[gang.id] = std::move(holding);
  plan_.reset();
}

void CapacityBook::MarkStarted(const AttemptId& id, absl::Time started) {
  const auto found = holdings_.find(id);
  if (found == holdings_.end() || !found->second.time_limit) return;
  found->second.end = started + *found->second.time_limit;
  plan_.reset();
}

void CapacityBook::Release(const AttemptId& id) {
  Withdraw(id);
  if (holdings_.erase(id) > 0) plan_.reset();
}

const std::string& CapacityBook::ReasonOf(Waiting& gang) {
  if (gang.worded == changes_) return gang.reason;
  gang.worded = changes_;
  gang.reason = Shortfall(gang.planned.need, plan_->free(), capacity_);
  if (&gang == head_) return gang.reason;
  const auto place = std::ranges::lower_bound(queue_, &gang, IsBefore) - queue_.begin();
  const auto starting =
      std::ranges::count_if(granted_, [&](const Waiting* other) { return IsBefore(other, &gang); });
  // Gangs that are about to start are not in its way.
  const std::int64_t before = place - starting;
  if (gang.reason.empty()) gang.reason = "what is free is kept for the first of them";
  gang.reason = fmt::format("behind {} gang{} of higher priority or age; {}",
                            before,
                            before == 1 ? "" : "s",
                            gang.reason);
  return gang.reason;
}

GpuAssignment CapacityBook::IdsOf(const Claim& claim) const {
  GpuAssignment assignment;
  for (const auto& replica : claim.devices) {
    std::vector<std::string>& ids = assignment.emplace_back();
    for (const DeviceShare& share : replica) ids.push_back(capacity_.gpus[share.device].id);
  }
  return assignment;
}

// The resources of a placement that an earlier process made. Devices that this host no longer has are left out.
Claim CapacityBook::ClaimOf(const GangRequest& gang, const Placement& placement) const {
  const std::vector<ReplicaRequest> replicas = Booked(gang);
  const GangNeed need = SumOf(replicas);
  Claim claim{.cpus = need.cpus, .memory_bytes = need.memory_bytes, .devices = {}};
  for (std::size_t i = 0; i < placement.size(); ++i) {
    auto& shares = claim.devices.emplace_back();
    for (const std::string& id : placement[i].gpus) {
      const auto gpu = std::ranges::find(capacity_.gpus, id, &GpuDevice::id);
      if (gpu == capacity_.gpus.end()) continue;
      shares.push_back(
          {.device = static_cast<std::size_t>(gpu - capacity_.gpus.begin()),
           .memory_bytes = i < replicas.size() ? replicas[i].resources.gpu_memory_bytes : 0});
    }
  }
  return claim;
}

std::vector<QueuedGang> CapacityBook::Queue() {
  UpdatePlan();
  std::vector<QueuedGang> queue;
  for (Waiting* gang : queue_) {
    QueuedGang queued{.id = gang->request.id,
                      .study = gang->request.study,
                      .priority = gang->request.priority,
                      .queued = gang->request.queued,
                      .needs = Describe(gang->planned.need),
                      .reason = gang->grant ? "about to start" : ReasonOf(*gang),
                      .start_by = {}};
    if (gang == head_ && plan_->promise()) queued.start_by = plan_->promise()->start;
    queue.push_back(std::move(queued));
  }
  return queue;
}

Node CapacityBook::Status() const {
  const Room free = Free();
  Node node{.name = "",
            .cpus = capacity_.cpus,
            .free_cpus = free.cpus(),
            .memory_bytes = capacity_.memory_bytes,
            .free_memory_bytes = free.memory_bytes(),
            .devices = {}};
  std::map<std::string, NodeDevices> devices;
  for (std::size_t i = 0; i < capacity_.gpus.size(); ++i) {
    NodeDevices& kind = devices[capacity_.gpus[i].type];
    ++kind.count;
    if (free.IsUntouched(i)) ++kind.free;
    if (free.IsShared(i)) ++kind.shared;
  }
  for (auto& [type, kind] : devices) {
    kind.type = type;
    node.devices.push_back(std::move(kind));
  }
  return node;
}

}  // namespace vernier::launch
