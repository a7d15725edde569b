// Once in each round: orders of the launcher (submit, stop, cancel), then, if that is due, one look at all jobs. One
// look serves every attempt, so that the controller's load does not grow with their number.
//
// A job is submitted at most once, as far as that can be had from a controller that may accept a job and lose the answer,
// or accept it and forget it in a crash:
//
//   1. The engine's log says that the gang is being started. A process that finds it so, or this one after an answer that
//      was lost, looks for the job's comment before it submits.
//   2. sbatch.
//   3. `job` gets the id. From then on nobody submits. If a power failure loses this file, the comment is looked for.
//
// A look must be newer than the order, or a job that was accepted just before would be missed. Nobody is asked more often for
// that: a job in doubt waits for the next look.
//
// If a job runs twice all the same, the supervisors of the second find the start markers of their replicas and do nothing.

#include "src/launch/slurm/job_book.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include "src/base/log.h"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "src/launch/slurm/client_environment.h"

namespace vernier::launch::slurm {
namespace {

constexpr char kJobFile[] = "/job";

// Time between looks at nodes. A choice: they are for people, and each costs the controller about as much as a look at the
// jobs.
constexpr absl::Duration kNodesInterval = absl::Seconds(30);
// A look may take this share of the time. A choice: at 22 ms for 205 jobs the interval is the least one; a controller
// with 20,000 jobs, of whom each costs 3.7 kB of JSON, is asked less often.
constexpr double kShareOfTime = 0.05;
// How soon a refused or unanswered order is tried again.
constexpr absl::Duration kRetry = absl::Seconds(2);
// How soon a job is submitted again that was refused for what the site asks of jobs. A choice: somebody has to change it.
constexpr absl::Duration kHeldRetry = absl::Seconds(30);
// How long the controller is still looked at once nothing is followed any more, and how often: for jobs that come back.
constexpr absl::Duration kAfterwards = absl::Minutes(2);
constexpr absl::Duration kIdleInterval = absl::Seconds(5);
// How long a job may take to go once its replicas have ended. A choice: its script ends some 50 ms after them, and a client
// that cancels it costs as much as the one that submitted it.
constexpr absl::Duration kTimeToGo = absl::Seconds(5);

std::optional<std::int64_t> ReadJobId(const std::string& folder) {
  const std::string text = ReadWholeFile(folder + kJobFile).value_or("");
  std::int64_t id = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), id);
  return parsed.ec == std::errc() && id > 0 ? std::optional(id) : std::nullopt;
}

// The newest job with the comment: its first component.
std::optional<std::int64_t> FindByComment(const std::vector<JobRecord>& jobs,
                                          const std::string& comment) {
  std::optional<std::int64_t> found;
  for (const JobRecord& job : jobs) {
    if (job.comment == comment && job.leader > found.value_or(0)) found = job.leader;
  }
  return found;
}

std::vector<JobRecord> ComponentsOf(const std::vector<JobRecord>& jobs, std::int64_t id) {
  std::vector<JobRecord> components;
  std::ranges::copy_if(jobs, std::back_inserter(components), [id](const JobRecord& job) {
    return job.leader == id;
  });
  return components;
}

bool IsRunning(const JobView& view) {
  return std::ranges::any_of(view.components,
                             [](const JobRecord& job) { return job.state == JobState::kRunning; });
}

}  // namespace

bool JobView::IsOver() const {
  return is_seen && std::ranges::all_of(components, [](const JobRecord& job) {
           return slurm::IsOver(job.state) && !job.is_completing;
         });
}

std::optional<absl::Time> JobView::ExpectedStart() const {
  std::optional<absl::Time> start;
  for (const JobRecord& job : components) {
    if (job.state != JobState::kPending || !job.started.has_value()) return std::nullopt;
    start = std::max(start.value_or(*job.started), *job.started);
  }
  return start;
}

bool JobBook::Entry::IsLeaving() const {
  return retired.has_value() && view.id.has_value() && !view.IsOver();
}

bool JobBook::Entry::HasOrder() const {
  return is_to_submit || is_to_stop || is_to_cancel || (is_forgotten && !IsLeaving());
}

JobBook::JobBook(std::unique_ptr<Slurm> slurm,
                 const Clock& clock,
                 absl::Duration interval,
                 std::function<void(const AttemptId&)> changed,
                 std::function<bool(const std::string& comment)> is_spent)
    : slurm_(std::move(slurm)),
      clock_(clock),
      interval_(interval),
      changed_(std::move(changed)),
      is_spent_(std::move(is_spent)) {}

void JobBook::Submit(const AttemptId& id, BatchJob job, std::string folder, bool may_be_there) {
  absl::MutexLock lock(&mu_);
  const auto [at, is_new] = entries_.try_emplace(id);
  if (!is_new) return;
  Entry& entry = at->second;
  entry.job = std::move(job);
  entry.folder = std::move(folder);
  entry.may_be_there = may_be_there;
}

