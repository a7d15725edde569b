#pragma once

#include <functional>

namespace vernier {

// Runs small pieces of work, now or later, on this thread or on another. Whoever embeds Vernier decides which.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Run(std::function<void()> work) = 0;
};

// Runs the work before Run returns.
class InlineExecutor final : public Executor {
 public:
  void Run(std::function<void()> work) override { work(); }
};

}  // namespace vernier
