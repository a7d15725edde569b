#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/study/fingerprint.h"
#include "vernier/core/event.h"

namespace vernier::study {

// Which call a request_id was used for, as far as its events tell.
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
  kFinish,  // Complete, fail, infeasible.
  kStopTrial,
  kDeleteTrial,
  kSetMetadata,
};

struct RequestRecord {
  Verb verb = Verb::kNone;
  std::vector<TrialNumber>
      trials;          // Those it created, leased or changed, in the order of the events.
  std::string holder;  // Of the leases it granted.
  std::unique_ptr<const StudyAmended> amended;  // With kAmend. Apart, since few requests have it.
};

// What the request ids of a study's log were used for. Rebuilt from events alone, so that a repeated call is known
// even after a restart. Not thread-safe.
class RequestBook {
 public:
  void Note(const Event& event);
  // Null: it was not used. Valid until the next Note.
  const RequestRecord* Find(std::string_view request_id) const;

 private:
  // Reports are many, and all that is to be known of one is its trial.
  bool NoteReport(const Event& event);

  absl::flat_hash_map<std::string, RequestRecord> records_;
  absl::flat_hash_map<Fingerprint, TrialNumber> reports_;
  std::map<TrialNumber, RequestRecord> reported_;  // What Find says of the reports on a trial.
};

}  // namespace vernier::study