void JobBook::Stop(const AttemptId& id) {
  absl::MutexLock lock(&mu_);
  if (const auto at = entries_.find(id); at != entries_.end()) at->second.is_to_stop = true;
}

void JobBook::Cancel(const AttemptId& id) {
  absl::MutexLock lock(&mu_);
  if (const auto at = entries_.find(id); at != entries_.end()) at->second.is_to_cancel = true;
}

void JobBook::Retire(const AttemptId& id) {
  absl::MutexLock lock(&mu_);
  const auto at = entries_.find(id);
  if (at != entries_.end() && !at->second.retired.has_value()) at->second.retired = clock_.Now();
}

void JobBook::Forget(const AttemptId& id) {
  absl::MutexLock lock(&mu_);
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  Entry& entry = at->second;
  entry.is_forgotten = true;
  entry.is_to_cancel = !entry.view.IsOver() && !entry.retired.has_value();
}

JobView JobBook::ViewOf(const AttemptId& id) const {
  absl::MutexLock lock(&mu_);
  const auto at = entries_.find(id);
  return at == entries_.end() ? JobView() : at->second.view;
}

std::vector<NodeRecord> JobBook::Nodes() const {
  absl::MutexLock lock(&mu_);
  return nodes_;
}

absl::Status JobBook::Trouble() const {
  absl::MutexLock lock(&mu_);
  return trouble_;
}

std::vector<JobBook::Order> JobBook::TakeOrders() {
  absl::MutexLock lock(&mu_);
  std::vector<Order> orders;
  for (auto& [id, entry] : entries_) {
    if (entry.HasOrder()) orders.push_back({id, entry});
  }
  return orders;
}

void JobBook::SubmitOne(Order& order, const absl::StatusOr<std::vector<JobRecord>>& jobs) {
  Entry& entry = order.entry;
  if (clock_.Now() < entry.not_before) return;
  entry.view.held.clear();
  if (const std::optional<std::int64_t> id = ReadJobId(entry.folder)) {
    entry.view.id = id;
    entry.is_to_submit = false;
    return;
  }
  std::optional<std::int64_t> id;
  if (entry.may_be_there) {
    if (!jobs.ok()) return;  // Nothing is known now: later.
    id = FindByComment(*jobs, entry.job.comment);
  }
  if (!id.has_value()) {
    entry.may_be_there = true;
    const absl::StatusOr<std::int64_t> submitted = slurm_->Submit(entry.job);
    if (absl::IsUnavailable(submitted.status()) || absl::IsResourceExhausted(submitted.status())) {
      return;
    }
    // Trials wait: their budget must not be spent on it.
    if (const std::string said(submitted.status().message()); SaysSiteRefused(said)) {
      entry.view.held = said;
      entry.not_before = clock_.Now() + kHeldRetry;
      return;
    }
    if (!submitted.ok()) {
      entry.view.refused = submitted.status();
      entry.is_to_submit = false;
      return;
    }
    id = *submitted;
  }
  ReplaceFile(entry.folder + kJobFile, std::to_string(*id) + "\n", /*durable=*/false);
  entry.view.id = id;
  entry.is_to_submit = false;
}

void JobBook::Carry(Order& order, const absl::StatusOr<std::vector<JobRecord>>& jobs) {
  Entry& entry = order.entry;
  const bool was_forgotten = entry.is_forgotten;
  // A job that nobody wants any more is not submitted. It may have been, by an answer that was lost.
  const bool is_unwanted = entry.is_to_cancel || was_forgotten;
  if (entry.is_to_submit && (!is_unwanted || entry.may_be_there)) {
    if (is_unwanted) {
      if (jobs.ok()) {
        entry.view.id = FindByComment(*jobs, entry.job.comment);
        entry.is_to_submit = false;
      }
    } else {
      SubmitOne(order, jobs);
    }
  } else if (entry.is_to_submit) {
    entry.is_to_submit = false;
  }
  absl::Status told;
  if (entry.view.id.has_value() && entry.is_to_cancel) {
    told = slurm_->Cancel(*entry.view.id);
  } else if (entry.view.id.has_value() && entry.is_to_stop) {
    told = slurm_->Stop(*entry.view.id, entry.job.listener);
  }
  absl::MutexLock lock(&mu_);
  const auto at = entries_.find(order.id);
  if (at == entries_.end()) return;
  Entry& now = at->second;
  if (entry.view.id.has_value() && now.view.id != entry.view.id) now.round = round_;
  now.view.id = entry.view.id;
  now.view.refused = entry.view.refused;
  now.view.held = entry.view.held;
  now.not_before = entry.not_before;
  now.is_to_submit = entry.is_to_submit;
  now.may_be_there = entry.may_be_there;
  if (!told.ok() && absl::IsUnavailable(told)) {
    trouble_ = told;
    return;  // Again in the next round.
  }
  if (entry.view.id.has_value() || !entry.is_to_submit) {
    if (entry.is_to_stop) now.is_to_stop = false;
    if (entry.is_to_cancel) {
      now.is_to_cancel = false;
      now.retired.reset();  // It did not go by itself.
    }
  }
  // What is forgotten goes once nothing is left to be told of it.
  if (was_forgotten && !now.is_to_submit && !now.is_to_cancel && !now.IsLeaving()) {
    entries_.erase(at);
  }
}

