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
    return created.suggestion.algorithm.empty() ? Verb::kAddTrial : Verb::kAsk;
  }
  Verb operator()(const TrialStateChanged& change) const {
    if (change.to == TrialState::kCancelled && change.from == TrialState::kRequested) {
      return Verb::kStopTrial;
    }
    return IsFinished(change.to) ? Verb::kFinish : Verb::kNone;
  }
  Verb operator()(const MeasurementReported&) const { return Verb::kReport; }
  Verb operator()(const StopDecided& stop) const {
    return stop.stop.rule == kUserRule ? Verb::kStopTrial : Verb::kNone;
  }
  Verb operator()(const TrialDeleted&) const { return Verb::kDeleteTrial; }
  Verb operator()(const MetadataChanged&) const { return Verb::kSetMetadata; }
  Verb operator()(const LeaseGranted&) const { return Verb::kSuggest; }
  Verb operator()(const LeaseRenewed&) const { return Verb::kSuggest; }
  template <typename Other>
  Verb operator()(const Other&) const {
    return Verb::kNone;
  }
};

// The first event that tells says what the call was, but that suggesting creates trials before it leases them, that a client
// thought lost has its lease renewed before it reports, and that a trial is ended, somehow, before it is deleted.
bool Refines(Verb known, Verb seen) {
  if (known == Verb::kNone || seen == Verb::kDeleteTrial) return true;
  if (known == Verb::kAsk) return seen == Verb::kSuggest;
  return known == Verb::kSuggest && (seen == Verb::kReport || seen == Verb::kFinish);
}

}  // namespace

bool RequestBook::NoteReport(const Event& event) {
  const Fingerprint request = FingerprintOf(event.request_id);
  if (reports_.contains(request)) return true;  // Whatever else a report does is about its trial.
  if (!std::holds_alternative<MeasurementReported>(event.payload)) return false;
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
  if (recalled_.contains(request) || reports_.contains(request)) return true;
  const auto at = records_.find(std::string(request_id));
  return at != records_.end() && !at->second.is_partial;
}

void RequestBook::Recall(std::string_view request_id, const std::vector<Event>& events) {
  records_.erase(std::string(request_id));
  recalled_.insert(FingerprintOf(request_id));
  for (const Event& event : events) Note(event);
}

// Into new tables, since those that were large stay large.
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
