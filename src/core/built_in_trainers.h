#pragma once

#include <array>
#include <string>
#include <string_view>

// The built-in trainers (trainers/vernier_trainers), which a job can name in place of a program (ADR 26).
namespace vernier {

inline constexpr std::array<std::string_view, 4> kBuiltInTrainers = {
    "linear_learner", "tab_net", "wide_deep", "xgboost"};

// Whether the trainer can run in a chief and workers. The others run in one replica.
inline bool TakesWorkers(std::string_view trainer) { return trainer == "xgboost"; }

// The Python package of the built-in trainers. Modules in it are Vernier's own.
inline constexpr std::string_view kBuiltInPackage = "vernier_trainers.";

inline std::string BuiltInModule(std::string_view trainer) {
  return std::string(kBuiltInPackage).append(trainer);
}

inline bool IsBuiltInModule(std::string_view module) { return module.starts_with(kBuiltInPackage); }

// The registry of AI Platform Training's images of built-in algorithms. A job with such an image runs a trainer
// instead.
inline constexpr std::string_view kBuiltInRegistry = "gcr.io/cloud-ml-algos/";

inline bool IsBuiltInImage(std::string_view image) { return image.starts_with(kBuiltInRegistry); }

// Returns "xgboost" for "vernier_trainers.xgboost".  REQUIRES: IsBuiltInModule(module).
inline std::string_view BuiltInTrainer(std::string_view module) {
  return module.substr(kBuiltInPackage.size());
}

}  // namespace vernier
