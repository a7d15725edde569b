#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/ids.h"

// Resource names: studies/STUDY, studies/STUDY/trials/NUMBER and nodes/NODE.
namespace vernier::wire {

struct TrialName {
  std::string study;
  TrialNumber number;
  friend bool operator==(const TrialName&, const TrialName&) = default;
};

std::string StudyResource(std::string_view study);
std::string TrialResource(std::string_view study, TrialNumber number);
std::string NodeResource(std::string_view node);

// InvalidArgument: a FieldError at `field`, the name of the request's field that holds the resource's name.
absl::StatusOr<std::string> ParseStudyName(std::string_view field, std::string_view name);
absl::StatusOr<TrialName> ParseTrialName(std::string_view field, std::string_view name);
absl::StatusOr<std::string> ParseNodeName(std::string_view field, std::string_view name);

}  // namespace vernier::wire
