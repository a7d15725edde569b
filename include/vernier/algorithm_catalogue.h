#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/choice.h"
#include "vernier/core/objective.h"
#include "vernier/early_stopper.h"
#include "vernier/optimizer.h"

namespace vernier {

// Option of every stopping rule: false if it must not stop trials.
inline constexpr char kActOption[] = "act";

// The algorithms and stopping rules that studies may name.
//
//   AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
//   const absl::Status added = catalogue.AddAlgorithm("halton", [](const Problem& problem, const Choice&) {
//     return std::make_unique<HaltonOptimizer>(problem);
//   });
//   const auto studies = Studies::Create(*storage, *clock, catalogue);
//
// A value: copies are independent. Thread safety: const calls may run concurrently.
//
// Replay calls the algorithm and the rule of a study again. So every program that opens a store must know the same
// names, and an algorithm or rule must change its version() when it changes its suggestions or verdicts.
class AlgorithmCatalogue {
 public:
  // Makes an algorithm for a problem, from the name and options in the study. Equal arguments must give equal
  // optimisers. Called from any thread, also for studies that are only validated.
  // InvalidArgument: a FieldError with path "algorithm.OPTION" for an unknown or illegal option, or with the path of a
  // parameter ("parameters.lr.float") for a space that the algorithm cannot handle.
  using OptimizerFactory =
      std::function<absl::StatusOr<std::unique_ptr<Optimizer>>(const Problem&, const Choice&)>;
  // Makes a stopping rule for an objective with this goal. Null: a rule that stops nothing, as "none". The rest as
  // OptimizerFactory, with path "stopping.OPTION".
  using EarlyStopperFactory =
      std::function<absl::StatusOr<std::unique_ptr<EarlyStopper>>(Goal, const Choice&)>;

  // An empty catalogue.
  AlgorithmCatalogue() = default;
  // What ships with Vernier: the algorithms "gp", "grid", "quasi-random" and "random", the rules
  // "asha" (also "successive_halving"), "automatic", "decay", "hyperband", "median", "none", "percentile" and
  // "regression".
  static AlgorithmCatalogue BuiltIn();

  // InvalidArgument: the name does not consist of 1 to 64 letters, digits, '.', '_' and '-', or the factory is null.
  // AlreadyExists: the name is taken.
  absl::Status AddAlgorithm(const std::string& name, OptimizerFactory factory);
  // Errors: as AddAlgorithm. A rule may have the name of an algorithm.
  absl::Status AddStoppingRule(const std::string& name, EarlyStopperFactory factory);

  // In alphabetical order.
  std::vector<std::string> AlgorithmNames() const;
  std::vector<std::string> StoppingRuleNames() const;

  // Makes the algorithm that `choice` names. Never null if OK.
  // InvalidArgument: a FieldError. Path "algorithm": unknown name, with the nearest known one. Path "algorithm.OPTION":
  // unknown or illegal option. Path "parameters.lr.float": a parameter that the algorithm cannot handle (for "grid", a
  // float without points or step). Path "warm_start[0]": an earlier study has a point outside the space.
  // Internal: the factory threw, or returned null.
  absl::StatusOr<std::unique_ptr<Optimizer>> NewOptimizer(const Choice& choice,
                                                          const Problem& problem) const;
  // Makes the rule that `choice` names. Null for "none", and for a legal choice whose option "act" (kActOption) is false:
  // the study then runs as if it had no rule, and what the rule would have done can be computed from its curves.
  // InvalidArgument: a FieldError with path "stopping" or "stopping.OPTION".  Internal: the factory threw.
  absl::StatusOr<std::unique_ptr<EarlyStopper>> NewEarlyStopper(const Choice& choice,
                                                                Goal goal) const;

 private:
  std::map<std::string, OptimizerFactory, std::less<>> algorithms_;
  std::map<std::string, EarlyStopperFactory, std::less<>> stopping_rules_;
};

// Names what the bits of a computation may depend on: instruction set, compiler, optimisation, Eigen and C library, as
// in "x86-64 gcc-12.2.0 -O2 eigen-3.4.0 glibc-2.36+fma". Equal inputs give equal suggestions where it is equal.
std::string NumericsFingerprint();

}  // namespace vernier
