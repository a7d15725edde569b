#include "vernier/algorithm_catalogue.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "algorithms/early_stopping/end_rule.h"
#include "algorithms/early_stopping/percentile_rule.h"
#include "algorithms/early_stopping/successive_halving.h"
#include "algorithms/gaussian_process/gp_optimizer.h"
#include "algorithms/grid/grid_optimizer.h"
#include "algorithms/options.h"
#include "algorithms/quasi_random/quasi_random_optimizer.h"
#include "algorithms/random/random_optimizer.h"
#include "fmt/format.h"
#include "src/core/nearest.h"
#include "src/core/own_code.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

// Largest length of a name. A choice.
constexpr std::size_t kLongestName = 64;

// The factory of "none". Null stands for a study without a rule.
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewNoRule(Goal /*goal*/, const Choice& choice) {
  VERNIER_RETURN_IF_ERROR(OptionReader("stopping", choice).Check());
  return nullptr;
}

bool IsName(std::string_view name) {
  const auto is_fit = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_fit);
}

template <typename Factories>
std::vector<std::string> NamesOf(const Factories& factories) {
  std::vector<std::string> names;
  names.reserve(factories.size());
  for (const auto& [name, factory] : factories) names.push_back(name);
  return names;
}

// Adds a factory. `kind`: the kind of its products, for messages.
template <typename Factories>
absl::Status Add(const std::string& name,
                 typename Factories::mapped_type factory,
                 std::string_view kind,
                 Factories& factories) {
  if (!IsName(name)) {
    return InvalidArgument(
        "{} '{}': a name has 1 to {} letters, digits, '.', '_' and '-'", kind, name, kLongestName);
  }
  if (factory == nullptr) return InvalidArgument("{} '{}' has no factory", kind, name);
  if (factories.try_emplace(name, std::move(factory)).second) return absl::OkStatus();
  return AlreadyExists("the name of {} '{}' is taken", kind, name);
}

// The error of a name that is not among `known`, which lists what a user may write.
absl::Status Unknown(const Choice& choice,
                     std::string_view field,
                     std::string_view kind,
                     std::vector<std::string> known) {
  std::erase(known, kOwnCode);
  const auto named = choice.options.find("class");
  if (choice.name == kOwnCode && named != choice.options.end()) {
    return FieldError(
        field,
        fmt::format("{} '{}' is a class of a Python program, which this program cannot call",
                    kind,
                    FormatValue(named->second)));
  }
  return FieldError(
      field, fmt::format("unknown {} '{}'{}", kind, choice.name, NearestHint(choice.name, known)));
}

// Calls the factory that `choice` names. `field`: the field of the name in the study file.
template <typename Factories, typename Subject>
auto Make(const Factories& factories,
          const Choice& choice,
          std::string_view field,
          std::string_view kind,
          const Subject& subject) -> decltype(factories.begin()->second(subject, choice)) {
  const auto at = factories.find(choice.name);
  if (at == factories.end()) return Unknown(choice, field, kind, NamesOf(factories));
  try {  // The factory may be a user's, and no exception may leave the library.
    return at->second(subject, choice);
  } catch (const std::exception& error) {
    return Internal("{} '{}' cannot be made: {}", kind, choice.name, error.what());
  }
}

// Removes the option "act" and returns it: whether the rule stops trials. Rules never see it.
absl::StatusOr<bool> TakeActs(Choice& rule) {
  const auto at = rule.options.find(kActOption);
  if (at == rule.options.end()) return true;
  const bool* acts = std::get_if<bool>(&at->second);
  if (acts == nullptr) {
    return FieldError("stopping.act",
                      fmt::format("must be true or false, got {}", FormatValue(at->second)));
  }
  const bool result = *acts;
  rule.options.erase(at);
  return result;
}

constexpr char kAlgorithm[] = "algorithm";
constexpr char kStoppingRule[] = "stopping rule";

}  // namespace

AlgorithmCatalogue AlgorithmCatalogue::BuiltIn() {
  AlgorithmCatalogue catalogue;
  catalogue.algorithms_ = {{"gp", NewGpOptimizer},
                           {"grid", NewGridOptimizer},
                           {"quasi-random", NewQuasiRandomOptimizer},
                           {"random", NewRandomOptimizer}};
  catalogue.stopping_rules_ = {{"asha", NewAshaRule},
                               {"automatic", NewAutomaticRule},
                               {"decay", NewDecayRule},
                               {"hyperband", NewHyperbandRule},
                               {"median", NewMedianRule},
                               {"none", NewNoRule},
                               {"percentile", NewPercentileRule},
                               {"regression", NewRegressionRule},
                               {"successive_halving", NewAshaRule}};  // The peers' name.
  return catalogue;
}

absl::Status AlgorithmCatalogue::AddAlgorithm(const std::string& name, OptimizerFactory factory) {
  return Add(name, std::move(factory), kAlgorithm, algorithms_);
}

absl::Status AlgorithmCatalogue::AddStoppingRule(const std::string& name,
                                                 EarlyStopperFactory factory) {
  return Add(name, std::move(factory), kStoppingRule, stopping_rules_);
}

std::vector<std::string> AlgorithmCatalogue::AlgorithmNames() const { return NamesOf(algorithms_); }

std::vector<std::string> AlgorithmCatalogue::StoppingRuleNames() const {
  return NamesOf(stopping_rules_);
}

absl::StatusOr<std::unique_ptr<Optimizer>> AlgorithmCatalogue::NewOptimizer(
    const Choice& choice, const Problem& problem) const {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                           Make(algorithms_, choice, "algorithm", kAlgorithm, problem));
  if (optimizer == nullptr) return Internal("algorithm '{}' made nothing", choice.name);
  return optimizer;
}

absl::StatusOr<std::unique_ptr<EarlyStopper>> AlgorithmCatalogue::NewEarlyStopper(
    const Choice& choice, Goal goal) const {
  Choice rule = choice;
  VERNIER_ASSIGN_OR_RETURN(const bool acts, TakeActs(rule));
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<EarlyStopper> stopper,
                           Make(stopping_rules_, rule, "stopping", kStoppingRule, goal));
  // A rule that must not act is made all the same, so that an illegal option is refused now.
  if (!acts) stopper = nullptr;
  return stopper;
}

}  // namespace vernier