void JobBook::Look(const std::vector<JobRecord>& jobs) {
  std::vector<AttemptId> changed;
  {
    absl::MutexLock lock(&mu_);
    trouble_ = absl::OkStatus();
    for (auto& [id, entry] : entries_) {
      // A job that was submitted in this round is missing from an answer that was asked for before.
      if (!entry.view.id.has_value() || entry.round == round_) continue;
      std::vector<JobRecord> components = ComponentsOf(jobs, *entry.view.id);
      const bool differs = !entry.view.is_seen || components != entry.view.components;
      entry.view.components = std::move(components);
      entry.view.is_seen = true;
      if (differs || IsRunning(entry.view)) changed.push_back(id);
      if (entry.IsLeaving() && clock_.Now() - *entry.retired > kTimeToGo) {
        entry.is_to_cancel = true;
      }
    }
  }
  for (const AttemptId& id : changed) changed_(id);
}

void JobBook::CancelSpent(const std::vector<JobRecord>& jobs) {
  if (is_spent_ == nullptr) return;
  std::set<std::string> followed;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [id, entry] : entries_) followed.insert(entry.job.comment);
  }
  for (const JobRecord& job : jobs) {
    const bool is_there = !slurm::IsOver(job.state) && job.id == job.leader;
    if (!is_there || followed.contains(job.comment) || !is_spent_(job.comment)) continue;
    base::Log(base::LogLevel::kInfo,
              "a job of an attempt that has ended is cancelled",
              {{"job", std::to_string(job.id)}, {"comment", job.comment}});
    slurm_->Cancel(job.id).IgnoreError();  // Else with the next look.
  }
}

absl::StatusOr<std::vector<JobRecord>> JobBook::AskForJobs() {
  const absl::Time begun = clock_.Now();
  absl::StatusOr<std::vector<JobRecord>> jobs = slurm_->Jobs();
  const absl::Time now = clock_.Now();
  // One that was waited for in vain is asked again after as long a pause: it is down, or has too much to do.
  const absl::Duration rest = jobs.ok() ? (now - begun) / kShareOfTime : now - begun;
  next_look_ = now + std::max(interval_, rest);
  if (!jobs.ok()) {
    absl::MutexLock lock(&mu_);
    trouble_ = jobs.status();
  }
  return jobs;
}

absl::Duration JobBook::Work() {
  ++round_;
  const absl::Time begun = clock_.Now();
  std::vector<Order> orders = TakeOrders();
  const bool is_empty = [&] {
    absl::MutexLock lock(&mu_);
    return entries_.empty();
  }();
  if (!is_empty) last_busy_ = begun;
  const bool is_idle = is_empty && begun - last_busy_ > kAfterwards;
  absl::StatusOr<std::vector<JobRecord>> jobs = absl::UnavailableError("not asked");
  if (begun >= next_look_ && !is_idle) jobs = AskForJobs();
  for (Order& order : orders) Carry(order, jobs);
  if (jobs.ok()) {
    Look(*jobs);
    CancelSpent(*jobs);
  }
  for (const Order& order : orders) changed_(order.id);

  if (begun >= next_nodes_) {
    next_nodes_ = begun + kNodesInterval;
    absl::StatusOr<std::vector<NodeRecord>> nodes = slurm_->Nodes();
    absl::MutexLock lock(&mu_);
    if (nodes.ok()) nodes_ = *std::move(nodes);
  }
  const bool has_orders = [&] {
    absl::MutexLock lock(&mu_);
    return std::ranges::any_of(entries_, [](const auto& entry) {
      return entry.second.HasOrder() && !entry.second.IsInDoubt();
    });
  }();
  const absl::Time now = clock_.Now();
  absl::Duration pause = is_idle ? next_nodes_ - now : next_look_ - now;
  if (is_empty) pause = std::max(pause, std::min(kIdleInterval, next_nodes_ - now));
  if (has_orders) pause = std::min(pause, kRetry);
  return std::max(pause, absl::ZeroDuration());
}

}  // namespace vernier::launch::slurm
