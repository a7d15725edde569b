#include "vernier/trial_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/cells.h"
#include "src/core/status.h"

// The log is columns (ADR 15): cells of points, values and slacks, trial numbers, outcomes. They are in chunks that
// never move, so that views can read a prefix without a lock while the writer appends behind it. Each chunk is twice as
// large as the one before.
namespace vernier {
namespace {

// Number of trials in the first chunk. A choice: most studies need only this one.
constexpr std::size_t kFirstChunk = 256;
// Number of chunks, for 2^48 trials: a fixed array, since a growing one would move.
constexpr std::size_t kChunks = 40;

// Numbers of an ExpectedEnd; NaN: there is none.
constexpr std::size_t kExpectedEnd = 2;

void WriteExpectedEnd(const std::optional<ExpectedEnd>& expected, std::span<double> to) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  to[0] = expected.has_value() ? expected->mean : kNone;
  to[1] = expected.has_value() ? expected->deviation : kNone;
}

std::size_t RoomIn(std::size_t chunk) { return kFirstChunk << chunk; }

struct Place {
  std::size_t chunk;
  std::size_t offset;
};

Place PlaceOf(std::size_t i) {
  // Chunk c begins at trial kFirstChunk (2^c - 1).
  const std::size_t shifted = i + kFirstChunk;
  const auto chunk = static_cast<std::size_t>(std::bit_width(shifted / kFirstChunk)) - 1;
  return {.chunk = chunk, .offset = shifted % RoomIn(chunk)};
}

absl::Status CheckTrial(const Observation& trial, const Space& space) {
  absl::Status status = space.Check(trial.point);
  if (status.ok()) return status;
  return InvalidArgument(
      "trial {} lies outside the space: {}", trial.trial.value(), std::string(status.message()));
}

absl::Status CheckCount(const Observation& trial,
                        std::string_view field,
                        std::size_t count,
                        std::size_t wanted,
                        std::string_view of) {
  if (count == 0 || count == wanted) return absl::OkStatus();
  return InvalidArgument("trial {}: {}: needs one for each of {} {}, got {}",
                         trial.trial.value(),
                         field,
                         wanted,
                         of,
                         count);
}

}  // namespace

struct TrialLog::Store {
  struct Chunk {
    std::vector<Cell> cells;
    std::vector<double> numbers;  // Values, slacks, expected end.
    std::vector<TrialNumber> trials;
    std::vector<Outcome> outcomes;
  };

  Space space;
  std::size_t parameters;
  std::size_t objectives;
  std::size_t constraints;
  std::array<Chunk, kChunks> chunks;
  std::size_t size = 0;  // Only for the writer. Views have their own.

  void MakeRoom(std::size_t chunk) {
    // All at once, so that no later append moves what views may be reading.
    const std::size_t room = RoomIn(chunk);
    chunks[chunk].cells.resize(room * parameters);
    chunks[chunk].numbers.resize(room * width());
    chunks[chunk].trials.resize(room);
    chunks[chunk].outcomes.resize(room);
  }
  std::size_t width() const { return objectives + constraints + kExpectedEnd; }
  std::span<const double> Numbers(std::size_t i) const {
    const auto [chunk, offset] = PlaceOf(i);
    return std::span(chunks[chunk].numbers).subspan(offset * width(), width());
  }
};

TrialLog::TrialLog(const Problem& problem)
    : store_(std::make_shared<Store>(Store{.space = problem.space,
                                           .parameters = problem.space.parameters().size(),
                                           .objectives = problem.objectives.size(),
                                           .constraints = problem.outcome_constraints.size(),
                                           .chunks = {}})) {}

std::size_t TrialLog::size() const { return store_->size; }

absl::Status TrialLog::Append(const Observation& trial) {
  Store& store = *store_;
  VERNIER_RETURN_IF_ERROR(CheckTrial(trial, store.space));
  VERNIER_RETURN_IF_ERROR(
      CheckCount(trial, "values", trial.values.size(), store.objectives, "objectives"));
  VERNIER_RETURN_IF_ERROR(
      CheckCount(trial, "slacks", trial.slacks.size(), store.constraints, "outcome constraints"));
  const auto [chunk, offset] = PlaceOf(store.size);
  if (offset == 0) store.MakeRoom(chunk);
  Store::Chunk& to = store.chunks[chunk];
  WriteCells(store.space,
             trial.point,
             std::span(to.cells).subspan(offset * store.parameters, store.parameters));
  const auto numbers = std::span(to.numbers).subspan(offset * store.width(), store.width());
  // A trial that failed has neither values nor slacks.
  std::fill(numbers.begin(), numbers.end(), std::numeric_limits<double>::quiet_NaN());
  std::copy(trial.values.begin(), trial.values.end(), numbers.begin());
  std::copy(trial.slacks.begin(), trial.slacks.end(), numbers.subspan(store.objectives).begin());
  WriteExpectedEnd(trial.expected_end, numbers.last(kExpectedEnd));
  to.trials[offset] = trial.trial;
  to.outcomes[offset] = trial.outcome;
  ++store.size;
  return absl::OkStatus();
}

