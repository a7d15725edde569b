#include "algorithms/random/random_optimizer.h"

#include <utility>

#include "algorithms/options.h"
#include "algorithms/sampling/draw.h"
#include "algorithms/sampling/taken_points.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

class RandomOptimizer final : public Optimizer {
 public:
  RandomOptimizer(Space space, sampling::EarlierPoints earlier, std::string options)
      : space_(std::move(space)), earlier_(std::move(earlier)), options_(std::move(options)) {}

  std::string_view name() const override { return "random"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return options_; }

  absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view /*state*/,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    VERNIER_RETURN_IF_ERROR(sampling::CheckPending(space_, pending));
    sampling::TakenPoints taken(space_, finished, pending, earlier_);
    Suggestions suggestions;
    while (suggestions.points.size() < count) {
      absl::StatusOr<Point> point = sampling::DrawUntaken(space_, taken, stream, stop);
      if (!point.ok()) {
        if (absl::IsOutOfRange(point.status()) && !suggestions.points.empty()) break;
        return std::move(point).status();
      }
      taken.Insert(*point);
      suggestions.points.push_back({.point = *std::move(point), .origin = "random"});
    }
    return suggestions;
  }

 private:
  const Space space_;
  const sampling::EarlierPoints earlier_;
  const std::string options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> NewRandomOptimizer(const Problem& problem,
                                                              const Choice& choice) {
  const OptionReader options("algorithm", choice);
  VERNIER_RETURN_IF_ERROR(options.Check());
  VERNIER_ASSIGN_OR_RETURN(sampling::EarlierPoints earlier, sampling::EarlierPoints::Of(problem));
  return std::make_unique<RandomOptimizer>(problem.space, std::move(earlier), options.Json());
}

}  // namespace vernier
