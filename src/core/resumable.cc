#include "src/core/resumable.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

namespace vernier {
namespace {

constexpr char kProbability[] = "probability";
constexpr char kBest[] = "best";
// A prediction takes some milliseconds. A choice.
constexpr std::size_t kMostPredicted = 100;

std::optional<double> ProbabilityOf(const std::map<std::string, double>& numbers) {
  const auto found = numbers.find(kProbability);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

// E[max(0, end - best)] for an end with a normal distribution (Jones et al., 1998, eq. 15); for Goal::kMinimize of best - end.
// nullopt: the rule predicts no end.
std::optional<double> ExpectedImprovement(const std::map<std::string, double>& numbers, Goal goal) {
  const std::optional<ExpectedEnd> end = ExpectedEndOf(numbers);
  const auto best = numbers.find(kBest);
  if (!end.has_value() || best == numbers.end()) return std::nullopt;
  const double above =
      goal == Goal::kMaximize ? end->mean - best->second : best->second - end->mean;
  if (!(end->deviation > 0)) return std::max(above, 0.0);
  const double z = above / end->deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return above * 0.5 * std::erfc(-z / std::numbers::sqrt2) + end->deviation * density;
}

double HoursLeft(const PausedTrials& paused,
                 std::int64_t usual,
                 absl::Duration usual_time,
                 const Curve& curve) {
  const auto known = paused.report_times.find(curve.trial);
  const absl::Duration each = known == paused.report_times.end() ? usual_time : known->second;
  return static_cast<double>(std::max<std::int64_t>(usual - std::ssize(curve.points), 1)) *
         absl::ToDoubleHours(each);
}

// Mean of those that are known. An hour, if none is: then reports are counted in place of hours.
absl::Duration UsualTime(const std::map<TrialNumber, absl::Duration>& report_times) {
  if (report_times.empty()) return absl::Hours(1);
  absl::Duration sum;
  for (const auto& [trial, time] : report_times) sum += time;
  return sum / static_cast<std::int64_t>(report_times.size());
}

std::vector<TrialNumber> Judged(const PausedTrials& paused) {
  std::vector<TrialNumber> trials;
  std::vector<std::pair<double, TrialNumber>> likely;
  for (const auto& [trial, numbers] : paused.verdicts) {
    if (const auto probability = ProbabilityOf(numbers)) {
      likely.emplace_back(-*probability, trial);
    } else {
      trials.push_back(trial);
    }
  }
  std::ranges::sort(likely);
  if (likely.size() > kMostPredicted) likely.resize(kMostPredicted);
  for (const auto& [probability, trial] : likely) trials.push_back(trial);
  return trials;
}

// Less comes first.
using Rank = std::tuple<double, std::int64_t, double, TrialNumber>;

Rank RankOf(double gain, Goal goal, const Curve& curve) {
  const double last = curve.points.empty() ? std::nan("") : curve.points.back().value;
  double value = goal == Goal::kMaximize ? -last : last;
  if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  return {-gain, -std::ssize(curve.points), value, curve.trial};
}

}  // namespace

std::vector<TrialNumber> ChooseResumable(const PausedTrials& paused, CurveBook& curves) {
  const std::int64_t usual = curves.UsualReports();
  const absl::Duration usual_time = UsualTime(paused.report_times);
  std::vector<Rank> ranks;
  for (const TrialNumber trial : Judged(paused)) {
    double gain = 0;  // For each hour.
    if (paused.rule != nullptr) {
      const Verdict verdict = curves.Judge(*paused.rule, trial);
      if (verdict.stop) continue;
      if (const auto improvement = ExpectedImprovement(verdict.numbers, paused.goal)) {
        gain = *improvement / HoursLeft(paused, usual, usual_time, curves.Get(trial));
      }
    }
    ranks.push_back(RankOf(gain, paused.goal, curves.Get(trial)));
  }
  std::ranges::sort(ranks);
  std::vector<TrialNumber> trials;
  trials.reserve(ranks.size());
  for (const Rank& rank : ranks) trials.push_back(std::get<TrialNumber>(rank));
  return trials;
}

}  // namespace vernier
