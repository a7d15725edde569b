#include "vernier/engine.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "src/core/status.h"
#include "src/engine/news.h"
#include "src/engine/study_run.h"
#include "src/engine/tasks.h"

namespace vernier {
namespace {

using engine::Context;
using engine::News;
using engine::StudyRun;
using engine::TrialRun;

// Time between two polls of the trials that cannot report changes: a share for each of them, and
// its bounds. Choices: up to 25 trials are polled at the shortest interval, and 1,000 trials on a
// shared file system cost it 1,000 looks a second, not 20,000.
constexpr absl::Duration kPollShare = absl::Milliseconds(2);
constexpr absl::Duration kPollInterval = absl::Milliseconds(50);
constexpr absl::Duration kLongestPollInterval = absl::Seconds(1);
// Longest delay of what time alone decides: leases, budgets of time.
constexpr absl::Duration kTickInterval = absl::Seconds(1);

class EngineImpl final : public Engine {
 public:
  EngineImpl(Studies& studies, Launcher& launcher, const Clock& clock, EngineOptions options)
      : options_(std::move(options)),
        news_(options_.wake),
        subscription_(studies.Subscribe([this](StudyId study) { news_.Add(study); })),
        tasks_(options_.executor),
        context_{.studies = studies,
                 .moves = studies.engine_moves(),
                 .launcher = launcher,
                 .clock = clock,
                 .options = options_,
                 .tasks = tasks_,
                 .news = news_,
                 .launcher_tells =
                     launcher.Watch([this](const AttemptId& id) { news_.Add(id.trial); })} {}
  ~EngineImpl() override {
    // First of all: afterwards the launcher no longer calls into what is destroyed here.
    if (context_.launcher_tells) context_.launcher.Watch(nullptr);
  }
  EngineImpl(const EngineImpl&) = delete;
  EngineImpl& operator=(const EngineImpl&) = delete;

  absl::StatusOr<absl::Duration> Step() override {
    const absl::Time now = context_.clock.Now();
    VERNIER_RETURN_IF_ERROR(Learn(now));
    // Also if time stands still, or has gone back.
    const bool polls = now >= next_poll_ || now <= last_poll_;
    if (polls) {
      last_poll_ = now;
      next_poll_ = now + PollInterval();
      for (auto& [id, run] : runs_) run.BeginReports();
    }
    // What runs, first: its room is for those that wait. These come before new ones.
    for (auto& [id, run] : runs_) run.Note(run.Advance(polls));
    // Nothing starts before it is known what of other studies runs and waits.
    if (loading_.empty()) {
      StartWaiting(polls);
      for (auto& [id, run] : runs_) run.Note(run.Ask());
    }
    for (auto& [id, run] : runs_) run.Conclude(now);
    Forget();
    return Pause();
  }

  std::vector<StudyTrouble> troubles() const override {
    std::vector<StudyTrouble> troubles;
    for (const auto& [id, run] : runs_) {
      if (run.trouble().has_value()) troubles.push_back(*run.trouble());
    }
    return troubles;
  }

 private:
  // Which studies and trials may have changed.
  absl::Status Learn(absl::Time now) {
    if (now >= next_tick_ || now <= last_tick_) {
      VERNIER_ASSIGN_OR_RETURN(const study::EngineMoves::Ticked ticked,
                               context_.moves.TickLoaded());
      last_tick_ = now;
      next_tick_ = now + kTickInterval;
      // A study that has ended is forgotten, so that it is looked at anew if an amendment extends it.
      std::erase_if(for_clients_,
                    [&](StudyId id) { return !std::ranges::binary_search(ticked.unfinished, id); });
      for (const StudyId id : ticked.unfinished) {
        if (!for_clients_.contains(id)) runs_.try_emplace(id, context_, id);
      }
      for (const StudyId id : ticked.unloaded) BeginLoading(id);
    }
    VERNIER_RETURN_IF_ERROR(TakeLoaded());
    for (const StudyId id : news_.TakeStudies()) {
      runs_.try_emplace(id, context_, id).first->second.Touch();
    }
    for (const TrialId& id : news_.TakeTrials()) {
      const auto run = runs_.find(id.study);
      if (run != runs_.end()) run->second.Touch(id.number);
    }
    return absl::OkStatus();
  }

