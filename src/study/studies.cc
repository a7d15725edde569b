// Life of a study as a whole: creation, amendment, states, deletion; and which studies are in
// memory.
//
// Studies are loaded when they are first used, and leave memory when they are not (ReleaseUnused).
// Reads of a study that is not in memory are answered from its row, which an unfinished study
// updates with each change.
//
// `mu_` guards tables only. No LiveStudy is called and nothing is read from the store while it is
// held, so a table may be out of date when its lock is released; each place that acts on it checks
// again.

#include "vernier/studies.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "src/codec/json_text.h"
#include "src/codec/study_file.h"
#include "src/core/damage.h"
#include "src/core/limit_checks.h"
#include "src/core/objectives.h"
#include "src/core/outcome_constraint.h"
#include "src/core/status.h"
#include "src/study/problem.h"
#include "src/study/replay.h"
#include "src/study/studies_impl.h"
#include "src/study/warm_start.h"
#include "vernier/core/limits.h"

namespace vernier {

std::unique_ptr<Studies> Studies::Create(Storage& storage,
                                         const Clock& clock,
                                         AlgorithmCatalogue algorithms) {
  return std::make_unique<study::StudiesImpl>(storage, clock, std::move(algorithms));
}

namespace study {
namespace {

// Number of events that a replay reads at a time. A choice.
constexpr std::size_t kReplayPage = 500;

// Time that an unused study stays in memory: the short one after its end, or while there are more
// studies or rows of trials (about 3 KiB each) than the two bounds below say; the long one
// otherwise. Choices.
constexpr absl::Duration kShortRest = absl::Minutes(1);
constexpr absl::Duration kLongRest = absl::Minutes(10);
constexpr std::size_t kMostFolds = 500;
constexpr std::int64_t kMostRows = 150'000;

absl::Status IsTaken(const std::string& name) {
  return WithReason(AlreadyExists("there is already a study '{}'", name), Reason::kStudyExists);
}

// Checked for new studies only: older stores may hold one without parameters.
absl::Status CheckHasParameters(const StudySpec& spec) {
  if (spec.objectives.empty() || spec.foreign.has_value()) return absl::OkStatus();
  if (!spec.space.parameters().empty()) return absl::OkStatus();
  return FieldError("parameters",
                    "must name at least one parameter to tune, such as lr: {float: [1e-5, 0.1], "
                    "scale: log}; a job that is run once leaves out objective and parameters");
}

// A reply carries a definition together with the metadata of its study, and must stay below the
// size of a message. What a client of another service wrote has a bound of its own.
absl::Status CheckDefinitionSize(StudySpec spec) {
  spec.foreign.reset();
  const std::size_t size = codec::ToText(codec::StudySpecToJson(spec)).size();
  if (size <= limits::kDefinition) return absl::OkStatus();
  return FieldError(
      "study",
      fmt::format(
          "the definition must have at most {} bytes as JSON, got {}", limits::kDefinition, size));
}

// A study from before the bound may have more. It may keep that, and replace it by less.
absl::Status CheckMetadataSize(const Metadata& before,
                               const Metadata& change,
                               std::string_view owner,
                               std::size_t most) {
  Metadata after = before;
  Merge(change, after);
  const std::size_t size = SizeOf(after);
  if (size <= most || size <= SizeOf(before)) return absl::OkStatus();
  return FieldError("metadata",
                    fmt::format("of {} must have at most {} bytes, got {}", owner, most, size));
}

class Listening final : public Studies::Subscription {
 public:
  Listening(std::shared_ptr<Listeners> listeners, Listeners::Changed changed)
      : listeners_(std::move(listeners)), number_(listeners_->Add(std::move(changed))) {}
  ~Listening() override { listeners_->Remove(number_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  const std::shared_ptr<Listeners> listeners_;  // With the studies.
  const std::uint64_t number_;
};

}  // namespace

absl::Status NoStudy(absl::Status status, std::string_view what) {
  if (!absl::IsNotFound(status)) return status;
  return WithReason(NotFound("there is no study {}", what), Reason::kStudyNotFound);
}

StudiesImpl::Live StudiesImpl::FindAtHand(StudyId id) const {
  absl::MutexLock lock(&mu_);
  const auto at = live_.find(id);
  return at == live_.end() ? nullptr : at->second;
}

// Marks the study as used, which restarts the time that it stays in memory.
absl::StatusOr<StudiesImpl::Live> StudiesImpl::Find(StudyId id) const {
  VERNIER_ASSIGN_OR_RETURN(Live live, FindUnused(id));
  live->MarkUsed(clock_.Now());
  return live;
}

absl::StatusOr<StudiesImpl::Live> StudiesImpl::FindToRead(StudyId id) const {
  {
    absl::MutexLock lock(&mu_);
    const auto at = live_.find(id);
    if (at != live_.end()) return at->second;
    // Unfinished, but released: nothing changes it, so that its row says all.
    if (resting_.contains(id)) return nullptr;
  }
  const absl::StatusOr<Study> stored = storage_.GetStudy(id);
  if (!stored.ok()) return NoStudy(stored.status(), fmt::format("{}", id.value()));
  // An unfinished study is loaded: its leases and its time may run out.
  if (IsFinished(stored->state)) return nullptr;
  return FindUnused(id);
}

std::vector<StudiesImpl::InMemory> StudiesImpl::ListInMemory() const {
  std::vector<InMemory> all;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [id, live] : live_) all.push_back({.id = id, .live = live, .fold = {}});
  }
  // Outside of mu_, as fold() takes the lock of the study.
  for (InMemory& each : all) each.fold = each.live->fold();
  std::ranges::sort(all, {}, [](const InMemory& each) { return each.fold.used; });
  return all;
}

std::size_t StudiesImpl::CountInMemory() const {
  absl::MutexLock lock(&mu_);
  return static_cast<std::size_t>(
      std::ranges::count_if(live_, [](const auto& entry) { return entry.second->is_loaded(); }));
}

std::int64_t StudiesImpl::CountRowsInMemory() const {
  std::int64_t rows = 0;
  for (const InMemory& each : ListInMemory()) rows += each.fold.rows;
  return rows;
}

void StudiesImpl::ReleaseUnused() {
  const absl::Time now = clock_.Now();
  const std::vector<InMemory> all = ListInMemory();
  std::size_t count = all.size();
  std::int64_t rows = 0;
  for (const InMemory& each : all) rows += each.fold.rows;
  for (const InMemory& each : all) {
    // Both sums shrink with every study released, so that no more leave than have to.
    const bool is_much = count > kMostFolds || rows > kMostRows;
    const bool is_brief = each.fold.is_finished || !each.fold.is_loaded || is_much;
    const absl::Duration unused = now - each.fold.used;
    // Release refuses while the study must stay (LiveStudy::MayRest).
    if (unused < (is_brief ? kShortRest : kLongRest) || !each.live->Release()) continue;
    --count;
    rows -= each.fold.rows;
    Forget(each);
  }
}

void StudiesImpl::Forget(const InMemory& released) {
  // Owners of a study that nobody else uses: the map, and `released`.
  constexpr std::int64_t kOwners = 2;
  absl::MutexLock lock(&mu_);
  const auto at = live_.find(released.id);
  if (at == live_.end() || at->second != released.live) return;
  // A call that found the study before this lock was taken may be about to load it.
  if (released.live.use_count() > kOwners || released.live->is_loaded()) return;
  live_.erase(at);
  // Tick passes over it from now on, instead of loading it again at once.
  if (unfinished_.has_value() && unfinished_->contains(released.id)) resting_.insert(released.id);
}

absl::StatusOr<StudiesImpl::Live> StudiesImpl::FindUnused(StudyId id) const {
  {
    absl::MutexLock lock(&mu_);
    const auto at = live_.find(id);
    if (at != live_.end()) return at->second;
  }
  const absl::Status stored = storage_.GetStudy(id).status();
  if (!stored.ok()) return NoStudy(stored, fmt::format("{}", id.value()));
  absl::MutexLock lock(&mu_);
  // Looked up again: another call may have added it while the row was read.
  Live& live = live_[id];
  if (live == nullptr) {
    live = std::make_shared<LiveStudy>(
        storage_, clock_, algorithms_, listeners_, commits_, id, snapshot_interval_);
    live->MarkUsed(clock_.Now());
    resting_.erase(id);
  }
  return live;
}

absl::StatusOr<Study> StudiesImpl::ChangeStudy(StudyId id,
                                               const Caller& caller,
                                               LiveStudy::Decide decide) {
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  Study answer;
  // Settle comes last: the change may have been the one that ends the study.
  const auto change = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(decide(draft, transient));
    Settle(draft, transient);
    answer = draft.study();
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Change(caller, change));
  return answer;
}

absl::Status StudiesImpl::CheckSpec(const StudySpec& spec) const {
  VERNIER_RETURN_IF_ERROR(CheckLimits(spec));
  VERNIER_RETURN_IF_ERROR(CheckDefinitionSize(spec));
  VERNIER_RETURN_IF_ERROR(Validate(spec));
  VERNIER_RETURN_IF_ERROR(CheckHasParameters(spec));
  VERNIER_RETURN_IF_ERROR(CheckOutcomeConstraints(spec));
  // The algorithm says here whether it accepts a warm start. The trials themselves are read later,
  // in Founded.
  std::vector<EarlierStudy> named;
  for (const std::string& name : spec.warm_start) named.push_back({.name = name, .trials = {}});
  VERNIER_ASSIGN_OR_RETURN(
      const std::unique_ptr<Optimizer> optimizer,
      algorithms_.NewOptimizer(spec.algorithm, ProblemOf(spec, std::move(named))));
  if (spec.convergence.has_value() && !optimizer->has_model()) {
    return FieldError("convergence",
                      fmt::format("algorithm '{}' does not tell what is left to gain, gp does",
                                  spec.algorithm.name));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<EarlyStopper> stopper,
                           algorithms_.NewEarlyStopper(spec.stopping, FirstObjective(spec).goal));
  const bool is_pausable = spec.job.has_value() && spec.job->pausable;
  if (stopper == nullptr || !stopper->needs_pausing() || is_pausable) return absl::OkStatus();
  return FieldError("stopping",
                    fmt::format("rule '{}' with these options needs trials that can be paused, and "
                                "job.pausable is not true",
                                spec.stopping.name));
}

absl::StatusOr<StudyCreated> StudiesImpl::Founded(const StudySpec& spec) const {
  VERNIER_ASSIGN_OR_RETURN(Inheritance inheritance, Inheritance::Create(spec));
  for (std::size_t i = 0; i < spec.warm_start.size(); ++i) {
    const absl::Status taken = TakeOver(spec.warm_start[i], inheritance);
    if (absl::IsInvalidArgument(taken) || absl::IsNotFound(taken)) {
      // The message names the entry of the list that is wrong. Errors of the store stay as they
      // are.
      return FieldError(fmt::format("warm_start[{}]", i), std::string(taken.message()));
    }
    VERNIER_RETURN_IF_ERROR(taken);
  }
  return std::move(inheritance).Take();
}

absl::Status StudiesImpl::TakeOver(std::string_view name, Inheritance& inheritance) const {
  VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudyId(name));
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  return live->Read([&](const StudyFold& fold, const Transient& transient) -> absl::Status {
    // A warm start takes the rows of trials that have ended, which a snapshot leaves to the store.
    VERNIER_RETURN_IF_ERROR(fold.NeedLog());
    return inheritance.Add(fold, transient.optimizer.ok() ? transient.optimizer->get() : nullptr);
  });
}

