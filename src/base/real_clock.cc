#include <memory>

#include "absl/time/clock.h"
#include "vernier/core/clock.h"

namespace vernier {
namespace {

class RealClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

}  // namespace

std::unique_ptr<Clock> NewRealClock() { return std::make_unique<RealClock>(); }

}  // namespace vernier
