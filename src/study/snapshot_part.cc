#include "src/study/snapshot_part.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "src/core/status.h"
#include "src/core/trial_log_cells.h"
#include "src/study/fingerprint.h"
#include "vernier/core/error.h"

namespace vernier::study {
namespace {

// Words of a part that is full: 1 MiB. A choice: a million trials have a few hundred parts.
constexpr std::size_t kPartWords = 131'072;

// Positions in the header: the numbers of observations and of curves, and the first word after it.
constexpr std::size_t kObservations = 2;
constexpr std::size_t kCurves = 3;
constexpr std::size_t kHeader = 4;

// What is said of a curve.
constexpr std::uint64_t kFinished = 1;
constexpr std::uint64_t kStopped = 2;
constexpr std::uint64_t kBreaksConstraints = 4;

static_assert(std::endian::native == std::endian::little, "parts are written as words in memory");

std::uint64_t WordOf(std::int64_t number) { return static_cast<std::uint64_t>(number); }
std::uint64_t WordOf(double number) { return std::bit_cast<std::uint64_t>(number); }
std::int64_t NumberOf(std::uint64_t word) { return static_cast<std::int64_t>(word); }
double DoubleOf(std::uint64_t word) { return std::bit_cast<double>(word); }

// Checksum of all words after the checksum itself.
Fingerprint ChecksumOf(std::span<const std::uint64_t> words) {
  Fingerprinter fingerprinter;
  for (const std::uint64_t word : words.subspan(kObservations)) fingerprinter.Add(word);
  return fingerprinter.Get();
}

// The checksum holds, so this and its like are faults of the writer or of the fold that reads.
absl::Status TooShort() { return DataLoss("a part of the snapshot ends too early"); }

}  // namespace

PartWriter::PartWriter() : words_(kHeader) {}

void PartWriter::AddObservation(const TrialLog::View& log, std::size_t i) {
  ++words_[kObservations];
  words_.push_back(WordOf(log.trial(i).value()));
  words_.push_back(WordOf(static_cast<std::int64_t>(log.outcome(i))));
  for (const std::int64_t cell : TrialLogCells::Of(log, i)) words_.push_back(WordOf(cell));
  for (const double value : log.values(i)) words_.push_back(WordOf(value));
  for (const double slack : log.slacks(i)) words_.push_back(WordOf(slack));
  const ExpectedEnd none{.mean = std::numeric_limits<double>::quiet_NaN(), .deviation = 0};
  const ExpectedEnd expected = log.expected_end(i).value_or(none);
  words_.push_back(WordOf(expected.mean));
  words_.push_back(WordOf(expected.deviation));
}

void PartWriter::AddCurve(const Curve& curve) {
  ++words_[kCurves];
  words_.push_back(WordOf(curve.trial.value()));
  words_.push_back((curve.finished ? kFinished : 0) | (curve.stopped_early ? kStopped : 0) |
                   (curve.keeps_constraints ? 0 : kBreaksConstraints));
  words_.push_back(curve.points.size());
  for (const CurvePoint& point : curve.points) {
    words_.push_back(WordOf(point.step));
    words_.push_back(WordOf(point.value));
  }
  words_.push_back(curve.coordinates.size());
  for (const double coordinate : curve.coordinates) words_.push_back(WordOf(coordinate));
}

bool PartWriter::IsFull() const { return words_.size() >= kPartWords; }

std::string PartWriter::Finish() && {
  std::ranges::copy(ChecksumOf(words_), words_.begin());
  std::string bytes(words_.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), words_.data(), bytes.size());
  return bytes;
}

PartReader::PartReader(std::vector<std::uint64_t> words)
    : words_(std::move(words)),
      at_(kHeader),
      observations_(words_[kObservations]),
      curves_(words_[kCurves]) {}

absl::StatusOr<PartReader> PartReader::Open(const std::string& part) {
  std::vector<std::uint64_t> words(part.size() / sizeof(std::uint64_t));
  // The bytes come from the store and are copied, since a string need not be aligned as words are.
  if (words.size() < kHeader || words.size() * sizeof(std::uint64_t) != part.size()) {
    return DataLoss("a part of the snapshot has {} bytes", part.size());
  }
  std::memcpy(words.data(), part.data(), part.size());
  if (ChecksumOf(words) != Fingerprint{words[0], words[1]}) {
    return DataLoss("a part of the snapshot does not have its checksum");
  }
  return PartReader(std::move(words));
}

// Once too short, always too short: callers may take several spans and check once.
std::span<const std::uint64_t> PartReader::Take(std::uint64_t count) {
  const std::size_t rest = words_.size() - at_;
  is_short_ = is_short_ || count > rest;
  const std::size_t taken = is_short_ ? 0 : static_cast<std::size_t>(count);
  at_ += taken;
  return std::span(words_).subspan(at_ - taken, taken);
}

std::uint64_t PartReader::TakeOne() {
  const auto word = Take(1);
  return word.empty() ? 0 : word[0];
}

absl::Status PartReader::Next(Cells& observation) {
  observation.trial = TrialNumber(NumberOf(TakeOne()));
  observation.outcome = static_cast<Outcome>(TakeOne());
  // Their numbers are those of the study's parameters, objectives and constraints, which never
  // change.
  const auto cells = Take(observation.cells.size());
  const auto values = Take(observation.values.size());
  const auto slacks = Take(observation.slacks.size());
  const ExpectedEnd expected{.mean = DoubleOf(TakeOne()), .deviation = DoubleOf(TakeOne())};
  if (is_short_) return TooShort();
  std::ranges::transform(cells, observation.cells.begin(), NumberOf);
  std::ranges::transform(values, observation.values.begin(), DoubleOf);
  std::ranges::transform(slacks, observation.slacks.begin(), DoubleOf);
  observation.expected_end =
      std::isnan(expected.mean) ? std::nullopt : std::optional<ExpectedEnd>(expected);
  return absl::OkStatus();
}

absl::StatusOr<Curve> PartReader::NextCurve() {
  Curve curve{.trial = TrialNumber(NumberOf(TakeOne())), .points = {}};
  const std::uint64_t flags = TakeOne();
  curve.finished = (flags & kFinished) != 0;
  curve.stopped_early = (flags & kStopped) != 0;
  curve.keeps_constraints = (flags & kBreaksConstraints) == 0;
  const std::uint64_t points = TakeOne();
  const auto words = Take(2 * points);
  if (is_short_) return TooShort();
  curve.points.reserve(static_cast<std::size_t>(points));
  for (std::size_t at = 0; at < words.size(); at += 2) {
    curve.points.push_back({.step = NumberOf(words[at]), .value = DoubleOf(words[at + 1])});
  }
  const auto coordinates = Take(TakeOne());
  if (is_short_) return TooShort();
  curve.coordinates.reserve(coordinates.size());
  for (const std::uint64_t word : coordinates) curve.coordinates.push_back(DoubleOf(word));
  return curve;
}

absl::Status PartReader::CheckAtEnd() const {
  if (is_short_) return TooShort();
  return at_ == words_.size() ? absl::OkStatus() : DataLoss("a part of the snapshot is too long");
}

}  // namespace vernier::study