// A flag under a mutex instead of a mutex: a turn lasts while the store is read and written, and no
// lock is held across that (Invariant 7).
StudiesImpl::Turn::Turn(StudiesImpl& studies) : studies_(studies) {
  absl::MutexLock lock(&studies_.turn_mu_);
  studies_.turn_mu_.Await(absl::Condition(
      +[](bool* taken) { return !*taken; }, &studies_.turn_taken_));
  studies_.turn_taken_ = true;
}

StudiesImpl::Turn::~Turn() {
  absl::MutexLock lock(&studies_.turn_mu_);
  studies_.turn_taken_ = false;
}

absl::StatusOr<Study> StudiesImpl::CreateStudy(const StudySpec& spec, const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  VERNIER_RETURN_IF_ERROR(CheckSpec(spec));
  const Turn turn(*this);
  // A repeated request is answered before the name is found taken, by the study that it created
  // itself.
  VERNIER_ASSIGN_OR_RETURN(std::optional<Study> before, FindCreated(spec, caller));
  if (before.has_value()) return *std::move(before);
  VERNIER_ASSIGN_OR_RETURN(StudyCreated founded, Founded(spec));
  const Event created{.seq = EventSeq(1),
                      .time = clock_.Now(),
                      .actor = caller.actor,
                      .request_id = caller.request_id,
                      .payload = std::move(founded)};
  // The store decides whether the name is free, in the transaction that inserts the study.
  absl::StatusOr<Study> study = storage_.CreateStudy(created);
  if (absl::IsAlreadyExists(study.status())) return IsTaken(spec.name);
  VERNIER_RETURN_IF_ERROR(study.status());
  if (creations_.has_value() && !caller.request_id.empty()) {
    creations_->emplace(caller.request_id, study->id);
  }
  {
    absl::MutexLock lock(&mu_);
    ids_.insert_or_assign(spec.name, study->id);
    if (unfinished_.has_value()) unfinished_->insert(study->id);
  }
  // Loaded before anybody is told of it, so that the engine finds it in memory at once.
  const absl::StatusOr<Live> live = FindUnused(study->id);
  const auto look = [](const StudyFold&, const Transient&) { return absl::OkStatus(); };
  if (live.ok()) (*live)->Read(look).IgnoreError();
  listeners_->Tell(study->id);
  return study;
}

