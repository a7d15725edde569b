#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/codec/form.h"
#include "src/study/study_state.h"
#include "vernier/core/event.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"

namespace vernier::study {

// The head of a snapshot (StudySnapshot::head), stored as JSON: the counters of the study, the rows of trials at work, and whatever
// else changes.
struct SnapshotHead {
  // The format that this version writes. A snapshot of another one is not used; the log is folded.
  static constexpr std::int64_t kFormat = 4;
  struct Definition {
    EventSeq event;
    StudySpec spec;
  };
  struct RankedTrial {
    TrialNumber trial;
    std::vector<double> values;
  };

  std::int64_t format = kFormat;
  Study study;                    // But for its id.
  std::optional<StudySpec> spec;  // Unset: as created.
  std::optional<StudySpec> given;
  std::vector<Definition> definitions;
  EventSeq defined_by;
  std::int64_t parts = 0;
  std::int64_t observations = 0;
  std::vector<RankedTrial> ranked;
  std::vector<StoredTrialEntry> rows;
  std::vector<TrialNumber> first_ended;
  std::string optimizer_state;
  EventSeq optimizer_state_from;
  std::map<std::string, std::string> versions;
  std::int64_t idle_trials = 0;
  absl::Duration paused;
  std::optional<absl::Time> paused_since;
  StudyState ending = StudyState::kCancelled;
  std::int64_t counted_failures = 0;
  std::int64_t counted_completions = 0;
};

codec::Json ToJson(const SnapshotHead& head);
// DataLoss: damaged, or of another version.
absl::StatusOr<SnapshotHead> ReadSnapshotHead(const std::string& text);

}  // namespace vernier::study
