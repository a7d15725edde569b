#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/study/fingerprint.h"
#include "vernier/core/event.h"

namespace vernier::study {

// The call that a request_id was used for, as far as its events tell.
enum class Verb {
  kNone,
  kCreateStudy,
  kPause,
  kResume,
  kStopStudy,
  kFinishStudy,
  kAmend,
  kAsk,
  kSuggest,
  kAddTrial,
  kReport,
  kEnd,  // Complete, fail, infeasible.
  kStopTrial,
  kDeleteTrial,
  kSetMetadata,
};

struct RequestRecord {
  Verb verb = Verb::kNone;
  // Those it created, leased or changed, in the order of the events.
  std::vector<TrialNumber> trials;
  std::string holder;                           // Of the leases it granted.
  std::unique_ptr<const StudyAmended> amended;  // With kAmend. Apart, since few requests have it.
};

// What the request ids of a study's log were used for. It is built from events alone, so that a
// repeated call is recognised after a restart. Not thread-safe.
//
// It may forget the older part of the log (StudyFold::Shed). IsKnown then tells which requests have
// to be looked up in the store.
class RequestBook {
 public:
  void Note(const Event& event);
  // Null: it was not used, or is not known. Valid until the next call that is not const.
  const RequestRecord* Find(std::string_view request_id) const;

  // Whether what Find says of the request is all that the log says of it.
  bool IsKnown(std::string_view request_id) const;
  // Learns of a request that is not known: all its events in the log. One that is known stays as it is.
  void Recall(std::string_view request_id, const std::vector<Event>& events);
  // Forgets requests that have no event after `last`.
  void Forget(EventSeq last);

 private:
  struct Entry {
    RequestRecord record;
    EventSeq last;            // Its last event.
    bool is_partial = false;  // It may have earlier ones that were forgotten.
  };
  struct Report {
    TrialNumber trial;
    EventSeq event;
  };
  // Takes the event if it belongs to a report. Reports are frequent, and only their trial matters.
  bool NoteReport(const Event& event);

  absl::flat_hash_map<std::string, Entry> records_;
  absl::flat_hash_map<Fingerprint, Report> reports_;
  std::map<TrialNumber, RequestRecord> reported_;  // What Find says of the reports on a trial.
  bool has_forgotten_ = false;
  absl::flat_hash_set<Fingerprint> recalled_;  // Since then.
};

}  // namespace vernier::study
