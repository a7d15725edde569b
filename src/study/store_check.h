#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/storage.h"

namespace vernier::study {

// What a look at one study's rows and events found.
struct StudyCheck {
  StudyKey study;
  std::string state;  // Empty: its row cannot be read.
  std::int64_t trials = 0;
  std::int64_t events = 0;            // As its row says where the log cannot be read.
  std::vector<std::string> problems;  // One sentence each; empty: none.
};

// Reads all of the study: its events are numbered without a gap and each can follow the one before; the rows of the study
// and of its trials are what the events come to. Suggestions are not computed again (`study replay --verify` does).
// `storage` must not change meanwhile.
StudyCheck CheckStudy(const Storage& storage, const StudyKey& study);

}  // namespace vernier::study
