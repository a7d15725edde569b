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

// How long to wait before asking again those who cannot tell that something has changed.
constexpr absl::Duration kPollInterval = absl::Milliseconds(50);
// How long what only time decides may wait: leases, budgets of time.
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
      next_poll_ = now + kPollInterval;
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
    if (for_clients_.size() != before) news_.Ignore(for_clients_);
  }

  // In the order of the launcher's queue, over all studies: after a restart the launcher does not know who waits, and
  // nobody is to get ahead by being asked first.
  void StartWaiting(bool polls) {
    std::vector<std::pair<StudyRun*, TrialRun*>> startable;
    for (auto& [id, run] : runs_) run.Note(run.AddStartable(polls, startable));
    std::erase_if(startable, [](const auto& entry) { return !entry.first->has_job(); });
    std::ranges::sort(startable, {}, [](const auto& entry) {
      const auto& [study, trial] = entry;
      return std::tuple(-study->priority(), trial->created(), trial->id());
    });
    for (const auto& [study, trial] : startable) study->Note(study->Start(*trial));
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
  // Those that are being read from the store; shared with whoever does.
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