absl::StatusOr<Study> StudiesImpl::PreviewStudy(const StudySpec& spec) const {
  VERNIER_RETURN_IF_ERROR(CheckSpec(spec));
  if (FindStudyId(spec.name).ok()) return IsTaken(spec.name);
  VERNIER_ASSIGN_OR_RETURN(StudyCreated founded, Founded(spec));
  const Event created{.seq = EventSeq(1), .time = clock_.Now(), .payload = std::move(founded)};
  // The same fold as of a real creation, from an event that is never stored.
  VERNIER_ASSIGN_OR_RETURN(const StudyFold fold, StudyFold::Start(StudyId(), created));
  return fold.header();
}

absl::StatusOr<std::optional<Study>> StudiesImpl::FindCreated(const StudySpec& spec,
                                                              const Caller& caller) {
  if (caller.request_id.empty()) return std::nullopt;
  VERNIER_RETURN_IF_ERROR(LoadCreations());
  // The request id of a creation is in the first event of the study that it created, so the map is
  // built from the first events of all studies, once.
  const auto at = creations_->find(caller.request_id);
  if (at == creations_->end()) return std::nullopt;
  const absl::StatusOr<std::vector<Event>> events = storage_.ReadEvents(at->second, EventSeq(0), 1);
  if (absl::IsNotFound(events.status())) {  // Deleted since: the request may be made anew.
    creations_->erase(at);
    return std::nullopt;
  }
  VERNIER_RETURN_IF_ERROR(events.status());
  // Compared with the definition as it was created: amendments since do not make it another
  // request.
  const auto* created = std::get_if<StudyCreated>(&events->front().payload);
  if (created == nullptr || !(created->spec == spec)) return RequestReused(caller);
  VERNIER_ASSIGN_OR_RETURN(Study study, GetStudy(at->second));
  return study;
}

