#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace vernier::study {

// A sequence that only grows, and whose snapshots cost nothing: a snapshot shares the elements that were there.
//
// One writer at a time. Snapshots may be read from any thread while the writer appends: elements never move inside a
// buffer, and a full buffer is copied, not reused.
template <typename T>
class SharedLog {
 public:
  class View {
   public:
    View() = default;
    std::span<const T> items() const { return items_; }
    View Prefix(std::size_t count) const { return View(owner_, items_.first(count)); }

   private:
    friend class SharedLog;
    View(std::shared_ptr<const std::vector<T>> owner, std::span<const T> items)
        : owner_(std::move(owner)), items_(items) {}
    std::shared_ptr<const std::vector<T>> owner_;  // Shared with the log and with other snapshots.
    std::span<const T> items_;
  };

  std::size_t size() const { return buffer_->size(); }

  void Append(T item) {
    if (buffer_->size() == buffer_->capacity()) Grow();
    buffer_->push_back(std::move(item));
  }

  View Snapshot() const { return View(buffer_, std::span<const T>(buffer_->data(), size())); }

 private:
  void Grow() {
    auto larger = std::make_shared<std::vector<T>>();
    larger->reserve(std::max<std::size_t>(16, 2 * buffer_->size()));
    larger->insert(larger->end(), buffer_->begin(), buffer_->end());
    buffer_ = std::move(larger);
  }

  std::shared_ptr<std::vector<T>> buffer_ = std::make_shared<std::vector<T>>();
};

}  // namespace vernier::study
