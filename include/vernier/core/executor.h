#pragma once

#include <functional>

namespace vernier {

// Runs functions in the background, for callers that must not wait for them. A thread pool is one:
//
//   executor.Run([] { ComputeSomethingSlow(); });
//
// Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` once, in any thread, possibly before Run returns, and in any order with other work. It cannot be
  // cancelled here: work that can stop early has a stop token of its own.
  virtual void Run(std::function<void()> work) = 0;
};

}  // namespace vernier
