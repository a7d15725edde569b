#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/v1/study_service.pb.h"

// Flags that change the labels of a study.
namespace vernier::cli {

struct LabelFlags {
  std::vector<std::string> update;  // "team=vision,owner=ann"
  std::vector<std::string> remove;  // "team,owner"
  bool clear = false;
};

void AddLabelFlags(CLI::App& command, LabelFlags& flags);

// Adds the changes to the request.  InvalidArgument: names the flag.
absl::Status ApplyLabelFlags(const LabelFlags& flags, v1::UpdateStudyRequest& request);

// "a=1,b=2" as pairs, or "^:^a=1:b=2,3".  InvalidArgument: names the flag.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadPairs(std::string_view flag,
                                                                           const std::string& text);

}  // namespace vernier::cli
