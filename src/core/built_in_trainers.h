#pragma once

#include <array>
#include <string>
#include <string_view>

// The trainers that Vernier brings with it (trainers/vernier_trainers), which a job names instead of a program.
namespace vernier {

inline constexpr std::array<std::string_view, 4> kBuiltInTrainers = {
    "linear_learner", "tab_net", "wide_deep", "xgboost"};

// Whether the trainer shares its work among a chief and workers. The others run in one replica.
inline bool TakesWorkers(std::string_view trainer) { return trainer == "xgboost"; }

// Modules below it are Vernier's own.
inline constexpr std::string_view kBuiltInPackage = "vernier_trainers.";

inline std::string BuiltInModule(std::string_view trainer) {
  return std::string(kBuiltInPackage).append(trainer);
}

inline bool IsBuiltInModule(std::string_view module) { return module.starts_with(kBuiltInPackage); }

// Where AI Platform Training kept the images of its built-in algorithms. They stand for trainers, and are not run.
inline constexpr std::string_view kBuiltInRegistry = "gcr.io/cloud-ml-algos/";

inline bool IsBuiltInImage(std::string_view image) { return image.starts_with(kBuiltInRegistry); }

// "xgboost" of "vernier_trainers.xgboost".  REQUIRES: IsBuiltInModule(module).
inline std::string_view BuiltInTrainer(std::string_view module) {
  return module.substr(kBuiltInPackage.size());
}

}  // namespace vernier
