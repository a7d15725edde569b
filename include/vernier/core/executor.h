#pragma once

#include <functional>

namespace vernier {

// Runs pieces of work that somebody must not wait for. Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  // Every piece of work runs once, in whatever order and thread, maybe before this returns. Work that is tired of waiting
  // is told so by a stop token of its own.
  virtual void Run(std::function<void()> work) = 0;
};

}  // namespace vernier
