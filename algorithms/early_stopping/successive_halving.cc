#include "algorithms/early_stopping/successive_halving.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/early_stopping/curve_statistics.h"
#include "algorithms/options.h"
#include "fmt/format.h"
#include "vernier/core/rng.h"

// Both rules compare at rungs only, with the trials that arrived there before or meanwhile, so that no trial waits for
// others. Which bracket a trial is in follows from its number, so that the rules need no memory.
namespace vernier {
namespace {

constexpr std::int64_t kMaxFactor = 100;
constexpr char kStoppingType[] = "stopping";
constexpr char kPromotionType[] = "promotion";
// Rungs below the usual length, if the first one is not given. A choice, as many as Hyperband's authors find enough.
constexpr int kUsualRungs = 3;

// Whether `reports` is first * factor^k for a k >= 0.
bool IsRung(std::int64_t reports, std::int64_t first, std::int64_t factor) {
  while (reports > first && reports % factor == 0) reports /= factor;
  return reports == first;
}

// The number of reports at the rung at which the trial is to be judged; nullopt: it is at none. A paused trial, whose program
// may have reported more before it came down, stays at the last rung that it reached.
std::optional<std::int64_t> RungOf(const Curve& trial, std::int64_t first, std::int64_t factor) {
  const std::int64_t reports = std::ssize(trial.points);
  if (reports < first) return std::nullopt;
  if (!trial.stopped_early)
    return IsRung(reports, first, factor) ? std::optional(reports) : std::nullopt;
  std::int64_t rung = first;
  while (rung <= reports / factor) rung *= factor;
  return rung;
}

struct Halving {
  Goal goal;
  std::int64_t factor;
  // Whether a trial goes on only once so many arrived that it is among the best of them; else the first one does, too.
  bool is_promotion = false;
};

// How the trial compares at the rung with those of `others` that arrived there. `who`: names them, for the explanation.
Verdict CompareAtRung(const Halving& halving,
                      std::size_t rung,
                      const Curve& running,
                      std::span<const Curve* const> others,
                      const std::string& who) {
  const Goal goal = halving.goal;
  const double value = running.points[rung - 1].value;
  std::vector<double> values = {value};
  for (const Curve* other : others) {
    if (other->points.size() >= rung) values.push_back(other->points[rung - 1].value);
  }
  // NaN sorts last: IsBetter ranks it below every number.
  std::ranges::sort(values, [goal](double a, double b) { return IsBetter(goal, a, b); });
  const std::size_t arrived = values.size();
  const std::size_t best = arrived / static_cast<std::size_t>(halving.factor);
  const std::size_t kept = halving.is_promotion ? best : std::max<std::size_t>(1, best);
  const double cutoff = kept == 0 ? std::nan("") : values[kept - 1];
  const auto better =
      std::ranges::count_if(values, [&](double other) { return IsBetter(goal, other, value); });
  Verdict verdict;
  // A trial as good as the last one that is kept goes on, too.
  verdict.stop = kept == 0 || std::isnan(value) || IsBetter(goal, cutoff, value);
  verdict.numbers = {{"rung", static_cast<double>(rung)},
                     {"curves", static_cast<double>(arrived)},
                     {"rank", static_cast<double>(better + 1)}};
  if (!std::isnan(value)) verdict.numbers["value"] = value;
  if (!std::isnan(cutoff)) verdict.numbers["cutoff"] = cutoff;
  verdict.explanation = fmt::format("{:.6g} at report {} has rank {} of {} {}; the best {} go on",
                                    value,
                                    rung,
                                    better + 1,
                                    arrived,
                                    who,
                                    kept);
  return verdict;
}

Verdict NotAtARung(std::size_t reports) {
  return {.explanation = fmt::format("{} values reported, no rung", reports)};
}

Verdict LengthUnknown() {
  return {.explanation = "no trial has ended by itself yet, which the rungs are derived from"};
}

class AshaRule final : public EarlyStopper {
 public:
  // Numbers of reports: at the first rung, of a whole trial.
  AshaRule(const Halving& halving,
           std::optional<std::int64_t> first,
           std::optional<std::int64_t> length,
           std::string json)
      : halving_(halving), first_(first), length_(length), json_(std::move(json)) {}

