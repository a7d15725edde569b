#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/early_stopper.h"
#include "vernier/trial_log.h"

namespace vernier::study {

// A part of a snapshot (StudySnapshot::parts), for data that only grows: observations in the order
// of their log, then the learning curves of trials that have ended. A sequence of 64-bit words,
// little-endian:
//   checksum (2), number of observations, number of curves;
//   for each observation: trial, outcome, a cell for each parameter, a number for each objective and constraint;
//   for each curve: trial, 1 if it is finished else 0, number of points, and for each of them step and value.
// Numbers are the bits of doubles.

// Writes one, observations before curves.
class PartWriter {
 public:
  PartWriter();
  void AddObservation(const TrialLog::View& log, std::size_t i);
  void AddCurve(const Curve& curve);
  // Whether the part has its size: long enough that a million trials have a few hundred parts,
  // short enough to be made between two changes of a study that has none yet.
  bool IsFull() const;
  std::string Finish() &&;

 private:
  std::vector<std::uint64_t> words_;
};

// Reads one, in the order in which it was written.  DataLoss: it is not what was written.
class PartReader {
 public:
  static absl::StatusOr<PartReader> Open(const std::string& part);

  // As TrialLogCells::Append takes them.
  struct Cells {
    TrialNumber trial;
    Outcome outcome = Outcome::kCompleted;
    std::vector<std::int64_t> cells;
    std::vector<double> values;
    std::vector<double> slacks;
    std::optional<ExpectedEnd> expected_end;
  };
  std::uint64_t observations() const { return observations_; }
  std::uint64_t curves() const { return curves_; }
  // Fills the vectors. Their sizes are the number of words to read for each.
  absl::Status Next(Cells& observation);
  absl::StatusOr<Curve> NextCurve();
  // That nothing is left.
  absl::Status CheckAtEnd() const;

 private:
  explicit PartReader(std::vector<std::uint64_t> words);
  // `count` words; none, from here on, if there are fewer.
  std::span<const std::uint64_t> Take(std::uint64_t count);
  std::uint64_t TakeOne();

  std::vector<std::uint64_t> words_;
  std::size_t at_;
  bool is_short_ = false;
  std::uint64_t observations_ = 0;
  std::uint64_t curves_ = 0;
};

}  // namespace vernier::study
