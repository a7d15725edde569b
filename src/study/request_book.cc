// What a request did is read off its events, in the order of the log. So a repeated call is
// recognised after a restart, and nothing besides the log has to be stored for that.
//
// Reports are by far the most frequent requests, and their record is the same for all reports on
// one trial. They are kept as a fingerprint and a number (NoteReport), all others with their
// record.

#include "src/study/request_book.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace vernier::study {
namespace {

constexpr std::string_view kUserRule = "user";

struct VerbOf {
  Verb operator()(const StudyCreated&) const { return Verb::kCreateStudy; }
  Verb operator()(const StudyStateChanged& change) const {
    if (change.to == StudyState::kPaused) return Verb::kPause;
    if (change.to == StudyState::kActive) return Verb::kResume;
    return change.ending.has_value() ? Verb::kFinishStudy : Verb::kStopStudy;
  }
  Verb operator()(const StudyAmended&) const { return Verb::kAmend; }
  Verb operator()(const TrialCreated& created) const {
    // A trial that no algorithm proposed was added by a user.
    return created.suggestion.algorithm.empty() ? Verb::kAddTrial : Verb::kAsk;
  }
  Verb operator()(const TrialStateChanged& change) const {
    // A trial that waits is cancelled at once when it is stopped; all others become STOPPING first.
    if (change.to == TrialState::kCancelled && change.from == TrialState::kRequested) {
      return Verb::kStopTrial;
    }
    return IsFinished(change.to) ? Verb::kEnd : Verb::kNone;
  }
  Verb operator()(const MeasurementReported&) const { return Verb::kReport; }
  Verb operator()(const StopDecided& stop) const {
    return stop.stop.rule == kUserRule ? Verb::kStopTrial : Verb::kNone;
  }
  Verb operator()(const ResumeDecided&) const { return Verb::kAsk; }
  Verb operator()(const TrialDeleted&) const { return Verb::kDeleteTrial; }
  Verb operator()(const MetadataChanged&) const { return Verb::kSetMetadata; }
  Verb operator()(const LeaseGranted&) const { return Verb::kSuggest; }
  Verb operator()(const LeaseRenewed&) const { return Verb::kSuggest; }
  template <typename Other>
  Verb operator()(const Other&) const {
    return Verb::kNone;
  }
};

// The first event with a verb decides, with these exceptions: a call for suggestions creates trials
// before it leases them; a client that was thought lost has its lease renewed before it reports; a
// trial is ended, if need be, before it is deleted.
bool Refines(Verb known, Verb seen) {
  if (known == Verb::kNone || seen == Verb::kDeleteTrial) return true;
  if (known == Verb::kAsk) return seen == Verb::kSuggest;
  return known == Verb::kSuggest && (seen == Verb::kReport || seen == Verb::kEnd);
}

}  // namespace

bool RequestBook::NoteReport(const Event& event) {
  const Fingerprint request = FingerprintOf(event.request_id);
  // Further events of a report are about its trial and tell nothing new.
  if (reports_.contains(request)) return true;
  if (!std::holds_alternative<MeasurementReported>(event.payload)) return false;
  // A report that began with a renewed lease already has a record, which Note refines.
  if (records_.contains(event.request_id)) return false;
  const TrialNumber trial = EventTrial(event.payload);
  reports_.emplace(request, Report{.trial = trial, .event = event.seq});
  RequestRecord& record = reported_[trial];
  record.verb = Verb::kReport;
  record.trials = {trial};
  return true;
}

void RequestBook::Note(const Event& event) {
  if (event.request_id.empty() || NoteReport(event)) return;
  auto at = records_.find(event.request_id);
  if (at == records_.end()) {
    // Earlier events of this request may be among those that were forgotten.
    const bool is_partial = !IsKnown(event.request_id);
    at = records_.emplace(event.request_id, Entry{.is_partial = is_partial}).first;
  }
  at->second.last = event.seq;
  RequestRecord& record = at->second.record;
  const Verb seen = std::visit(VerbOf{}, event.payload);
  if (seen != Verb::kNone && Refines(record.verb, seen)) record.verb = seen;
  if (const auto* amended = std::get_if<StudyAmended>(&event.payload)) {
    record.amended = std::make_unique<StudyAmended>(*amended);
  }
  if (const auto* granted = std::get_if<LeaseGranted>(&event.payload)) {
    record.holder = granted->lease.holder;
  }
  const TrialNumber trial = EventTrial(event.payload);
  if (trial.value() == 0) return;
  if (std::find(record.trials.begin(), record.trials.end(), trial) == record.trials.end()) {
    record.trials.push_back(trial);
  }
}

const RequestRecord* RequestBook::Find(std::string_view request_id) const {
  if (request_id.empty()) return nullptr;
  const auto at = records_.find(std::string(request_id));
  if (at != records_.end()) return &at->second.record;
  const auto report = reports_.find(FingerprintOf(request_id));
  return report == reports_.end() ? nullptr : &reported_.at(report->second.trial);
}

bool RequestBook::IsKnown(std::string_view request_id) const {
  if (!has_forgotten_ || request_id.empty()) return true;
  const Fingerprint request = FingerprintOf(request_id);
  // A recalled request is known even if it has no event at all, and so is new.
  if (recalled_.contains(request) || reports_.contains(request)) return true;
  const auto at = records_.find(std::string(request_id));
  return at != records_.end() && !at->second.is_partial;
}

void RequestBook::Recall(std::string_view request_id, const std::vector<Event>& events) {
  // The events were read without the lock: another caller may have recalled the request first, and made it since.
  if (IsKnown(request_id)) return;
  // Taken from all of its events, so that a partial record is replaced, not extended.
  records_.erase(std::string(request_id));
  recalled_.insert(FingerprintOf(request_id));
  for (const Event& event : events) Note(event);
}

// The entries that stay are moved into new tables: a hash table that was large keeps its memory.
void RequestBook::Forget(EventSeq last) {
  has_forgotten_ = true;
  recalled_ = {};
  auto records = std::exchange(records_, {});
  for (auto& [request, entry] : records) {
    if (entry.last > last) records_.emplace(request, std::move(entry));
  }
  const auto reports = std::exchange(reports_, {});
  reported_.clear();
  for (const auto& [request, report] : reports) {
    if (report.event <= last) continue;
    reports_.emplace(request, report);
    RequestRecord& record = reported_[report.trial];
    record.verb = Verb::kReport;
    record.trials = {report.trial};
  }
}

}  // namespace vernier::study