  void BeginLoading(StudyId id) {
    const auto [at, is_new] = loading_.try_emplace(id, std::make_shared<Loading>());
    if (!is_new) return;
    context_.tasks.Run([&moves = context_.moves, &news = news_, id, loading = at->second](
                           const std::stop_token&, const engine::Tasks::Done& done) {
      loading->outcome = moves.Load(id);
      loading->told.Notify();
      news.Wake();
      done();
    });
  }

  // An error if none of the studies could be loaded; others are tried again with the next tick.
  absl::Status TakeLoaded() {
    absl::Status failed;
    for (auto at = loading_.begin(); at != loading_.end();) {
      const auto& [id, loading] = *at;
      if (!loading->told.HasBeenNotified()) {
        ++at;
        continue;
      }
      const absl::Status& outcome = loading->outcome;
      if (outcome.ok()) {
        runs_.try_emplace(id, context_, id);
      } else if (!absl::IsDataLoss(outcome) && !absl::IsNotFound(outcome)) {
        // Damage and deletion concern one study, and say nothing about the store as a whole.
        failed.Update(outcome);
      }
      at = loading_.erase(at);
    }
    return runs_.empty() && loading_.empty() ? failed : absl::OkStatus();
  }

  // Lets go of studies for which nothing is left to be done.
  void Forget() {
    const std::size_t before = for_clients_.size();
    std::erase_if(runs_, [&](const auto& entry) {
      const auto& [id, run] = entry;
      if (run.is_for_clients()) for_clients_.insert(id);
      return run.is_over();
    });
    // Otherwise every report of a client would wake the engine for nothing.
    if (for_clients_.size() != before) news_.Ignore(for_clients_);
  }

  // Starts the waiting trials of all studies in the order of the launcher's queue. After a restart the launcher does
  // not know the queue, and no trial must get ahead because its study was stepped first.
  void StartWaiting(bool polls) {
    std::vector<std::pair<StudyRun*, TrialRun*>> startable;
    for (auto& [id, run] : runs_) run.Note(run.AddStartable(polls, startable));
    // A study that met an error after it had named some of its trials starts none of them in this step.
    std::erase_if(startable, [](const auto& entry) { return !entry.first->has_job(); });
    std::ranges::sort(startable, {}, [](const auto& entry) {
      const auto& [study, trial] = entry;
      return std::tuple(-study->priority(), trial->created(), trial->id());
    });
    for (const auto& [study, trial] : startable) study->Note(study->Start(*trial));
  }

  absl::Duration PollInterval() const {
    std::size_t polled = 0;
    for (const auto& [id, run] : runs_) polled += run.polled();
    return std::clamp(
        static_cast<std::int64_t>(polled) * kPollShare, kPollInterval, kLongestPollInterval);
  }

  absl::Duration Pause() const {
    const absl::Time now = context_.clock.Now();
    absl::Time next = next_tick_;
    for (const auto& [id, run] : runs_) {
      next = std::min(next, run.due());
      if (run.is_polled()) next = std::min(next, next_poll_);
    }
    return std::max(next - now, absl::ZeroDuration());
  }

  struct Loading {
    absl::Notification told;
    absl::Status outcome;
  };

  // In this order, since tasks still running report to `news_`, and `tasks_` waits for them when it
  // is destroyed. They hold nothing of `runs_`, which goes before them.
  const EngineOptions options_;
  News news_;
  const std::unique_ptr<Studies::Subscription> subscription_;
  engine::Tasks tasks_;
  const Context context_;
  absl::Time last_poll_ = absl::InfinitePast();
  absl::Time next_poll_ = absl::InfinitePast();
  absl::Time last_tick_ = absl::InfinitePast();
  absl::Time next_tick_ = absl::InfinitePast();
  std::map<StudyId, StudyRun> runs_;
  std::set<StudyId> for_clients_;  // Unfinished ones, which have no job.
  // Studies that are being read from the store; shared with the tasks that read them.
  std::map<StudyId, std::shared_ptr<Loading>> loading_;
};

}  // namespace

std::unique_ptr<Engine> Engine::Create(Studies& studies,
                                       Launcher& launcher,
                                       const Clock& clock,
                                       EngineOptions options) {
  return std::make_unique<EngineImpl>(studies, launcher, clock, std::move(options));
}

}  // namespace vernier
