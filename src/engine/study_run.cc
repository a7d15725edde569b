#include "src/engine/study_run.h"

#include <algorithm>
#include <stop_token>
#include <variant>

#include "fmt/format.h"
#include "src/core/status.h"

namespace vernier::engine {
namespace {

// Bounds what a step holds in memory of a log that grew while nobody looked.
constexpr std::size_t kEventPage = 1000;
// How long a study rests after an error: first, and at most; doubled with each error in a row.
constexpr absl::Duration kFirstRest = absl::Milliseconds(100);
constexpr absl::Duration kLongestRest = absl::Seconds(5);

// The study may be deleted at any time. The next Refresh notices.
absl::Status UnlessDeleted(const absl::Status& status) {
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace

void StudyRun::Touch(TrialNumber trial) {
  const auto at = trials_.find(trial);
  if (at == trials_.end()) return;
  SetDue(trial, at->second, absl::InfinitePast());
  if (waiting_.contains(trial)) has_new_waiting_ = true;
}

void StudyRun::Note(const absl::Status& status) {
  if (error_.ok()) error_ = status;
}

void StudyRun::Conclude(absl::Time now) {
  if (is_resting_) return;
  if (error_.ok()) {
    trouble_.reset();
    return;
  }
  // Errors in a row are one trouble: it keeps its beginning, and the rests get longer.
  const absl::Time since = trouble_.has_value() ? trouble_->since : now;
  rest_ = trouble_.has_value() ? std::min(2 * rest_, kLongestRest) : kFirstRest;
  trouble_ = StudyTrouble{.study = id_,
                          .name = name_,
                          .error = std::exchange(error_, {}),
                          .since = since,
                          .next_try = now + rest_};
  // Any part of the step may have been skipped, so all of it is done again after the rest.
  is_touched_ = true;
  has_new_waiting_ = true;
}

void StudyRun::BeginReports() {
  if (is_resting_) return;
  for (const TrialNumber number : polled_) trials_.at(number).run.BeginReport();
}

absl::Status StudyRun::Advance(bool polls) {
  is_resting_ = trouble_.has_value() && context_.clock.Now() < trouble_->next_try;
  if (is_for_clients_ || is_resting_) return absl::OkStatus();
  if (is_touched_) VERNIER_RETURN_IF_ERROR(Refresh());
  if (is_deleted_) return Abandon();
  if (study_ == nullptr) return absl::OkStatus();
  // `EngineOptions::runs` may change its answer without any event.
  if (const bool may_start = MayStart(); may_start != may_start_) {
    may_start_ = may_start;
    has_new_waiting_ = true;
  }
  return UnlessDeleted(StepDue(polls));
}

absl::Status StudyRun::Refresh() {
  absl::StatusOr<Study> study = context_.studies.GetStudy(id_);
  if (absl::IsNotFound(study.status())) {
    is_deleted_ = true;
    is_touched_ = false;
    study_ = nullptr;
    return absl::OkStatus();
  }
  VERNIER_RETURN_IF_ERROR(study.status());
  name_ = study->spec.name;
  is_for_clients_ = !study->spec.job.has_value();
  is_touched_ = is_touched_ && !is_for_clients_;
  if (is_for_clients_) return absl::OkStatus();
  study_ = std::make_shared<const Study>(*std::move(study));
  VERNIER_RETURN_IF_ERROR(UnlessDeleted(Discover()));
  is_touched_ = false;
  return absl::OkStatus();
}

bool StudyRun::MayStart() const {
  const auto& runs = context_.options.runs;
  return study_->state == StudyState::kActive && (!runs || runs(study_->spec.name));
}

absl::Status StudyRun::AddStartable(bool polls,
                                    std::vector<std::pair<StudyRun*, TrialRun*>>& startable) {
  if (!has_job() || waiting_.empty()) return absl::OkStatus();
  // A launcher that reports changes touches the trials that may be placed now. Any other is asked at each poll.
  if (context_.launcher_tells ? !has_new_waiting_ : !polls && !has_new_waiting_) {
    return absl::OkStatus();
  }
  has_new_waiting_ = false;
  // The bound counts what holds room already. Of the rest the oldest come first.
  std::int64_t room = may_start_ ? study_->spec.parallel : 0;
  room -= static_cast<std::int64_t>(trials_.size() - waiting_.size());
  for (const TrialNumber number : waiting_) {
    TrialRun& trial = trials_.at(number).run;
    if (room-- > 0) {
      startable.emplace_back(this, &trial);
    } else {
      VERNIER_RETURN_IF_ERROR(trial.LeaveQueue());
    }
  }
  return absl::OkStatus();
}

absl::Status StudyRun::Start(TrialRun& trial) {
  if (!has_job()) return absl::OkStatus();
  // Copied, since File destroys a trial that is done.
  const TrialNumber number = trial.id().number;
  absl::Status started = UnlessDeleted(trial.Step(*study_, /*may_start=*/true));
  File(number);
  if (!started.ok()) Touch(number);
  return started;
}

absl::Status StudyRun::Ask() {
  if (!has_job()) return absl::OkStatus();
  const std::size_t before = trials_.size();
  if (MayAsk()) BeginAsk();
  // In the same step: without an executor the answer is there already.
  VERNIER_RETURN_IF_ERROR(UnlessDeleted(TakeAsked()));
  if (trials_.size() == before) return absl::OkStatus();
  std::vector<std::pair<StudyRun*, TrialRun*>> startable;
  VERNIER_RETURN_IF_ERROR(AddStartable(/*polls=*/true, startable));
  for (const auto& [study, trial] : startable) VERNIER_RETURN_IF_ERROR(Start(*trial));
  return absl::OkStatus();
}

bool StudyRun::MayAsk() const {
  const bool has_room = std::ssize(trials_) < study_->spec.parallel;
  return asking_ == nullptr && may_start_ && has_room && refused_at_ != study_->last_event;
}

void StudyRun::BeginAsk() {
  const auto room = static_cast<std::size_t>(study_->spec.parallel - std::ssize(trials_));
  const Caller caller{.actor = context_.options.actor, .request_id = ""};
  asking_ = std::make_shared<Asking>();
  context_.tasks.Run([&studies = context_.studies,
                      &news = context_.news,
                      id = id_,
                      room,
                      caller,
                      asking = asking_](const std::stop_token& stop, const Tasks::Done& done) {
    asking->outcome = studies.Ask(id, room, caller, stop);
    // Before the news, so that the step that they bring finds the answer.
    asking->told.Notify();
    news.Add(id);
    done();
  });
}

absl::Status StudyRun::TakeAsked() {
  if (asking_ == nullptr || !asking_->told.HasBeenNotified()) return absl::OkStatus();
  const std::shared_ptr<Asking> asked = std::exchange(asking_, nullptr);
  if (!asked->outcome.ok()) return AfterRefusal(asked->outcome.status());
  for (const Trial& trial : *asked->outcome) Add(trial.number, trial.created);
  return absl::OkStatus();
}

// What a refused request for trials means. Spent budgets and exhausted spaces end the study by themselves. An algorithm
// that cannot go on would leave it hanging, so the study is stopped here.
absl::Status StudyRun::AfterRefusal(const absl::Status& status) {
  if (absl::IsInvalidArgument(status) || absl::IsInternal(status)) {
    const Caller caller{.actor = context_.options.actor, .request_id = ""};
    const std::string reason =
        fmt::format("the algorithm cannot go on: {}", std::string(status.message()));
    return context_.studies.Stop(id_, reason, caller).status();
  }
  // Without a reason it is not the study's bounds that are exhausted but the store.
  const bool is_full = absl::IsResourceExhausted(status) && GetReason(status) == Reason::kNone;
  if (is_full || absl::IsUnavailable(status) || absl::IsAborted(status)) return status;
  // The study itself gives no more trials now. Only an event can change that, so there is no rest
  // and no trouble.
  refused_at_ = study_->last_event;
  return absl::OkStatus();
}

bool StudyRun::is_over() const {
  // The answer to a request may still bring trials.
  if (!trials_.empty() || asking_ != nullptr || is_touched_) return false;
  return is_deleted_ || is_for_clients_ || (study_ != nullptr && IsFinished(study_->state));
}

bool StudyRun::is_polled() const {
  return !polled_.empty() || (!waiting_.empty() && !context_.launcher_tells) ||
         (is_deleted_ && !trials_.empty());
}

absl::Time StudyRun::due() const {
  if (trouble_.has_value()) return trouble_->next_try;
  if (is_for_clients_) return absl::InfiniteFuture();
  if (is_touched_) return absl::InfinitePast();
  return due_.empty() ? absl::InfiniteFuture() : due_.begin()->first;
}

absl::Status StudyRun::Abandon() {
  absl::Status first;
  for (auto& [number, entry] : trials_) first.Update(entry.run.Abandon());
  // Filed in a second pass, since File removes from `trials_`.
  std::vector<TrialNumber> numbers;
  for (const auto& [number, entry] : trials_) numbers.push_back(number);
  for (const TrialNumber number : numbers) File(number);
  return first;
}

// Learns of trials that were created since the last step, by us or by hand, and of news of those that are known.
absl::Status StudyRun::Discover() {
  if (seen_.value() == 0) return DiscoverAll();
  while (seen_ < study_->last_event) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> events,
                             context_.studies.ReadEvents(id_, seen_, kEventPage));
    if (events.empty()) return absl::OkStatus();  // Not durable yet.
    for (const Event& event : events) {
      const TrialNumber number = EventTrial(event.payload);
      if (std::holds_alternative<TrialCreated>(event.payload) ||
          std::holds_alternative<ResumeDecided>(event.payload)) {
        Add(number, event.time);
      } else if (number.value() == 0) {
        // A change of the study, such as a pause or an amendment, may concern each of its trials.
        SetAllDue();
      } else if (const auto at = trials_.find(number); at != trials_.end()) {
        at->second.run.Touch();
        Touch(number);
      }
    }
    seen_ = events.back().seq;
  }
  return absl::OkStatus();
}

absl::Status StudyRun::DiscoverAll() {
  // At the first look: the whole log of a long study takes too long to read, and ended trials need nothing.
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials, context_.moves.ListTrialsAtWork(id_));
  for (const Trial& trial : trials) Add(trial.number, trial.created);
  // The study was read before the trials, so an event in between is seen twice rather than missed.
  seen_ = study_->last_event;
  return absl::OkStatus();
}

