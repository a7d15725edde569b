#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"
#include "vernier/optimizer.h"

namespace vernier {

// The algorithms and stopping rules that ship with Vernier, by name.

// "gp", "grid", "quasi-random", "random".
std::vector<std::string> AlgorithmNames();
// InvalidArgument: a FieldError. With path "algorithm…": unknown name (with the nearest known one), unknown or illegal
// option, or a space that the algorithm cannot take. With the path of a parameter, "parameters.lr.float": one that the
// algorithm cannot take (grid over a float without points or a step). With path "warm_start[0]": an
// earlier study with a point outside the space.
absl::StatusOr<std::unique_ptr<Optimizer>> NewOptimizer(const Choice& choice,
                                                        const Problem& problem);

// "median", "none".
std::vector<std::string> StoppingRuleNames();
// Null for "none".  InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewEarlyStopper(const Choice& choice, Goal goal);

// What a computation's bits may depend on: instruction set, compiler, Eigen. "x86-64 gcc-12.2.0 eigen-3.4.0".
std::string NumericsFingerprint();

}  // namespace vernier
