#pragma once

#include <functional>
#include <list>
#include <stop_token>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace vernier::service {

// Turns a client that goes away, a deadline that passes and a server that shuts down into stop tokens: a call that is
// served synchronously cannot be told of any of them, only ask.
//
// Thread-safe. Sleeps while there is no call to watch.
class CallWatch {
 public:
  CallWatch() = default;
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  // One call, watched while this lives.
  class Watched {
   public:
    // `is_gone` must be cheap and callable from another thread.
    Watched(CallWatch& watch, std::function<bool()> is_gone);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    std::stop_token token() const { return stop_.get_token(); }

   private:
    friend class CallWatch;
    CallWatch& watch_;
    std::function<bool()> is_gone_;
    std::stop_source stop_;
    std::list<Watched*>::iterator place_;
  };

  // Watches until `stop` fires. To be run by one thread of its own.
  void Run(const std::stop_token& stop);
  // Stops every call, those that come later included.
  void Shutdown();
  // What a call answers whose token has fired.  Unavailable: the server shuts down.  Cancelled: nobody waits for it.
  absl::Status Stopped() const;

 private:
  void Add(Watched& call);
  void Remove(Watched& call);
  // The tokens to fire: of calls that nobody waits for any more. Fired outside the lock, since that calls back.
  std::vector<std::stop_source> Gone() ABSL_LOCKS_EXCLUDED(mu_);
  // Returns once it is time to look again, or to end.
  void Sleep(int idle_periods, const bool& stopping) ABSL_LOCKS_EXCLUDED(mu_);

  mutable absl::Mutex mu_;
  std::list<Watched*> calls_ ABSL_GUARDED_BY(mu_);
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vernier::service
