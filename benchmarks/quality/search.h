#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/quality/functions.h"
#include "vernier/trial_log.h"

namespace vernier::quality {

// Whether its name or its family holds the text.
bool IsCalled(const Function& function, const std::string& text);

// The median regret of 1001 random points.
double ReferenceRegret(const Function& function);
// 0 is a median random point, 1 within 0.01 % of the optimum: -log10 of regret / reference within [1e-4, 1], over 4.
double Score(double regret, double reference);

// What a search came to: after each trial the score of the point with the best told value, what each trial was expected to
// improve when it was asked for, the trials, and what asking for them cost.
struct Run {
  std::vector<double> score;
  std::vector<std::optional<double>> expected_improvement;
  std::vector<Observation> trials;
  double seconds = 0;
};

// Minimises the function. The same seed gives the same noise. `earlier`: what is known from the start.
Run Search(const Function& function,
           double reference,
           const std::string& algorithm,
           std::uint64_t seed,
           std::size_t trials,
           std::vector<EarlierStudy> earlier = {},
           std::map<std::string, ParameterValue> options = {});

}  // namespace vernier::quality
