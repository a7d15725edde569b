#include "python/src/stream.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/time/clock.h"

namespace vernier::python {
namespace {

// Items that wait to be taken; then the thread waits, and so the server. A choice: some milliseconds of reading.
constexpr std::size_t kMostWaiting = 1000;

}  // namespace

Stream::Stream(Receive receive)
    : thread_([this, receive = std::move(receive)](const std::stop_token& stop) {
        Finish(receive([this](std::string item) { return Put(std::move(item)); }, stop));
      }) {}

Stream::~Stream() {
  Close();
  if (::getpid() != process_) thread_.detach();
}

absl::StatusOr<Stream::Next> Stream::Take(absl::Duration timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout), [&] {
    return is_closed_ || status_.has_value() || !items_.empty();
  });
  if (is_closed_) return Next{.state = State::kEnd, .item = ""};
  if (!items_.empty()) {
    Next next = {.state = State::kItem, .item = std::move(items_.front())};
    items_.pop_front();
    changed_.notify_all();
    return next;
  }
  if (!status_.has_value()) return Next{};
  if (!status_->ok()) return *status_;
  return Next{.state = State::kEnd, .item = ""};
}

void Stream::Close() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

bool Stream::Put(std::string item) {
  std::unique_lock lock(mutex_);
  // Not wait(): it needs the C++ library of GCC 12, and with it wheels would run on newer systems only.
  while (!changed_.wait_for(
      lock, std::chrono::hours(1), [&] { return is_closed_ || items_.size() < kMostWaiting; })) {
  }
  if (is_closed_) return false;
  items_.push_back(std::move(item));
  changed_.notify_all();
  return true;
}

void Stream::Finish(absl::Status status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
  changed_.notify_all();
}

}  // namespace vernier::python
