#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Reads TensorBoard event files: records of serialised protocol buffers, each with its length and checksums (the
// TFRecord format, tensorflow/core/lib/io/record_writer.h).
//   8 bytes length (little-endian), 4 bytes masked CRC-32C of it, the record, 4 bytes masked CRC-32C of the record
namespace vernier::metrics {

struct EventScalar {
  std::string tag;
  std::int64_t step = 0;
  absl::Time time;
  double value = 0;
  friend bool operator==(const EventScalar&, const EventScalar&) = default;
};

// A span of time, both ends included.
struct TimeSpan {
  absl::Time from = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();
};

// Returns the scalars of a record (tensorflow.Event): summaries with a simple value, and tensors of one element of the
// plugin "scalars", as TensorFlow 2 writes them. Everything else is skipped. Nothing: the record is malformed.
std::optional<std::vector<EventScalar>> ParseEvent(std::string_view record);

// Returns the time at which a record (tensorflow.Event) was written. Nothing: it has none.
std::optional<absl::Time> TimeOfEvent(std::string_view record);

// CRC-32C (Castagnoli) with the mask of TensorFlow's records.
std::uint32_t MaskedCrc(std::string_view bytes);

// Follows one event file as it grows.
//
// The begin of a file is the time of its first record; if that is missing, the second in its name
// ("tfevents.1795405933"), else the time of its last change. A whole second, as TensorFlow writes it, stands for any
// moment of that second.
class EventFile {
 public:
  // A file that was not begun within the span yields no scalars.
  explicit EventFile(std::string path, TimeSpan begun = {})
      : path_(std::move(path)), span_(begun) {}

  // Bytes read per call. A choice; above the longest record that is read (8 MiB), so that each call makes progress.
  static constexpr std::int64_t kChunk = std::int64_t{16} << 20;

  // Returns the scalars of the records completed since the last call, from at most `most_bytes`.
  // Unavailable: the file cannot be read.
  absl::StatusOr<std::vector<EventScalar>> Read(std::int64_t most_bytes = kChunk);
  // A sentence about damage of the file; empty: none. A file with a damaged length field is not read further.
  const std::string& damage() const { return damage_; }

 private:
  // The begin of the file. Nothing: unknown until the first record is complete.
  std::optional<absl::Time> FindBeginning(std::string_view bytes) const;
  // Whether the file was begun within the span, given its first bytes.
  bool Counts(std::string_view bytes);

  const std::string path_;
  const TimeSpan span_;
  std::optional<bool> counts_;  // Set once it is known.
  std::int64_t offset_ = 0;     // Position of the first unread record.
  bool is_broken_ = false;
  std::string damage_;
};

}  // namespace vernier::metrics
