#pragma once

#include <utility>

#include "vernier/algorithm_catalogue.h"

namespace vernier::testing {

// Returns `catalogue` with this optimiser in place of every algorithm, under the same names.
inline AlgorithmCatalogue WithOptimizer(const AlgorithmCatalogue& catalogue,
                                        const AlgorithmCatalogue::OptimizerFactory& factory) {
  AlgorithmCatalogue changed;
  for (const auto& name : catalogue.AlgorithmNames()) {
    changed.AddAlgorithm(name, factory).IgnoreError();
  }
  for (const auto& name : catalogue.StoppingRuleNames()) {
    const auto same = [catalogue](Goal goal, const Choice& choice) {
      return catalogue.NewEarlyStopper(choice, goal);
    };
    changed.AddStoppingRule(name, same).IgnoreError();
  }
  return changed;
}

// Returns `catalogue` with this rule in place of every stopping rule, under the same names.
inline AlgorithmCatalogue WithStopper(const AlgorithmCatalogue& catalogue,
                                      const AlgorithmCatalogue::EarlyStopperFactory& factory) {
  AlgorithmCatalogue changed;
  for (const auto& name : catalogue.AlgorithmNames()) {
    const auto same = [catalogue](const Problem& problem, const Choice& choice) {
      return catalogue.NewOptimizer(choice, problem);
    };
    changed.AddAlgorithm(name, same).IgnoreError();
  }
  for (const auto& name : catalogue.StoppingRuleNames()) {
    changed.AddStoppingRule(name, factory).IgnoreError();
  }
  return changed;
}

}  // namespace vernier::testing
