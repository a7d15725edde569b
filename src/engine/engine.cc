#include "vernier/engine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
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

// One study, and, if it runs its own job, those of its trials that have not ended.
class StudyRun {
 public:
  StudyRun(const Context& context, StudyId id) : context_(context), id_(id) {}

  absl::Status Step() {
    if (is_for_clients_) return absl::OkStatus();
    const absl::StatusOr<Study> study = context_.studies.GetStudy(id_);
    if (absl::IsNotFound(study.status())) return Abandon();
    VERNIER_RETURN_IF_ERROR(study.status());
    is_for_clients_ = !study->spec.job.has_value();
    if (is_for_clients_) return absl::OkStatus();
    const absl::Status stepped = StepJob(*study);
    return absl::IsNotFound(stepped) ? absl::OkStatus() : stepped;  // Deleted under our hands.
  }

  bool empty() const { return trials_.empty(); }

 private:
  absl::Status StepJob(const Study& study) {
    VERNIER_RETURN_IF_ERROR(Discover(study));
    VERNIER_RETURN_IF_ERROR(StepTrials(study, /*may_start=*/false));  // What runs, first:
    std::erase_if(trials_, [](const auto& entry) { return entry.second.done(); });
    VERNIER_RETURN_IF_ERROR(Ask(study));  // its room is for the next.
    VERNIER_RETURN_IF_ERROR(StepTrials(study, /*may_start=*/true));
    return absl::OkStatus();
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
        if (std::holds_alternative<TrialCreated>(event.payload)) Add(EventTrial(event.payload));
      }
      seen_ = events.back().seq;
    }
    return absl::OkStatus();
  }

  absl::Status DiscoverAll(const Study& study) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials, context_.studies.ListTrials(id_));
    for (const Trial& trial : trials) {
      if (!IsFinished(trial.state)) Add(trial.number);
    }
    seen_ = study.last_event;
    return absl::OkStatus();
  }

  void Add(TrialNumber number) { trials_.try_emplace(number, context_, TrialId{id_, number}); }

  absl::Status Ask(const Study& study) {
    const auto room =
        static_cast<std::int64_t>(study.spec.parallel) - static_cast<std::int64_t>(trials_.size());
    if (study.state != StudyState::kActive || room <= 0) return absl::OkStatus();
    const Caller caller{.actor = context_.options.actor, .request_id = ""};
    const absl::StatusOr<std::vector<Trial>> asked =
        context_.studies.Ask(id_, static_cast<std::size_t>(room), caller, std::stop_token());
    if (asked.ok()) {
      for (const Trial& trial : *asked) Add(trial.number);
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

  absl::Status StepTrials(const Study& study, bool may_start) {
    std::int32_t active = 0;
    for (const auto& [number, trial] : trials_) active += trial.active() ? 1 : 0;
    for (auto& [number, trial] : trials_) {
      const bool was_active = trial.active();
      if (may_start && (was_active || active >= study.spec.parallel)) continue;
      VERNIER_RETURN_IF_ERROR(trial.Step(study, may_start));
      if (!was_active && trial.active()) ++active;
    }
    return absl::OkStatus();
  }

  const Context context_;
  const StudyId id_;
  bool is_for_clients_ = false;  // It has no job; it never will.
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
    bool active = false;
    for (auto& [id, run] : runs_) {
      VERNIER_RETURN_IF_ERROR(run.Step());
      active = active || !run.empty();
    }
    std::erase_if(runs_, [&](const auto& entry) {
      return entry.second.empty() && !std::ranges::binary_search(unfinished, entry.first);
    });
    return active ? kFollowInterval : kIdleInterval;
  }

 private:
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