absl::Status TrialLog::AppendCells(TrialNumber trial,
                                   Outcome outcome,
                                   std::span<const Cell> cells,
                                   std::span<const double> values,
                                   std::span<const double> slacks,
                                   const std::optional<ExpectedEnd>& expected_end) {
  Store& store = *store_;
  // Cells are not checked against the space: they come from a log that has checked them.
  if (cells.size() != store.parameters || values.size() != store.objectives ||
      slacks.size() != store.constraints) {
    return InvalidArgument("trial {}: {} cells, {} values and {} slacks do not fit the problem",
                           trial.value(),
                           cells.size(),
                           values.size(),
                           slacks.size());
  }
  const auto [chunk, offset] = PlaceOf(store.size);
  if (offset == 0) store.MakeRoom(chunk);
  Store::Chunk& to = store.chunks[chunk];
  std::ranges::copy(cells, std::span(to.cells).subspan(offset * store.parameters).begin());
  const auto numbers = std::span(to.numbers).subspan(offset * store.width(), store.width());
  std::ranges::copy(values, numbers.begin());
  std::ranges::copy(slacks, numbers.subspan(store.objectives).begin());
  WriteExpectedEnd(expected_end, numbers.last(kExpectedEnd));
  to.trials[offset] = trial;
  to.outcomes[offset] = outcome;
  ++store.size;
  return absl::OkStatus();
}

// Copies nothing: the view reads what the log had at this moment, and the writer only appends behind it.
TrialLog::View TrialLog::Snapshot() const { return {store_, store_->size}; }

absl::StatusOr<TrialLog::View> TrialLog::Of(const Problem& problem,
                                            const std::vector<Observation>& trials) {
  TrialLog log(problem);
  for (const Observation& trial : trials) VERNIER_RETURN_IF_ERROR(log.Append(trial));
  return log.Snapshot();
}

TrialLog::View::View(std::shared_ptr<const Store> store, std::size_t size)
    : store_(std::move(store)), size_(size) {}

TrialNumber TrialLog::View::trial(std::size_t i) const {
  const auto [chunk, offset] = PlaceOf(i);
  return store_->chunks[chunk].trials[offset];
}

Outcome TrialLog::View::outcome(std::size_t i) const {
  const auto [chunk, offset] = PlaceOf(i);
  return store_->chunks[chunk].outcomes[offset];
}

std::span<const Cell> TrialLog::View::cells(std::size_t i) const {
  const auto [chunk, offset] = PlaceOf(i);
  const std::size_t width = store_->parameters;
  return std::span(store_->chunks[chunk].cells).subspan(offset * width, width);
}

Point TrialLog::View::point(std::size_t i) const { return ReadCells(store_->space, cells(i)); }

std::span<const double> TrialLog::View::values(std::size_t i) const {
  return store_->Numbers(i).first(store_->objectives);
}

std::span<const double> TrialLog::View::slacks(std::size_t i) const {
  return store_->Numbers(i).subspan(store_->objectives, store_->constraints);
}

std::optional<ExpectedEnd> TrialLog::View::expected_end(std::size_t i) const {
  const std::span<const double> numbers = store_->Numbers(i).last(kExpectedEnd);
  if (std::isnan(numbers[0])) return std::nullopt;
  return ExpectedEnd{.mean = numbers[0], .deviation = numbers[1]};
}

Observation TrialLog::View::operator[](std::size_t i) const {
  Observation out{.trial = trial(i), .point = point(i), .outcome = outcome(i)};
  // The columns of other trials hold NaN, which is not what an Observation without values has.
  if (out.outcome == Outcome::kCompleted || out.outcome == Outcome::kStoppedEarly) {
    out.values.assign(values(i).begin(), values(i).end());
    out.slacks.assign(slacks(i).begin(), slacks(i).end());
    out.expected_end = expected_end(i);
  }
  return out;
}

TrialLog::View TrialLog::View::Prefix(std::size_t count) const {
  return {store_, std::min(count, size_)};
}

bool TrialLog::View::Continues(const View& earlier) const {
  // A log only grows, so the shorter view is a prefix of the longer one.
  return store_ == earlier.store_ && earlier.size_ <= size_;
}

}  // namespace vernier
