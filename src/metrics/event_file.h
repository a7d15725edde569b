#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

// TensorBoard event files: records of serialised protocol buffers, each with a length and checksums.
//   8 bytes length (little-endian), 4 bytes masked CRC-32C of it, the record, 4 bytes masked CRC-32C of the record
namespace vernier::metrics {

struct EventScalar {
  std::string tag;
  std::int64_t step = 0;
  absl::Time time;
  double value = 0;
  friend bool operator==(const EventScalar&, const EventScalar&) = default;
};

// When a file that counts was begun; both ends belong to it.
struct TimeSpan {
  absl::Time from = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();
};

// The scalars of one record (tensorflow.Event): summaries with a simple value, and tensors of one element of the plugin
// «scalars», as TensorFlow 2 writes them. Everything else is skipped.  Nothing: it is no such record.
std::optional<std::vector<EventScalar>> ParseEvent(std::string_view record);

// When a record (tensorflow.Event) was written.  Nothing: it does not say.
std::optional<absl::Time> TimeOfEvent(std::string_view record);

// CRC-32C (Castagnoli), masked as TensorFlow's records have it.
std::uint32_t MaskedCrc(std::string_view bytes);

// Follows one event file as it grows.
//
// A file was begun when its first record says; if that is missing, at the second in its name ("tfevents.1795405933"), or
// else when it was last written to. A whole second, as TensorFlow writes it, may be any moment of that second.
class EventFile {
 public:
  // A file that was not begun in the span has no scalars.
  explicit EventFile(std::string path, TimeSpan begun = {})
      : path_(std::move(path)), span_(begun) {}

  static constexpr std::int64_t kChunk = std::int64_t{16} << 20;

  // The scalars of the records that are complete since the last call, from so many bytes at most.
  // Unavailable: the file cannot be read.
  absl::StatusOr<std::vector<EventScalar>> Read(std::int64_t most_bytes = kChunk);
  // What is wrong with the file, in one sentence; empty: nothing. A file whose length field is damaged is not read further.
  const std::string& damage() const { return damage_; }

 private:
  // Nothing: that cannot be told before the first record is complete.
  std::optional<absl::Time> FindBeginning(std::string_view bytes) const;
  // Whether the file is read, given what it begins with.
  bool Counts(std::string_view bytes);

  const std::string path_;
  const TimeSpan span_;
  std::optional<bool> counts_;  // Once it is known.
  std::int64_t offset_ = 0;     // Of the first record that was not read yet.
  bool is_broken_ = false;
  std::string damage_;
};

}  // namespace vernier::metrics
