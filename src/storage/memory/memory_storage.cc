#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "src/storage/commit_rules.h"
#include "src/storage/metric_order.h"
#include "vernier/core/error.h"
#include "vernier/storage.h"

namespace vernier {
namespace {

// What became of a commit. It is decided before Begin returns; the caller only has to learn of it.
struct Decision {
  absl::Status status;
  std::atomic<bool> told = false;
};

class DecidedCommit final : public PendingCommit {
 public:
  explicit DecidedCommit(std::shared_ptr<Decision> decision) : decision_(std::move(decision)) {}

  absl::Status Wait() override {
    // Without the lock of the storage, hence the atomic.
    decision_->told = true;
    return decision_->status;
  }
  // Calls `told` before it returns, with no lock held: `told` may call the storage.
  void Then(std::function<void(const absl::Status&)> told) override { told(Wait()); }

 private:
  // The storage is the other owner, until the study's next commit.
  std::shared_ptr<Decision> decision_;
};

struct Record {
  Study study;
  std::vector<Event> events;  // Event n at index n - 1.
  std::map<TrialNumber, Trial> trials;
  std::map<TrialNumber, std::vector<EventSeq>> reports;  // Events with the measurements of a trial.
  std::unordered_map<std::string, std::vector<EventSeq>> requests;  // Events by their request_id.
  StudySnapshot snapshot;                                           // Without a head there is none.
  std::shared_ptr<Decision> last_commit;
};

// A trial of a scan, and where it stands.
struct Ranked {
  const Trial* trial;
  storage::Place place;
};

// Without a metric no trial has a value, and the numbers alone count.
bool IsBefore(const storage::Place& a, const storage::Place& b, const TrialScan& scan) {
  if (!scan.metric.empty()) return storage::IsBefore(a, b, scan.descending);
  return scan.descending ? a.number > b.number : a.number < b.number;
}

// The trials of the scan in its order.
std::vector<Ranked> Rank(const Record& record, const TrialScan& scan) {
  // A trial that does not exist has a place by its number alone. By a metric nothing comes after a
  // place without a value, and the scan is empty.
  storage::Place after{.number = scan.after.value()};
  const auto found = record.trials.find(scan.after);
  if (found != record.trials.end()) after = storage::PlaceOf(found->second, scan.metric);
  std::vector<Ranked> ranked;
  for (const auto& [number, trial] : record.trials) {
    const Ranked one{.trial = &trial, .place = storage::PlaceOf(trial, scan.metric)};
    if (!scan.metric.empty() && !storage::IsInRange(scan, one.place.value)) continue;
    const bool is_behind = scan.after.value() == 0 || IsBefore(after, one.place, scan);
    if (is_behind && storage::IsWanted(scan, trial.state)) ranked.push_back(one);
  }
  std::ranges::sort(
      ranked, [&](const Ranked& a, const Ranked& b) { return IsBefore(a.place, b.place, scan); });
  return ranked;
}

// The trials that the scan names, in its order.
std::vector<Ranked> Choose(const Record& record, const TrialScan& scan) {
  std::vector<Ranked> chosen;
  for (const TrialNumber number : scan.numbers) {
    const auto found = record.trials.find(number);
    if (found != record.trials.end()) chosen.push_back({.trial = &found->second, .place = {}});
  }
  return chosen;
}

class MemoryStorage final : public Storage {
 public:
  absl::StatusOr<Study> CreateStudy(const Event& created) override {
    VERNIER_ASSIGN_OR_RETURN(Study study, storage::NewStudy(created));
    const absl::MutexLock lock(&mu_);
    if (ids_.contains(study.spec.name)) return storage::StudyExists(study.spec.name);
    study.id = StudyId(++last_id_);
    ids_[study.spec.name] = study.id;
    Record& record = records_[study.id];
    record.study = study;
    record.events.push_back(created);
    record.events.back().seq = EventSeq(1);
    if (!created.request_id.empty()) record.requests[created.request_id].emplace_back(1);
    return study;
  }

