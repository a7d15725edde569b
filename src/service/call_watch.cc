#include "src/service/call_watch.h"

#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "src/core/status.h"

namespace vernier::service {
namespace {

// How late a call may learn that nobody waits for it.
constexpr absl::Duration kPeriod = absl::Milliseconds(20);
// How long to stay awake after the last call: waking a thread costs more than a few looks at an empty list.
constexpr int kIdlePeriods = 50;

}  // namespace

CallWatch::Watched::Watched(CallWatch& watch, std::function<bool()> is_gone)
    : watch_(watch), is_gone_(std::move(is_gone)) {
  watch_.Add(*this);
}

CallWatch::Watched::~Watched() { watch_.Remove(*this); }

void CallWatch::Add(Watched& call) {
  absl::MutexLock lock(&mu_);
  calls_.push_front(&call);
  call.place_ = calls_.begin();
  if (shut_down_) call.stop_.request_stop();  // Nobody listens yet, so that nothing is called back.
}

void CallWatch::Remove(Watched& call) {
  absl::MutexLock lock(&mu_);
  calls_.erase(call.place_);
}

std::vector<std::stop_source> CallWatch::Gone() {
  std::vector<std::stop_source> gone;
  absl::MutexLock lock(&mu_);
  for (Watched* call : calls_) {
    const bool fired = call->stop_.stop_requested();
    // is_gone_ is called under the lock, which keeps the call from being destroyed meanwhile; therefore it must be
    // cheap.
    if (!fired && (shut_down_ || call->is_gone_())) gone.push_back(call->stop_);
  }
  return gone;
}

void CallWatch::Sleep(int idle_periods, const bool& stopping) {
  absl::MutexLock lock(&mu_);
  if (idle_periods < kIdlePeriods) {
    mu_.AwaitWithTimeout(absl::Condition(&stopping), kPeriod);
    return;
  }
  const auto has_work = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping || !calls_.empty();
  };
  mu_.Await(absl::Condition(&has_work));
}

void CallWatch::Run(const std::stop_token& stop) {
  // Guarded by mu_: AwaitWithTimeout and Await look at it whenever the mutex is released.
  bool stopping = false;
  const std::stop_callback wake(stop, [&] {
    absl::MutexLock lock(&mu_);
    stopping = true;
  });
  int idle_periods = 0;
  while (!stop.stop_requested()) {
    Sleep(idle_periods, stopping);
    // The stop sources are copies, so that a call may be destroyed while its source is fired.
    for (std::stop_source& source : Gone()) source.request_stop();
    absl::MutexLock lock(&mu_);
    idle_periods = calls_.empty() ? idle_periods + 1 : 0;
  }
}

void CallWatch::Shutdown() {
  // New calls find the flag in Add; those that are there already are fired below, without waiting for Run's next look.
  {
    absl::MutexLock lock(&mu_);
    shut_down_ = true;
  }
  for (std::stop_source& source : Gone()) source.request_stop();
}

absl::Status CallWatch::Stopped() const {
  absl::MutexLock lock(&mu_);
  // The same status for a client that went away and a deadline that passed: nobody reads it either way.
  return shut_down_ ? Unavailable("the server is shutting down")
                    : Cancelled("nobody waits for the answer");
}

}  // namespace vernier::service