absl::Status StudiesImpl::LoadCreations() {
  if (creations_.has_value()) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Study> studies, ListStudies());
  absl::flat_hash_map<std::string, StudyId> creations;
  for (const Study& study : studies) {
    const absl::StatusOr<std::vector<Event>> events = storage_.ReadEvents(study.id, EventSeq(0), 1);
    if (absl::IsNotFound(events.status())) continue;
    if (absl::IsDataLoss(events.status())) continue;  // Its name is taken all the same.
    VERNIER_RETURN_IF_ERROR(events.status());
    if (events->empty()) continue;
    const std::string& request_id = events->front().request_id;
    if (!request_id.empty()) creations.emplace(request_id, study.id);
  }
  // Assigned at the end, so that an error above leaves it unset, and the next creation tries again.
  creations_ = std::move(creations);
  return absl::OkStatus();
}

absl::StatusOr<Study> StudiesImpl::GetStudy(StudyId id) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, FindToRead(id));
  if (live == nullptr) return ReadRow(id);
  Study answer;
  const auto look = [&](const StudyFold& fold, const Transient&) {
    answer = fold.header();
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look));
  return answer;
}

absl::StatusOr<Study> StudiesImpl::ReadRow(StudyId id) const {
  absl::StatusOr<Study> study = storage_.GetStudy(id);
  if (!study.ok()) return NoStudy(study.status(), fmt::format("{}", id.value()));
  return study;
}