  std::unique_ptr<PendingCommit> Begin(Commit commit) override {
    auto decision = std::make_shared<Decision>();
    const absl::MutexLock lock(&mu_);
    decision->status = Decide(commit);
    const auto record = records_.find(commit.study);
    // Also if it was refused: commits that were made on top of it must fail with it.
    if (record != records_.end()) record->second.last_commit = decision;
    if (decision->status.ok()) Apply(std::move(commit), record->second);
    return std::make_unique<DecidedCommit>(std::move(decision));
  }

  absl::Status DeleteStudy(StudyId id, std::string_view request_id) override {
    const absl::MutexLock lock(&mu_);
    const auto record = records_.find(id);
    if (record == records_.end()) return storage::StudyNotFound(id);
    const std::string& name = record->second.study.spec.name;
    // The first deletion counts: a repeated request must get the answer that it got first.
    if (!request_id.empty()) deletions_.try_emplace(std::string(request_id), name);
    // `name` lies in the record, which therefore goes last.
    ids_.erase(name);
    records_.erase(record);
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<std::string>> FindDeletion(
      std::string_view request_id) const override {
    const absl::MutexLock lock(&mu_);
    const auto deletion = deletions_.find(request_id);
    if (deletion == deletions_.end()) return std::optional<std::string>();
    return std::optional<std::string>(deletion->second);
  }

  absl::StatusOr<Study> GetStudy(StudyId id) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(id));
    return record->study;
  }

  absl::StatusOr<Study> GetStudyByName(std::string_view name) const override {
    const absl::MutexLock lock(&mu_);
    const auto id = ids_.find(name);
    if (id == ids_.end()) return storage::StudyNotFound(name);
    return records_.at(id->second).study;
  }

  absl::StatusOr<std::vector<Study>> ListStudies(StudyId after, std::size_t limit) const override {
    const absl::MutexLock lock(&mu_);
    std::vector<Study> studies;
    for (auto it = records_.upper_bound(after); it != records_.end(); ++it) {
      if (studies.size() >= limit) break;
      studies.push_back(it->second.study);
    }
    return studies;
  }

  absl::StatusOr<std::vector<StudyKey>> ListStudyKeys() const override {
    const absl::MutexLock lock(&mu_);
    std::vector<StudyKey> keys;
    for (const auto& [id, record] : records_) {
      keys.push_back({.id = id, .name = record.study.spec.name});
    }
    return keys;
  }

