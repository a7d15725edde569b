#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

// The built-in trainers (trainers/vernier_trainers), written to where Python finds them.
namespace vernier::launch {

struct TrainerSource {
  std::string_view name;  // "xgboost.py"
  std::string_view text;
};

// All files of the package.
const std::vector<TrainerSource>& TrainerSources();

// Writes the package below the folder, unless it is there. Returns the folder for PYTHONPATH: one for each version of
// the package, so that the files of running trainers never change.  Unavailable: the folder cannot be written.
absl::StatusOr<std::string> PlaceTrainers(const std::string& directory);

}  // namespace vernier::launch
