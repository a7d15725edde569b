#pragma once

#include <cstdint>
#include <string>

namespace vernier {

// Who makes a change, and by which call. `actor` is recorded in the events of the change.
//
// A repeated call with the same non-empty `request_id` returns the first answer and changes nothing. Another call with
// the same id is refused: InvalidArgument (kRequestReused).
struct Caller {
  std::string actor;
  std::string request_id;
};

// Proof that a client may report on a trial: a copy of the trial's Lease (core/trial.h). Trials that the engine runs
// have none.
struct LeaseToken {
  std::string holder;
  std::int64_t token = 0;
};

}  // namespace vernier