  absl::StatusOr<Trial> GetTrial(TrialId id) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(id.study));
    const auto trial = record->trials.find(id.number);
    if (trial == record->trials.end()) return storage::TrialNotFound(id);
    return trial->second;
  }

  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                TrialNumber after,
                                                std::size_t limit) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(study));
    std::vector<Trial> trials;
    for (auto it = record->trials.upper_bound(after); it != record->trials.end(); ++it) {
      if (trials.size() >= limit) break;
      trials.push_back(it->second);
    }
    return trials;
  }

  absl::Status ScanTrials(StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(study));
    // `visit` runs under the lock, so that the scan sees one moment of the store.
    const std::vector<Ranked> ranked =
        scan.numbers.empty() ? Rank(*record, scan) : Choose(*record, scan);
    for (const Ranked& next : ranked) {
      if (!visit(*next.trial)) break;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                EventSeq after,
                                                std::size_t limit) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(study));
    const auto size = record->events.size();
    // Event n is at index n - 1, so what comes after n begins at index n.
    const auto first =
        std::min(static_cast<std::size_t>(std::max<std::int64_t>(after.value(), 0)), size);
    const auto begin = record->events.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector<Event>(begin,
                              begin + static_cast<std::ptrdiff_t>(std::min(limit, size - first)));
  }

  absl::StatusOr<std::vector<Measurement>> ReadMeasurements(
      StudyId study, std::span<const EventSeq> events) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(study));
    std::vector<Measurement> measurements;
    measurements.reserve(events.size());
    for (const EventSeq seq : events) {
      const bool is_there =
          seq.value() >= 1 && seq.value() <= static_cast<std::int64_t>(record->events.size());
      const auto* const reported =
          is_there ? std::get_if<MeasurementReported>(
                         &record->events[static_cast<std::size_t>(seq.value() - 1)].payload)
                   : nullptr;
      if (reported == nullptr) return storage::MeasurementNotFound(study, seq);
      measurements.push_back(reported->measurement);
    }
    return measurements;
  }

  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(trial.study));
    std::vector<Measurement> measurements;
    for (const Event& event : ReportsOf(*record, trial.number)) {
      measurements.push_back(std::get<MeasurementReported>(event.payload).measurement);
    }
    return measurements;
  }

  absl::StatusOr<std::vector<Event>> ReadReports(TrialId trial) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(trial.study));
    return ReportsOf(*record, trial.number);
  }

  absl::StatusOr<std::vector<Event>> ReadRequest(StudyId study,
                                                 std::string_view request_id) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(study));
    const auto events = record->requests.find(std::string(request_id));
    if (events == record->requests.end()) return std::vector<Event>();
    return EventsAt(*record, events->second);
  }

  absl::StatusOr<std::optional<StudySnapshot>> ReadSnapshot(StudyId study) const override {
    const absl::MutexLock lock(&mu_);
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(study));
    if (record->snapshot.head.empty()) return std::optional<StudySnapshot>();
    return std::optional<StudySnapshot>(record->snapshot);
  }

 private:
  absl::StatusOr<const Record*> Find(StudyId id) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    const auto record = records_.find(id);
    if (record == records_.end()) return storage::StudyNotFound(id);
    return &record->second;
  }

  // Checks in the order of the SQLite store, so that both give one answer to a commit with several faults.
  absl::Status Decide(const Commit& commit) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    VERNIER_RETURN_IF_ERROR(storage::CheckCommit(commit));
    VERNIER_ASSIGN_OR_RETURN(const Record* record, Find(commit.study));
    const Decision* const earlier = record->last_commit.get();
    if (earlier != nullptr && !earlier->told && !earlier->status.ok()) {
      return storage::EarlierCommitFailed(commit.study);
    }
    return storage::CheckExpected(commit, record->study.last_event);
  }

  static std::vector<Event> EventsAt(const Record& record, const std::vector<EventSeq>& numbers) {
    std::vector<Event> events;
    events.reserve(numbers.size());
    for (const EventSeq seq : numbers) {
      events.push_back(record.events[static_cast<std::size_t>(seq.value() - 1)]);
    }
    return events;
  }
  static std::vector<Event> ReportsOf(const Record& record, TrialNumber trial) {
    const auto reports = record.reports.find(trial);
    return reports == record.reports.end() ? std::vector<Event>()
                                           : EventsAt(record, reports->second);
  }

  // Cannot fail: Decide has looked at the whole commit before anything changes.
  static void Apply(Commit commit, Record& record) {
    for (Event& event : commit.events) {
      if (const auto* const reported = std::get_if<MeasurementReported>(&event.payload)) {
        record.reports[reported->trial].push_back(event.seq);
      }
      if (!event.request_id.empty()) record.requests[event.request_id].push_back(event.seq);
      record.events.push_back(std::move(event));
    }
    if (commit.snapshot.has_value())
      Apply(*std::move(commit.snapshot), commit.header, record.snapshot);
    for (Trial& trial : commit.trials) record.trials[trial.number] = std::move(trial);
    record.study = std::move(commit.header);
  }

  static void Apply(SnapshotChange change, const Study& header, StudySnapshot& snapshot) {
    // Parts stay without a head, too: later commits add to them, until one has a head.
    snapshot.parts.resize(change.first_part);
    std::ranges::move(change.parts, std::back_inserter(snapshot.parts));
    snapshot.head = std::move(change.head).value_or("");
    snapshot.as_of = header.last_event;
  }

  mutable absl::Mutex mu_;
  std::map<StudyId, Record> records_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, StudyId, std::less<>> ids_ ABSL_GUARDED_BY(mu_);  // By name.
  // Names of deleted studies, by request id.
  std::map<std::string, std::string, std::less<>> deletions_ ABSL_GUARDED_BY(mu_);
  // Only grows: the id of a deleted study is not used again.
  std::int64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace

std::unique_ptr<Storage> NewMemoryStorage() { return std::make_unique<MemoryStorage>(); }

}  // namespace vernier
