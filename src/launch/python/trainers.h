#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

// The trainers that Vernier brings with it (trainers/vernier_trainers), where Python finds them.
namespace vernier::launch {

struct TrainerSource {
  std::string_view name;  // "xgboost.py"
  std::string_view text;
};

// Every file of the package.
const std::vector<TrainerSource>& TrainerSources();

// Writes the package below the folder, unless it is there, and gives what PYTHONPATH has to name: a folder for each
// version of the package, so that one that runs never changes.  Unavailable: the folder cannot be written.
absl::StatusOr<std::string> PlaceTrainers(const std::string& directory);

}  // namespace vernier::launch
