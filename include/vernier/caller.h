#pragma once

#include <cstdint>
#include <string>

namespace vernier {

// Who makes a change, and which call it is. Repeating a call with the same non-empty request_id returns the first
// answer and changes nothing; reusing the id for a different call is InvalidArgument (kRequestReused).
struct Caller {
  std::string actor;
  std::string request_id;
};

// A client's proof that the trial is its own to report on. For trials that the engine runs: none.
struct LeaseToken {
  std::string holder;
  std::int64_t token = 0;
};

}  // namespace vernier