void StudyRun::Add(TrialNumber number, absl::Time created) {
  const auto [at, is_new] =
      trials_.try_emplace(number, Entry{.run = TrialRun(context_, TrialId{id_, number}, created)});
  if (!is_new) return;
  due_.emplace(at->second.due, number);
  waiting_.insert(number);
  has_new_waiting_ = true;
}

void StudyRun::SetDue(TrialNumber number, Entry& entry, absl::Time due) {
  if (entry.due == due) return;
  due_.erase({entry.due, number});
  entry.due = due;
  due_.emplace(due, number);
}

void StudyRun::SetAllDue() {
  for (auto& [number, entry] : trials_) SetDue(number, entry, absl::InfinitePast());
  has_new_waiting_ = true;
}

// Steps each trial that is due, whatever becomes of the others.
absl::Status StudyRun::StepDue(bool polls) {
  const absl::Time now = context_.clock.Now();
  // Collected first, since File changes both sets.
  std::set<TrialNumber> numbers;
  if (polls) numbers = polled_;
  for (const auto& [due, number] : due_) {
    if (due > now) break;
    numbers.insert(number);
  }
  absl::Status first;
  for (const TrialNumber number : numbers) {
    Entry& entry = trials_.at(number);
    // Waiting trials that may start are stepped in the order of the queue (Start). Here they only
    // find out whether to wait on.
    const absl::Status stepped = entry.run.Step(*study_, /*may_start=*/false);
    File(number);
    if (stepped.ok() || absl::IsNotFound(stepped)) continue;
    Touch(number);
    first.Update(stepped);
  }
  return first;
}

void StudyRun::File(TrialNumber number) {
  const auto at = trials_.find(number);
  if (at == trials_.end()) return;
  Entry& entry = at->second;
  const bool waited = waiting_.erase(number) > 0;
  polled_.erase(number);
  if (entry.run.done()) {
    due_.erase({entry.due, number});
    trials_.erase(at);
    has_new_waiting_ = true;  // For the room that it leaves.
    return;
  }
  if (!entry.run.active()) {
    waiting_.insert(number);
    has_new_waiting_ = has_new_waiting_ || !waited;
  }
  if (entry.run.is_polled()) polled_.insert(number);
  SetDue(number, entry, entry.run.next_limit());
}

}  // namespace vernier::engine
