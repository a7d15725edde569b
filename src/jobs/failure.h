#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vernier/core/trial.h"

// What the end of a replica means, by the strict reading of the service that Vernier follows: a program's own non-zero
// status is final, an end from outside is not the program's fault.
namespace vernier::jobs {

// How the main process of a replica ended.
struct ReplicaExit {
  std::optional<std::int32_t> exit_code;
  std::optional<std::int32_t> signal;
  bool out_of_memory = false;  // It ended so because it, or the host, ran out of memory.
  std::string error;           // Why the program could not be started; empty if it was.
  friend bool operator==(const ReplicaExit&, const ReplicaExit&) = default;
};

struct Failure {
  FailureClass failure = FailureClass::kNone;
  std::string message;
  friend bool operator==(const Failure&, const Failure&) = default;
};

// kNone and no message for exit code 0. A restart policy that tells passing failures from lasting ones reads the class.
Failure Classify(std::string_view role, std::int32_t index, const ReplicaExit& exit);

// A replica of which nothing is left, not even how it ended.
Failure ClassifyLost(std::string_view role, std::int32_t index);

}  // namespace vernier::jobs
