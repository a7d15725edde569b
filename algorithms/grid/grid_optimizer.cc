#include "algorithms/grid/grid_optimizer.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/grid/grid_axis.h"
#include "algorithms/grid/permutation.h"
#include "algorithms/options.h"
#include "algorithms/sampling/enumeration.h"
#include "algorithms/sampling/sequence_state.h"
#include "algorithms/sampling/taken_points.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

// Number of cells between looks at the stop token. A choice.
constexpr std::uint64_t kStopCheckInterval = 256;

struct GridOptions {
  bool shuffle = false;
  std::optional<std::int64_t> seed;
};

class GridOptimizer final : public Optimizer {
 public:
  GridOptimizer(Space space,
                sampling::EarlierPoints earlier,
                sampling::Enumeration cells,
                GridOptions options,
                std::string json)
      : space_(std::move(space)),
        earlier_(std::move(earlier)),
        cells_(std::move(cells)),
        size_(static_cast<std::uint64_t>(cells_.count())),
        options_(options),
        json_(std::move(json)) {}

  std::string_view name() const override { return "grid"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return json_; }
  std::string Continuation(std::string_view state) const override { return std::string(state); }

  absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view state,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    // A batch cannot repeat a cell: `place` only moves forward, and `seen` ends the loop after one round.
    sampling::SequenceState place = Start(state, stream);
    const grid::Permutation order(size_, place.seed);
    VERNIER_RETURN_IF_ERROR(sampling::CheckPending(space_, pending));
    const sampling::TakenPoints taken(space_, finished, pending, earlier_);
    Suggestions suggestions;
    for (std::uint64_t seen = 0; seen < size_ && suggestions.points.size() < count; ++seen) {
      if (seen % kStopCheckInterval == 0 && stop.stop_requested()) {
        return Cancelled("the search for a grid cell was cancelled");
      }
      const std::uint64_t cell = options_.shuffle ? order.At(place.next) : place.next;
      place.next = (place.next + 1) % size_;
      Point point = cells_.At(static_cast<std::int64_t>(cell));
      if (!space_.Satisfies(point) || taken.Contains(point)) continue;
      suggestions.points.push_back({.point = std::move(point),
                                    .origin = "grid cell",
                                    .note = fmt::format("cell {} of {}", cell + 1, size_)});
    }
    if (suggestions.points.empty()) return NothingLeft();
    suggestions.state = sampling::FormatState(place);
    return suggestions;
  }

 private:
  sampling::SequenceState Start(std::string_view state, Rng& stream) const {
    if (const auto place = sampling::ParseState(state, size_)) return *place;
    if (!options_.shuffle) return {};
    return {.next = 0,
            .seed = options_.seed ? static_cast<std::uint64_t>(*options_.seed) : stream.NextU64()};
  }

  absl::Status NothingLeft() const {
    return WithReason(
        space_.constraints().empty()
            ? OutOfRange("all {} cells of the grid were proposed", size_)
            : OutOfRange("all cells of the grid that satisfy the constraints were proposed"),
        Reason::kSpaceExhausted);
  }

  const Space space_;
  const sampling::EarlierPoints earlier_;
  const sampling::Enumeration cells_;
  const std::uint64_t size_;  // Number of cells; 2^62 if there are more.
  const GridOptions options_;
  const std::string json_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> NewGridOptimizer(const Problem& problem,
                                                            const Choice& choice) {
  OptionReader reader("algorithm", choice);
  GridOptions options;
  options.shuffle = reader.Bool("shuffle", options.shuffle);
  options.seed = reader.OptionalInt("seed", 0, std::numeric_limits<std::int64_t>::max());
  VERNIER_RETURN_IF_ERROR(reader.Check());

  std::vector<sampling::Axis> axes;
  for (const Parameter& parameter : problem.space.parameters()) {
    VERNIER_ASSIGN_OR_RETURN(axes.emplace_back(), grid::GridAxis(parameter));
  }
  std::optional<sampling::Enumeration> cells =
      sampling::Enumeration::Create(problem.space, std::move(axes));
  if (!cells) {
    return FieldError("algorithm", "the parameters' conditions are too entangled for a grid");
  }
  if (options.shuffle && cells->count() == sampling::Enumeration::kMaxCount) {
    return FieldError("algorithm.shuffle", "a grid of 2^62 cells or more cannot be shuffled");
  }
  VERNIER_ASSIGN_OR_RETURN(sampling::EarlierPoints earlier, sampling::EarlierPoints::Of(problem));
  return std::make_unique<GridOptimizer>(
      problem.space, std::move(earlier), *std::move(cells), options, reader.Json());
}

}  // namespace vernier
