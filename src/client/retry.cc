#include "src/client/retry.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/synchronization/notification.h"
#include "fmt/format.h"
#include "grpc/support/time.h"
#include "src/core/check.h"
#include "vernier/core/rng.h"

namespace vernier::client {
namespace {

// From the kernel, and not from a seeded generator: ids must differ between processes that start alike.
std::uint64_t RandomBits() {
  std::uint64_t bits = 0;
  VERNIER_CHECK(getrandom(&bits, sizeof(bits), 0) == sizeof(bits), "the kernel has no random bits");
  return bits;
}

gpr_timespec ToGrpcTime(absl::Time time) {
  if (time == absl::InfiniteFuture()) return gpr_inf_future(GPR_CLOCK_REALTIME);
  const timespec spec = absl::ToTimespec(time);
  return {.tv_sec = spec.tv_sec,
          .tv_nsec = static_cast<std::int32_t>(spec.tv_nsec),
          .clock_type = GPR_CLOCK_REALTIME};
}

// Metadata takes printable ASCII only.
bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string NewRequestId() { return fmt::format("{:016x}{:016x}", RandomBits(), RandomBits()); }

Retry::Retry(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options),
      channel_(std::move(channel)),
      clock_(NewRealClock()),
      has_answered_(std::make_shared<std::atomic<bool>>(false)) {}

Retry::Retry(const Retry& other, const ClientOptions& options)
    : options_(options),
      channel_(other.channel_),
      clock_(other.clock_),
      has_answered_(other.has_answered_) {}

void Retry::Prepare(absl::Time deadline, grpc::ClientContext* context) const {
  context->set_deadline(ToGrpcTime(deadline));
  // A name that cannot travel is left out, and the server calls the actor "user"; refusing the call would be worse.
  if (IsPrintable(options_.name)) context->AddMetadata("x-vernier-actor", options_.name);
}

bool Retry::Wait(int attempt, absl::Time deadline, const std::stop_token& stop) const {
  const int most = has_answered_->load(std::memory_order_relaxed) ? options_.attempts_once_answered
                                                                  : options_.attempts;
  if (attempt >= most) return false;
  // Waits of 1, 2 and 4 times the shortest: a server that restarts is back soon, so that longer ones only lose time.
  constexpr int kMaxDoublings = 2;
  const absl::Duration longest = options_.backoff * (1 << std::min(attempt - 1, kMaxDoublings));
  // Between a half and all of it, so that clients that lost a server together do not come back together.
  const absl::Duration pause = longest * (0.5 + 0.5 * Rng(RandomBits()).Uniform());
  // There would be no time left to call.
  if (clock_->Now() + pause >= deadline) return false;
  const absl::Time until = clock_->Now() + pause;
  // The channel is fine, and the server asked for patience or lost the call: only time helps.
  if (channel_->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) {
    absl::Notification stopped;
    const std::stop_callback wake(stop, [&] { stopped.Notify(); });
    return !stopped.WaitForNotificationWithTimeout(pause);
  }
  // A channel gets connected only while somebody waits for it: else gRPC looks every five seconds.
  // Also how late `stop` may be seen.
  constexpr absl::Duration kLook = absl::Milliseconds(50);
  while (!stop.stop_requested() && clock_->Now() < until) {
    // The server is back: do not wait any longer.
    if (channel_->WaitForConnected(ToGrpcTime(std::min(until, clock_->Now() + kLook)))) break;
  }
  return !stop.stop_requested();
}

}  // namespace vernier::client