absl::StatusOr<Study> StudiesImpl::FindStudy(std::string_view name) const {
  VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudyId(name));
  return GetStudy(id);
}

absl::StatusOr<StudyId> StudiesImpl::FindStudyId(std::string_view name) const {
  {
    absl::MutexLock lock(&mu_);
    // Ids never change and are not reused, so that a name that is known needs no look into the
    // store.
    const auto at = ids_.find(name);
    if (at != ids_.end()) return at->second;
  }
  const absl::StatusOr<Study> stored = storage_.GetStudyByName(name);
  if (!stored.ok()) return NoStudy(stored.status(), fmt::format("'{}'", name));
  absl::MutexLock lock(&mu_);
  // Since the store was asked, the study may have been deleted and another one created under its
  // name. Then the map has the id of the new one, which try_emplace leaves in place.
  return ids_.try_emplace(std::string(name), stored->id).first->second;
}

absl::StatusOr<std::shared_ptr<const StudySpec>> StudiesImpl::GetDefinition(StudyId id) const {
  const Live live = FindAtHand(id);
  // The row has the same definition, and reading it waits for no load.
  if (live == nullptr || !live->is_loaded()) {
    VERNIER_ASSIGN_OR_RETURN(Study study, ReadRow(id));
    return std::make_shared<const StudySpec>(std::move(study.spec));
  }
  return live->Definition();
}

absl::StatusOr<std::shared_ptr<const StudySpec>> StudiesImpl::GetDefinition(
    StudyId id, EventSeq defined_by) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  return live->Definition(defined_by);
}

absl::Status StudiesImpl::ScanReadable(StudyId after,
                                       const std::function<bool(Study)>& visit) const {
  VERNIER_ASSIGN_OR_RETURN(std::vector<StudyKey> keys, storage_.ListStudyKeys());
  std::ranges::sort(keys, {}, &StudyKey::id);
  for (const auto& [id, name] : keys) {
    // ListStudies fails for a whole page if one row of it is damaged. Here each row is read by
    // itself, and those that are damaged are noted and left out.
    if (id <= after) continue;
    absl::StatusOr<Study> study = storage_.GetStudy(id);
    if (absl::IsNotFound(study.status())) continue;  // Deleted meanwhile.
    if (!study.ok() && !absl::IsDataLoss(study.status())) return study.status();
    NoteDamage(id, name, study.status());
    if (study.ok() && !visit(*std::move(study))) return absl::OkStatus();
  }
  return absl::OkStatus();
}

void StudiesImpl::NoteDamage(StudyId id, const std::string& name, const absl::Status& error) const {
  absl::MutexLock lock(&mu_);
  if (!absl::IsDataLoss(error)) {
    damaged_.erase(id);
    return;
  }
  const absl::Time now = clock_.Now();
  const auto [at, is_new] = damaged_.try_emplace(id);
  // `since` stays that of the first time.
  if (is_new) at->second.study = {.id = id, .name = name, .error = error, .since = now};
  at->second.study.error = error;
  at->second.looked = now;
}

bool StudiesImpl::IsDamaged(StudyId id, absl::Time now) const {
  // A choice. A clock that was put back (`now` before `looked`) does not prolong it.
  constexpr absl::Duration kRest = absl::Minutes(1);
  absl::MutexLock lock(&mu_);
  const auto at = damaged_.find(id);
  return at != damaged_.end() && now >= at->second.looked && now < at->second.looked + kRest;
}

std::vector<DamagedStudy> StudiesImpl::DamagedStudies() const {
  absl::MutexLock lock(&mu_);
  std::vector<DamagedStudy> damaged;
  for (const auto& [id, damage] : damaged_) damaged.push_back(damage.study);
  return damaged;
}

StudyDurations StudiesImpl::RecentTimes() const {
  const absl::Time now = clock_.Now();
  return {.suggestions = suggestions_.Of(now), .commits = commits_.Of(now)};
}

