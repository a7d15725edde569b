#pragma once

#include <filesystem>
#include <string>

#include "vernier/core/event.h"
#include "vernier/storage.h"

namespace vernier::testing {

// A folder of its own, removed with all that is in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string PathOf(const std::string& file) const { return (path_ / file).string(); }

 private:
  std::filesystem::path path_;
};

// The first event of a study with this name and one parameter.
Event CreatedEvent(const std::string& name);
// A study's next commit: one new trial, in REQUESTED.
Commit TrialCommit(const Study& study);
// The same by somebody who takes `last` for the study's last event.
Commit TrialCommitAfter(EventSeq last, Study study);
// Its next commit: a measurement of the trial.
Commit MeasurementCommit(const Study& study, Trial trial, std::int64_t step);

// Makes `commits` trial commits to a new study, one after the other, until one fails. How many were acknowledged.
struct Written {
  StudyId study;
  std::int64_t trials = 0;
  absl::Status error;
};
Written WriteTrials(Storage& storage, const std::string& study_name, int commits);

// Whether the study's tables follow from its log: as many trials as trial_created events, numbered without gaps.
absl::Status CheckConsistent(const Storage& storage, StudyId study);

}  // namespace vernier::testing
