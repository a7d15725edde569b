#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/jobs/replica_exit.h"
#include "vernier/core/trial.h"

// What the end of a replica means to its user: a class, and a sentence.
namespace vernier::jobs {

struct Failure {
  FailureClass failure = FailureClass::kNone;
  std::string message;
  friend bool operator==(const Failure&, const Failure&) = default;
};

// kNone and no message for exit code 0.
Failure Classify(std::string_view role, std::int32_t index, const ReplicaExit& exit);

// A replica of which nothing is left, not even how it ended: an error of the service, not of the program.
Failure ClassifyLost(std::string_view role, std::int32_t index);

// A replica whose folder was removed, or replaced by another, while it ran: as ClassifyLost.
Failure ClassifyOrphaned(std::string_view role, std::int32_t index);

}  // namespace vernier::jobs
