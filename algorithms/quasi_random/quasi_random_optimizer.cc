#include "algorithms/quasi_random/quasi_random_optimizer.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/numerics/sobol.h"
#include "algorithms/options.h"
#include "algorithms/sampling/draw.h"
#include "algorithms/sampling/sequence_state.h"
#include "algorithms/sampling/taken_points.h"
#include "fmt/format.h"
#include "vernier/core/error.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

// Number of points of the sequence that are tried for one suggestion, before a random point is drawn instead. A choice:
// enough unless nearly all points are taken or violate a constraint.
constexpr int kMaxSkips = 1024;
// States beyond this index count as unreadable: it is far more than any study reaches, and leaves room before the 2^52
// points end.
constexpr std::uint64_t kLastIndex = std::uint64_t{1} << 48;

class QuasiRandomOptimizer final : public Optimizer {
 public:
  QuasiRandomOptimizer(Space space,
                       sampling::EarlierPoints earlier,
                       std::optional<std::int64_t> seed,
                       std::string options)
      : space_(std::move(space)),
        earlier_(std::move(earlier)),
        seed_(seed),
        options_(std::move(options)) {}

  std::string_view name() const override { return "quasi-random"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return options_; }
  std::string Continuation(std::string_view state) const override { return std::string(state); }

  absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view state,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    sampling::SequenceState place = Start(state, stream);
    VERNIER_RETURN_IF_ERROR(sampling::CheckPending(space_, pending));
    sampling::TakenPoints taken(space_, finished, pending, earlier_);
    Suggestions suggestions;
    while (suggestions.points.size() < count) {
      absl::StatusOr<Suggestion> next = Next(taken, place, stream, stop);
      if (!next.ok()) {
        if (absl::IsOutOfRange(next.status()) && !suggestions.points.empty()) break;
        return std::move(next).status();
      }
      taken.Insert(next->point);
      suggestions.points.push_back(*std::move(next));
    }
    suggestions.state = sampling::FormatState(place);
    return suggestions;
  }

 private:
  sampling::SequenceState Start(std::string_view state, Rng& stream) const {
    if (const auto place = sampling::ParseState(state, kLastIndex)) return *place;
    // Earlier studies may have used the same seed: skip as many points as they have trials, so that none is proposed
    // again.
    return {.next = earlier_.trials(),
            .seed = seed_ ? static_cast<std::uint64_t>(*seed_) : stream.NextU64()};
  }

  // Returns the next fresh point of the sequence, or a random one if kMaxSkips points were not fresh.
  absl::StatusOr<Suggestion> Next(const sampling::TakenPoints& taken,
                                  sampling::SequenceState& place,
                                  Rng& stream,
                                  const std::stop_token& stop) const {
    std::vector<double> u(space_.parameters().size());
    for (int skipped = 0; skipped < kMaxSkips && !stop.stop_requested(); ++skipped) {
      const std::uint64_t index = place.next++;
      numerics::ScrambledSobolPoint(index, place.seed, u);
      Point point = DecodePoint(space_, u);
      if (sampling::IsFresh(space_, taken, point)) {
        return Suggestion{.point = std::move(point),
                          .origin = "sequence",
                          .note = fmt::format("point {} of the sequence", index)};
      }
    }
    VERNIER_ASSIGN_OR_RETURN(Point point, sampling::DrawUntaken(space_, taken, stream, stop));
    return Suggestion{.point = std::move(point),
                      .origin = "random",
                      .note = "the sequence met only points that are taken or break a constraint"};
  }

  const Space space_;
  const sampling::EarlierPoints earlier_;
  const std::optional<std::int64_t> seed_;
  const std::string options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> NewQuasiRandomOptimizer(const Problem& problem,
                                                                   const Choice& choice) {
  OptionReader options("algorithm", choice);
  const auto seed = options.OptionalInt("seed", 0, std::numeric_limits<std::int64_t>::max());
  VERNIER_RETURN_IF_ERROR(options.Check());
  VERNIER_ASSIGN_OR_RETURN(sampling::EarlierPoints earlier, sampling::EarlierPoints::Of(problem));
  return std::make_unique<QuasiRandomOptimizer>(
      problem.space, std::move(earlier), seed, options.Json());
}

}  // namespace vernier