absl::Status StudiesImpl::ScanStudies(StudyId after,
                                      const std::function<bool(Study)>& visit) const {
  constexpr std::size_t kStudies = 100;
  while (true) {
    absl::StatusOr<std::vector<Study>> page = storage_.ListStudies(after, kStudies);
    if (absl::IsDataLoss(page.status())) return ScanReadable(after, visit);
    VERNIER_RETURN_IF_ERROR(page.status());
    const bool is_last = page->size() < kStudies;
    for (Study& study : *page) {
      after = study.id;
      if (!visit(std::move(study))) return absl::OkStatus();
    }
    if (is_last) return absl::OkStatus();
  }
}

absl::StatusOr<std::vector<Study>> StudiesImpl::ListStudies() const {
  std::vector<Study> all;
  VERNIER_RETURN_IF_ERROR(ScanStudies(StudyId(0), [&](Study study) {
    all.push_back(std::move(study));
    return true;
  }));
  return all;
}

absl::StatusOr<Study> StudiesImpl::Pause(StudyId id, const Caller& caller) {
  return ChangeStudy(id, caller, [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kPause));
    if (repeated != nullptr) return absl::OkStatus();
    const Study& study = draft.study();
    VERNIER_RETURN_IF_ERROR(CheckMove(StudyTitle(study), study.state, StudyState::kPaused));
    draft.Add(StudyStateChanged{study.state, StudyState::kPaused, "paused by " + caller.actor});
    return absl::OkStatus();
  });
}

absl::StatusOr<Study> StudiesImpl::Resume(StudyId id, const Caller& caller) {
  return ChangeStudy(id, caller, [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kResume));
    if (repeated != nullptr) return absl::OkStatus();
    const Study& study = draft.study();
    // A study that has ended is extended by an amendment, not resumed.
    if (study.state != StudyState::kPaused) {
      return WithReason(FailedPrecondition("{} is {}: only a paused study can be resumed",
                                           StudyTitle(study),
                                           StudyStateName(study.state)),
                        Reason::kIllegalTransition);
    }
    draft.Add(StudyStateChanged{study.state, StudyState::kActive, ""});
    return absl::OkStatus();
  });
}

absl::StatusOr<Study> StudiesImpl::Stop(StudyId id, std::string_view reason, const Caller& caller) {
  return End(id, reason, StudyState::kCancelled, caller);
}

absl::StatusOr<Study> StudiesImpl::Finish(StudyId id,
                                          std::string_view reason,
                                          const Caller& caller) {
  return End(id, reason, StudyState::kCompleted, caller);
}

absl::StatusOr<Study> StudiesImpl::End(StudyId id,
                                       std::string_view reason,
                                       StudyState ending,
                                       const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckLength("reason", reason, limits::kMessage));
  const Verb verb = ending == StudyState::kCancelled ? Verb::kStopStudy : Verb::kFinishStudy;
  const std::string why = reason.empty() ? "stopped by " + caller.actor : std::string(reason);
  return ChangeStudy(id, caller, [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, verb));
    if (repeated != nullptr) return absl::OkStatus();
    const Study& study = draft.study();
    VERNIER_RETURN_IF_ERROR(CheckMove(StudyTitle(study), study.state, StudyState::kStopping));
    AddStudyStop(draft, why, ending);
    return absl::OkStatus();
  });
}

// An amendment of bounds and labels alone is possible even where this version does not know the
// study's algorithm or rule. So CheckSpec, which constructs them, is left out.
absl::Status StudiesImpl::CheckPlan(const AmendmentPlan& plan) const {
  return plan.amended.definition.has_value() ? CheckSpec(plan.spec) : Validate(plan.spec);
}

