#include "vernier/engine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/engine/trial_run.h"

namespace vernier {
namespace {

using engine::Context;
using engine::TrialRun;

// How long to wait before looking at running programs again, and at studies that have none.
constexpr absl::Duration kFollowInterval = absl::Milliseconds(50);
constexpr absl::Duration kIdleInterval = absl::Seconds(1);
constexpr std::size_t kEventPage = 1000;

// One study, and, if it runs its own job, those of its trials that have not ended. A step of the engine calls Advance,
// then steps what AddStartable named, then calls Ask.
class StudyRun {
 public:
  StudyRun(const Context& context, StudyId id) : context_(context), id_(id) {}

  // Learns of new trials and moves what runs.
  absl::Status Advance() {
    study_.reset();
    if (is_for_clients_) return absl::OkStatus();
    absl::StatusOr<Study> study = context_.studies.GetStudy(id_);
    if (absl::IsNotFound(study.status())) return Abandon();
    VERNIER_RETURN_IF_ERROR(study.status());
    is_for_clients_ = !study->spec.job.has_value();
    if (is_for_clients_) return absl::OkStatus();
    study_ = *std::move(study);
    const auto& runs = context_.options.runs;
    may_start_ = study_->state == StudyState::kActive && (!runs || runs(study_->spec.name));
    VERNIER_RETURN_IF_ERROR(UnlessDeleted(Discover(*study_)));
    VERNIER_RETURN_IF_ERROR(UnlessDeleted(StepRunning()));
    std::erase_if(trials_, [](const auto& entry) { return entry.second.done(); });
    return absl::OkStatus();
  }

  // Begins to store what running trials have reported.
  void BeginReports() {
    for (auto& [number, trial] : trials_) trial.BeginReport();
  }

  // Appends the trials that wait for room and may have it: the first, as far as the study's bound on parallel trials
  // allows. The others give up their places in the queue.
  absl::Status AddStartable(std::vector<std::pair<StudyRun*, TrialRun*>>& startable) {
    if (!study_.has_value()) return absl::OkStatus();
    std::int64_t room = may_start_ ? study_->spec.parallel : 0;
    room -= std::ranges::count_if(trials_, [](const auto& entry) { return entry.second.active(); });
    for (auto& [number, trial] : trials_) {
      if (trial.active()) continue;
      if (room-- > 0) {
        startable.emplace_back(this, &trial);
      } else {
        VERNIER_RETURN_IF_ERROR(trial.StopWaiting());
      }
    }
    return absl::OkStatus();
  }

  absl::Status Start(TrialRun& trial) {
    return UnlessDeleted(trial.Step(*study_, /*may_start=*/true));
  }

  // Asks for as many trials as the study's bound allows, and starts those for which there is room.
  absl::Status Ask() {
    if (!study_.has_value()) return absl::OkStatus();
    const std::size_t before = trials_.size();
    VERNIER_RETURN_IF_ERROR(UnlessDeleted(Ask(*study_)));
    if (trials_.size() == before) return absl::OkStatus();
    std::vector<std::pair<StudyRun*, TrialRun*>> startable;
    VERNIER_RETURN_IF_ERROR(AddStartable(startable));
    for (const auto& [study, trial] : startable) VERNIER_RETURN_IF_ERROR(Start(*trial));
    return absl::OkStatus();
  }

  bool empty() const { return trials_.empty(); }
  // REQUIRES: Advance found a job, as it did if AddStartable named a trial.
  std::int32_t priority() const { return study_->spec.job->priority; }

 private:
  // Somebody may delete the study under our hands.
  static absl::Status UnlessDeleted(const absl::Status& status) {
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

  absl::Status Abandon() {
    for (auto& [number, trial] : trials_) VERNIER_RETURN_IF_ERROR(trial.Abandon());
    std::erase_if(trials_, [](const auto& entry) { return entry.second.done(); });
    return absl::OkStatus();
  }

  // Learns of trials that were created since the last step, by us or by hand.
  absl::Status Discover(const Study& study) {
    if (seen_.value() == 0) return DiscoverAll(study);
    while (seen_ < study.last_event) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> events,
                               context_.studies.ReadEvents(id_, seen_, kEventPage));
      if (events.empty()) return absl::OkStatus();  // Not durable yet.
      for (const Event& event : events) {
        if (!std::holds_alternative<TrialCreated>(event.payload)) continue;
        Add(EventTrial(event.payload), event.time);
      }
      seen_ = events.back().seq;
    }
    return absl::OkStatus();
  }