  std::string_view name() const override { return "asha"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return json_; }
  bool needs_pausing() const override { return halving_.is_promotion; }

  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    const std::int64_t length = length_.value_or(UsualReports(CompleteCurves(others)));
    std::int64_t first = first_.value_or(0);
    if (!first_.has_value()) {
      if (length == 0) return LengthUnknown();
      const double share =
          static_cast<double>(length) / std::pow(static_cast<double>(halving_.factor), kUsualRungs);
      first = std::max<std::int64_t>(1, std::llround(share));
    }
    const std::optional<std::int64_t> rung = RungOf(running, first, halving_.factor);
    // At its end nothing is left to be saved of a trial.
    const bool is_whole = length > 0 && rung.value_or(0) >= length;
    if (!rung.has_value() || is_whole) return NotAtARung(running.points.size());
    std::vector<const Curve*> all;
    all.reserve(others.size());
    for (const Curve& other : others) all.push_back(&other);
    return CompareAtRung(halving_, static_cast<std::size_t>(*rung), running, all, "trials");
  }

 private:
  const Halving halving_;
  const std::optional<std::int64_t> first_;
  const std::optional<std::int64_t> length_;
  const std::string json_;
};

class HyperbandRule final : public EarlyStopper {
 public:
  HyperbandRule(Goal goal,
                std::int64_t factor,
                std::int64_t min_resource,
                std::optional<std::int64_t> max_resource,
                std::string json)
      : goal_(goal),
        factor_(factor),
        min_(min_resource),
        max_(max_resource),
        json_(std::move(json)) {}

  std::string_view name() const override { return "hyperband"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return json_; }

  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    const std::int64_t length = max_.value_or(UsualReports(CompleteCurves(others)));
    if (length == 0) return LengthUnknown();
    const std::vector<double> weights = Weights(length);
    const std::size_t bracket = BracketOf(running.trial, weights);
    std::int64_t first = min_;
    for (std::size_t i = 0; i < bracket; ++i) first *= factor_;
    const std::optional<std::int64_t> rung = RungOf(running, first, factor_);
    if (!rung.has_value()) return NotAtARung(running.points.size());
    std::vector<const Curve*> mates;
    for (const Curve& other : others) {
      if (BracketOf(other.trial, weights) == bracket) mates.push_back(&other);
    }
    Verdict verdict = CompareAtRung({.goal = goal_, .factor = factor_},
                                    static_cast<std::size_t>(*rung),
                                    running,
                                    mates,
                                    fmt::format("in bracket {}", bracket));
    verdict.numbers["bracket"] = static_cast<double>(bracket);
    return verdict;
  }

 private:
  // Shares of the trials in each bracket, so that brackets have about the same budget: ceil(B eta^s / (s + 1)) for the
  // bracket whose trials are halved s times.
  std::vector<double> Weights(std::int64_t length) const {
    std::size_t brackets = 1;
    for (std::int64_t rung = min_; rung <= length / factor_; rung *= factor_) ++brackets;
    std::vector<double> weights(brackets);
    for (std::size_t i = 0; i < brackets; ++i) {
      const auto halvings = static_cast<double>(brackets - 1 - i);
      const double trials = std::pow(static_cast<double>(factor_), halvings);
      weights[i] = std::ceil(static_cast<double>(brackets) * trials / (halvings + 1));
    }
    return weights;
  }

  static std::size_t BracketOf(TrialNumber trial, std::span<const double> weights) {
    double total = 0;
    for (const double weight : weights) total += weight;
    // The stream of the trial's number under a fixed seed: spread, and the same in every process.
    double at = Rng(0).Fork(static_cast<std::uint64_t>(trial.value())).Uniform() * total;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
      at -= weights[i];
      if (at < 0) return i;
    }
    return weights.size() - 1;
  }

  const Goal goal_;
  const std::int64_t factor_;
  const std::int64_t min_;
  const std::optional<std::int64_t> max_;
  const std::string json_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewAshaRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  const std::int64_t factor = reader.Int("reduction_factor", 4, 2, kMaxFactor);
  const std::optional<std::int64_t> first = reader.OptionalInt("min_resource", 1, kMostCounted);
  const std::optional<std::int64_t> length =
      reader.OptionalInt("max_resource", first.value_or(1), kMostCounted);
  const std::string type = reader.Text("type", kStoppingType, {kStoppingType, kPromotionType});
  VERNIER_RETURN_IF_ERROR(reader.Check());
  const Halving halving{.goal = goal, .factor = factor, .is_promotion = type == kPromotionType};
  return std::make_unique<AshaRule>(halving, first, length, reader.Json());
}

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewHyperbandRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  const std::int64_t factor = reader.Int("reduction_factor", 3, 2, kMaxFactor);
  const std::int64_t first = reader.Int("min_resource", 1, 1, kMostCounted);
  const std::optional<std::int64_t> length =
      reader.OptionalInt("max_resource", first, kMostCounted);  // Else no trial came to a rung.
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<HyperbandRule>(goal, factor, first, length, reader.Json());
}

}  // namespace vernier