absl::StatusOr<Study> StudiesImpl::Amend(StudyId id,
                                         const Amendment& change,
                                         const Caller& caller) {
  const auto amend = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kAmend));
    // A repeated amendment is compared by its effect, not by its text: two files may say the same.
    if (repeated != nullptr) {
      return IsRepeated(draft.fold(), *repeated->amended, change) ? absl::OkStatus()
                                                                  : RequestReused(caller);
    }
    VERNIER_ASSIGN_OR_RETURN(AmendmentPlan plan, PlanAmendment(draft.fold(), change, draft.now()));
    VERNIER_RETURN_IF_ERROR(CheckPlan(plan));
    // Both cases look at all trials, whose rows a snapshot leaves to the store. They ask for the
    // log before the first event, since a change that has begun cannot ask for more
    // (LiveStudy::BeginLocked).
    const bool forgets = plan.amended.fixed && draft.study().completed == 0;
    if (forgets || plan.spec.convergence != draft.study().spec.convergence) {
      VERNIER_RETURN_IF_ERROR(draft.fold().NeedLog());
    }
    const bool is_rule_changed = plan.spec.stopping != draft.study().spec.stopping;
    // After a fix, points of failed trials may be proposed again. An extended study is asked once
    // more.
    if (plan.extends || plan.amended.fixed) transient.exhausted.clear();
    draft.Add(std::move(plan.amended));
    // That the study becomes active, and what Settle adds, follows from the amendment by the rules.
    draft.BeginConsequences();
    if (plan.extends) {
      draft.Add(StudyStateChanged{.from = draft.study().state,
                                  .to = StudyState::kActive,
                                  .reason = "extended by " + caller.actor});
    }
    if (is_rule_changed) {
      transient.stopper =
          algorithms_.NewEarlyStopper(plan.spec.stopping, FirstObjective(plan.spec).goal);
    }
    return absl::OkStatus();
  };
  VERNIER_ASSIGN_OR_RETURN(Study study, ChangeStudy(id, caller, amend));
  if (IsFinished(study.state)) return study;
  absl::MutexLock lock(&mu_);
  // A Tick that looked before may be about to note this study as finished; the counter tells it
  // that it must not (Load).
  ++extensions_;
  if (unfinished_.has_value()) unfinished_->insert(id);
  return study;
}

absl::StatusOr<Study> StudiesImpl::PreviewAmendment(StudyId id, const Amendment& change) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  Study answer;
  const auto look = [&](const StudyFold& fold, const Transient&) -> absl::Status {
    // The time that a Draft would take: never before the last event.
    const absl::Time now = std::max(clock_.Now(), fold.header().updated);
    VERNIER_ASSIGN_OR_RETURN(AmendmentPlan plan, PlanAmendment(fold, change, now));
    VERNIER_RETURN_IF_ERROR(CheckPlan(plan));
    answer = fold.header();
    // As the fold would count it (StudyFold::On of StudyAmended).
    answer.spec_version += plan.amended.fixed || plan.spec != answer.spec ? 1 : 0;
    answer.spec = std::move(plan.spec);
    if (plan.extends) answer.state = StudyState::kActive;
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look));
  return answer;
}

absl::Status StudiesImpl::SetMetadata(StudyId id,
                                      const MetadataUpdate& values,
                                      const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  VERNIER_RETURN_IF_ERROR(CheckMetadataLimits(values));
  const auto set = [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kSetMetadata));
    if (repeated != nullptr) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckMetadataSize(
        draft.study().metadata, values.study, "the study", limits::kStudyMetadata));
    for (const auto& [trial, metadata] : values.trials) {
      VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), trial));
      VERNIER_RETURN_IF_ERROR(CheckMetadataSize(
          draft.trial(trial).metadata, metadata, TrialTitle(trial), limits::kTrialMetadata));
    }
    if (values != MetadataUpdate{}) draft.Add(MetadataChanged{.values = values});
    return absl::OkStatus();
  };
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  return live->Change(caller, set);
}

// The log goes with the study, so the store keeps requests of deletions in a table of their own.
absl::StatusOr<bool> StudiesImpl::WasDeletedBefore(std::string_view name,
                                                   const Caller& caller) const {
  if (caller.request_id.empty()) return false;
  VERNIER_ASSIGN_OR_RETURN(const std::optional<std::string> deleted,
                           storage_.FindDeletion(caller.request_id));
  if (deleted.has_value() && *deleted != name) return RequestReused(caller);
  return deleted.has_value();
}

absl::Status StudiesImpl::Delete(std::string_view name, bool force, const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  const Turn turn(*this);
  VERNIER_ASSIGN_OR_RETURN(const bool repeated, WasDeletedBefore(name, caller));
  if (repeated) return absl::OkStatus();
  absl::StatusOr<StudyId> id = FindStudyId(name);
  // The row of a damaged study cannot be read, but its key can.
  if (force && absl::IsDataLoss(id.status())) id = FindUnreadable(name);
  VERNIER_RETURN_IF_ERROR(id.status());
  const absl::Status deleted = DeleteLive(*id, name, force, caller);
  return NoStudy(deleted, fmt::format("'{}'", name));
}

