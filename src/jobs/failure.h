#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/jobs/replica_exit.h"
#include "vernier/core/trial.h"

// Describes the end of a replica to its user: a class, and a sentence.
namespace vernier::jobs {

struct Failure {
  FailureClass failure = FailureClass::kNone;
  std::string message;
  friend bool operator==(const Failure&, const Failure&) = default;
};

// Classifies an end; kNone without a message for exit code 0.
Failure Classify(std::string_view role, std::int32_t index, const ReplicaExit& exit);

// A replica whose supervisor is gone without a record: an error of the service, not of the program.
Failure ClassifyLost(std::string_view role, std::int32_t index);

// A replica whose folder was removed or replaced while it ran: as ClassifyLost.
Failure ClassifyOrphaned(std::string_view role, std::int32_t index);

}  // namespace vernier::jobs
