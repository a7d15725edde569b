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

// The algorithms and stopping rules that studies may name. A value: a copy shares nothing with what it was copied from.
//
//   AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
//   const absl::Status added = catalogue.AddAlgorithm("halton", [](const Problem& problem, const Choice&) {
//     return std::make_unique<HaltonOptimizer>(problem);
//   });
//   const auto studies = Studies::Create(*storage, *clock, catalogue);
//
// Replay asks a study's algorithm and rule again: a program that opens the store later must know the same names, and version()
// of what they make must change when suggestions or verdicts do.
// Thread safety: const calls may run concurrently.
class AlgorithmCatalogue {
 public:
  // Both get the name and the options as the study has them, and answer alike for equal arguments. They refuse with
  // InvalidArgument, a FieldError: with path "algorithm.OPTION" or "stopping.OPTION" for options, of a parameter
  // ("parameters.lr.float") for a space that they cannot take. Called from any thread, also for studies that are only validated.
  using OptimizerFactory =
      std::function<absl::StatusOr<std::unique_ptr<Optimizer>>(const Problem&, const Choice&)>;
  // Null: a rule that stops nothing, as "none".
  using EarlyStopperFactory =
      std::function<absl::StatusOr<std::unique_ptr<EarlyStopper>>(Goal, const Choice&)>;

  // Has none.
  AlgorithmCatalogue() = default;
  // Those that ship with Vernier: "gp", "grid", "quasi-random", "random"; "median", "none".
  static AlgorithmCatalogue BuiltIn();

  // InvalidArgument: the name is not of 1 to 64 letters, digits, '.', '_' and '-', or the factory is null.
  // AlreadyExists: the name is taken.
  absl::Status AddAlgorithm(const std::string& name, OptimizerFactory factory);
  absl::Status AddStoppingRule(const std::string& name, EarlyStopperFactory factory);

  // In alphabetical order.
  std::vector<std::string> AlgorithmNames() const;
  std::vector<std::string> StoppingRuleNames() const;

  // InvalidArgument: a FieldError. With path "algorithm…": unknown name (with the nearest known one), unknown or illegal
  // option, or a space that the algorithm cannot take. With the path of a parameter, "parameters.lr.float": one that the
  // algorithm cannot take (grid over a float without points or a step). With path "warm_start[0]": an
  // earlier study with a point outside the space.  Internal: the factory threw, or made nothing.
  absl::StatusOr<std::unique_ptr<Optimizer>> NewOptimizer(const Choice& choice,
                                                          const Problem& problem) const;
  // Null for "none".  InvalidArgument: a FieldError with path "stopping…".  Internal: the factory threw.
  absl::StatusOr<std::unique_ptr<EarlyStopper>> NewEarlyStopper(const Choice& choice,
                                                                Goal goal) const;

 private:
  std::map<std::string, OptimizerFactory, std::less<>> algorithms_;
  std::map<std::string, EarlyStopperFactory, std::less<>> stopping_rules_;
};

// What a computation's bits may depend on: instruction set, compiler, Eigen. "x86-64 gcc-12.2.0 eigen-3.4.0".
std::string NumericsFingerprint();

}  // namespace vernier
