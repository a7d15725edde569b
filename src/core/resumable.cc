#include "src/core/resumable.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

namespace vernier {
namespace {

constexpr char kProbability[] = "probability";
// A prediction takes some milliseconds. A choice.
constexpr std::size_t kMostPredicted = 100;

std::optional<double> ProbabilityOf(const std::map<std::string, double>& numbers) {
  const auto found = numbers.find(kProbability);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
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

Rank RankOf(double probability, Goal goal, const Curve& curve) {
  const double last = curve.points.empty() ? std::nan("") : curve.points.back().value;
  double value = goal == Goal::kMaximize ? -last : last;
  if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  return {-probability, -std::ssize(curve.points), value, curve.trial};
}

}  // namespace

std::vector<TrialNumber> ChooseResumable(const PausedTrials& paused, CurveBook& curves) {
  std::vector<Rank> ranks;
  for (const TrialNumber trial : Judged(paused)) {
    double probability = 0;
    if (paused.rule != nullptr) {
      const Verdict verdict = curves.Judge(*paused.rule, trial);
      if (verdict.stop) continue;
      probability = ProbabilityOf(verdict.numbers).value_or(0);
    }
    ranks.push_back(RankOf(probability, paused.goal, curves.Get(trial)));
  }
  std::ranges::sort(ranks);
  std::vector<TrialNumber> trials;
  trials.reserve(ranks.size());
  for (const Rank& rank : ranks) trials.push_back(std::get<TrialNumber>(rank));
  return trials;
}

}  // namespace vernier
