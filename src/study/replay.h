#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/event.h"
#include "vernier/studies.h"

namespace vernier::study {

// Takes a study's log from its first event on, and computes again every suggestion and every stop verdict from what the
// log held when it was made. Recorded points are what the fold goes on with; computed ones are only compared.
//
// Pure and not thread-safe. It verifies a batch of suggestions once the batch is complete: Finish does the last.
class Replayer {
 public:
  explicit Replayer(StudyId id, AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn());
  Replayer(Replayer&&) noexcept;
  Replayer& operator=(Replayer&&) noexcept;
  ~Replayer();

  // DataLoss: the event cannot follow the ones before it.
  absl::Status Add(const Event& event);
  absl::StatusOr<ReplayReport> Finish() &&;

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace vernier::study
