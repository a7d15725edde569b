#include "vernier/registry.h"

#include <string_view>

#include "algorithms/early_stopping/median_rule.h"
#include "algorithms/gaussian_process/gp_optimizer.h"
#include "algorithms/grid/grid_optimizer.h"
#include "algorithms/options.h"
#include "algorithms/quasi_random/quasi_random_optimizer.h"
#include "algorithms/random/random_optimizer.h"
#include "fmt/format.h"
#include "src/core/nearest.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

struct Algorithm {
  std::string_view name;
  absl::StatusOr<std::unique_ptr<Optimizer>> (*create)(const Problem& problem,
                                                       const Choice& choice);
};
// In the order of their names. An entry here is all that it takes: the contract test walks this table.
constexpr Algorithm kAlgorithms[] = {
    {"gp", NewGpOptimizer},
    {"grid", NewGridOptimizer},
    {"quasi-random", NewQuasiRandomOptimizer},
    {"random", NewRandomOptimizer},
};

// The study stops nothing early: no rule at all.
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewNoRule(Goal /*goal*/, const Choice& choice) {
  VERNIER_RETURN_IF_ERROR(OptionReader("stopping", choice).Finish());
  return nullptr;
}

struct StoppingRule {
  std::string_view name;
  absl::StatusOr<std::unique_ptr<EarlyStopper>> (*create)(Goal goal, const Choice& choice);
};
constexpr StoppingRule kStoppingRules[] = {
    {"median", NewMedianRule},
    {"none", NewNoRule},
};

template <typename Entry, std::size_t n>
std::vector<std::string> Names(const Entry (&table)[n]) {
  std::vector<std::string> names;
  for (const Entry& entry : table) names.emplace_back(entry.name);
  return names;
}

// `field`: where the name stands in the study file. `kind`: what it names.
template <typename Entry, std::size_t n>
absl::StatusOr<const Entry*> Find(const Entry (&table)[n],
                                  const std::string& name,
                                  std::string_view field,
                                  std::string_view kind) {
  for (const Entry& entry : table) {
    if (entry.name == name) return &entry;
  }
  return FieldError(field,
                    fmt::format("unknown {} '{}'{}", kind, name, NearestHint(name, Names(table))));
}

}  // namespace

std::vector<std::string> AlgorithmNames() { return Names(kAlgorithms); }

absl::StatusOr<std::unique_ptr<Optimizer>> NewOptimizer(const Choice& choice,
                                                        const Problem& problem) {
  VERNIER_ASSIGN_OR_RETURN(const Algorithm* algorithm,
                           Find(kAlgorithms, choice.name, "algorithm", "algorithm"));
  return algorithm->create(problem, choice);
}

std::vector<std::string> StoppingRuleNames() { return Names(kStoppingRules); }

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewEarlyStopper(const Choice& choice, Goal goal) {
  VERNIER_ASSIGN_OR_RETURN(const StoppingRule* rule,
                           Find(kStoppingRules, choice.name, "stopping", "stopping rule"));
  return rule->create(goal, choice);
}

}  // namespace vernier
