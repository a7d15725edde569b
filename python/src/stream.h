#pragma once

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vernier::python {

// Items that a thread of its own receives, for an iterator in Python that must stay interruptible. Thread-safe.
class Stream {
 public:
  // Calls the sink with each item until it returns false; returns how the stream ended.
  using Receive = std::function<absl::Status(const std::function<bool(std::string)>& sink,
                                             const std::stop_token& stop)>;
  explicit Stream(Receive receive);
  // Ends the stream, and waits for its thread.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  enum class State { kItem, kEnd, kWaiting };
  struct Next {
    State state = State::kWaiting;
    std::string item;
  };
  // Waits up to `timeout` for an item. kWaiting: none came in time. kEnd: there are no more; a status other than OK: the
  // stream broke. Items that came before are given first.
  absl::StatusOr<Next> Take(absl::Duration timeout);
  // Ends the stream: Take gives kEnd.
  void Close();

 private:
  bool Put(std::string item);
  void Finish(absl::Status status);

  // A child of a fork has not got the thread, and must not wait for it.
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> items_;       // Guarded by mutex_.
  std::optional<absl::Status> status_;  // How it ended. Guarded by mutex_.
  bool is_closed_ = false;              // Guarded by mutex_.
  std::jthread thread_;                 // Last: it uses all of the above.
};

}  // namespace vernier::python