  absl::Status DiscoverAll(const Study& study) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials, context_.studies.ListTrials(id_));
    for (const Trial& trial : trials) {
      if (!IsFinished(trial.state) || engine::RunsStill(trial)) Add(trial.number, trial.created);
    }
    seen_ = study.last_event;
    return absl::OkStatus();
  }

  void Add(TrialNumber number, absl::Time created) {
    trials_.try_emplace(number, context_, TrialId{id_, number}, created);
  }

  absl::Status Ask(const Study& study) {
    const auto room =
        static_cast<std::int64_t>(study.spec.parallel) - static_cast<std::int64_t>(trials_.size());
    if (!may_start_ || room <= 0) return absl::OkStatus();
    const Caller caller{.actor = context_.options.actor, .request_id = ""};
    const absl::StatusOr<std::vector<Trial>> asked =
        context_.studies.Ask(id_, static_cast<std::size_t>(room), caller, std::stop_token());
    if (asked.ok()) {
      for (const Trial& trial : *asked) Add(trial.number, trial.created);
      return absl::OkStatus();
    }
    return AfterRefusal(asked.status());
  }

  // Spent budgets and exhausted spaces end the study by themselves; an algorithm that cannot go on must not leave it
  // hanging.
  absl::Status AfterRefusal(const absl::Status& status) {
    if (absl::IsInvalidArgument(status) || absl::IsInternal(status)) {
      const Caller caller{.actor = context_.options.actor, .request_id = ""};
      const std::string reason =
          fmt::format("the algorithm cannot go on: {}", std::string(status.message()));
      return context_.studies.Stop(id_, reason, caller).status();
    }
    // Without a reason it is not the study's bounds that are exhausted but the store.
    const bool is_full = absl::IsResourceExhausted(status) && GetReason(status) == Reason::kNone;
    if (is_full || absl::IsUnavailable(status) || absl::IsAborted(status)) return status;
    return absl::OkStatus();
  }

  absl::Status StepRunning() {
    for (auto& [number, trial] : trials_) {
      VERNIER_RETURN_IF_ERROR(trial.Step(*study_, /*may_start=*/false));
    }
    return absl::OkStatus();
  }

  const Context context_;
  const StudyId id_;
  bool is_for_clients_ = false;  // It has no job; it never will.
  bool may_start_ = false;       // New trials, as of this step.
  std::optional<Study> study_;   // As of this step; nothing if there is nothing to do for it.
  EventSeq seen_;
  std::map<TrialNumber, TrialRun> trials_;  // Not ended, in order of number.
};

class EngineImpl final : public Engine {
 public:
  EngineImpl(Studies& studies, Launcher& launcher, const Clock& clock, EngineOptions options)
      : options_(std::move(options)), context_{studies, launcher, clock, options_} {}

  absl::StatusOr<absl::Duration> Step() override {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<StudyId> unfinished, context_.studies.Tick());
    for (const StudyId id : unfinished) runs_.try_emplace(id, context_, id);
    for (auto& [id, run] : runs_) run.BeginReports();
    // What runs, first: its room is for those that wait. These come before new ones.
    for (auto& [id, run] : runs_) VERNIER_RETURN_IF_ERROR(run.Advance());
    VERNIER_RETURN_IF_ERROR(StartWaiting());
    for (auto& [id, run] : runs_) VERNIER_RETURN_IF_ERROR(run.Ask());
    const bool active =
        std::ranges::any_of(runs_, [](const auto& entry) { return !entry.second.empty(); });
    std::erase_if(runs_, [&](const auto& entry) {
      return entry.second.empty() && !std::ranges::binary_search(unfinished, entry.first);
    });
    return active ? kFollowInterval : kIdleInterval;
  }

 private:
  // In the order of the launcher's queue, over all studies: after a restart the launcher does not know who waits, and
  // nobody is to get ahead by being asked first.
  absl::Status StartWaiting() {
    std::vector<std::pair<StudyRun*, TrialRun*>> startable;
    for (auto& [id, run] : runs_) VERNIER_RETURN_IF_ERROR(run.AddStartable(startable));
    std::ranges::sort(startable, {}, [](const auto& entry) {
      const auto& [study, trial] = entry;
      return std::tuple(-study->priority(), trial->created(), trial->id());
    });
    for (const auto& [study, trial] : startable) VERNIER_RETURN_IF_ERROR(study->Start(*trial));
    return absl::OkStatus();
  }

  const EngineOptions options_;
  const Context context_;
  std::map<StudyId, StudyRun> runs_;
};

}  // namespace

std::unique_ptr<Engine> Engine::Create(Studies& studies,
                                       Launcher& launcher,
                                       const Clock& clock,
                                       EngineOptions options) {
  return std::make_unique<EngineImpl>(studies, launcher, clock, std::move(options));
}

}  // namespace vernier