absl::StatusOr<StudyId> StudiesImpl::FindUnreadable(std::string_view name) const {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<StudyKey> keys, storage_.ListStudyKeys());
  const auto found = std::ranges::find(keys, name, &StudyKey::name);
  if (found == keys.end()) return NoStudy(absl::NotFoundError(""), fmt::format("'{}'", name));
  return found->id;
}

absl::Status StudiesImpl::DeleteLive(StudyId id,
                                     std::string_view name,
                                     bool force,
                                     const Caller& caller) {
  const absl::StatusOr<Live> live = FindUnused(id);
  const auto row_may_go = [&](const Study& study) -> absl::Status {
    if (force || study.open == 0) return absl::OkStatus();
    return FailedPrecondition("{} has {}: wait for {}, or add --force",
                              StudyTitle(study),
                              study.open == 1
                                  ? "1 trial that has not ended"
                                  : fmt::format("{} trials that have not ended", study.open),
                              study.open == 1 ? "it" : "them");
  };
  // Deletion has its requests in another table, so an id that the log knows was used for another
  // call.
  const auto may_go = [&](const StudyFold& fold, const Transient&) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(fold.NeedRequest(caller.request_id));
    if (fold.requests().Find(caller.request_id) != nullptr) return RequestReused(caller);
    return row_may_go(fold.header());
  };
  const absl::Status barred = live.ok() ? (*live)->Bar(may_go, row_may_go) : live.status();
  // A damaged study cannot be loaded, so that nobody can change it, and force deletes it unseen.
  if (!force || !absl::IsDataLoss(barred)) VERNIER_RETURN_IF_ERROR(barred);
  // Barred before it is deleted: a commit that came in between would be acknowledged and then be
  // lost.
  absl::Status deleted = storage_.DeleteStudy(id, caller.request_id);
  if (!deleted.ok() && !absl::IsNotFound(deleted)) {
    // The store refused, so that the study goes on.
    if (live.ok()) (*live)->Revive();
    return absl::IsDataLoss(deleted) ? DamageOf(name, deleted) : deleted;
  }
  {
    absl::MutexLock lock(&mu_);
    live_.erase(id);
    resting_.erase(id);
    damaged_.erase(id);
    ids_.erase(std::string(name));
    if (unfinished_.has_value()) unfinished_->erase(id);
  }
  listeners_->Tell(id);
  return deleted;
}

absl::StatusOr<std::vector<Event>> StudiesImpl::ReadEvents(StudyId id,
                                                           EventSeq after,
                                                           std::size_t limit) const {
  absl::StatusOr<std::vector<Event>> events = storage_.ReadEvents(id, after, limit);
  if (!events.ok()) return NoStudy(events.status(), fmt::format("{}", id.value()));
  return events;
}

bool StudiesImpl::WaitForEvents(StudyId id,
                                EventSeq after,
                                absl::Duration timeout,
                                std::stop_token stop) const {
  if (FindAtHand(id) == nullptr) {
    const absl::StatusOr<Study> study = storage_.GetStudy(id);
    // The row tells whether there is anything to wait for, so that no study is loaded to answer a
    // reader that is behind.
    if (!study.ok() || study->last_event > after) return study.ok();
  }
  const absl::StatusOr<Live> live = FindUnused(id);
  return live.ok() && (*live)->WaitForEvents(after, timeout, stop);
}

std::unique_ptr<Studies::Subscription> StudiesImpl::Subscribe(
    std::function<void(StudyId)> changed) const {
  return std::make_unique<Listening>(listeners_, std::move(changed));
}

absl::StatusOr<ReplayReport> StudiesImpl::Replay(StudyId id) const {
  Replayer replayer(id, algorithms_);
  EventSeq after;
  while (true) {
    // By pages, so that a long log is never in memory as a whole.
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> events, ReadEvents(id, after, kReplayPage));
    for (const Event& event : events) {
      const absl::Status added = replayer.Add(event);
      if (!added.ok()) return DamageOf(StudyNameOf(storage_, id), added);
    }
    if (events.size() < kReplayPage) return std::move(replayer).Finish();
    after = events.back().seq;
  }
}

}  // namespace study
}  // namespace vernier
