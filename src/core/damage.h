#pragma once

#include <string_view>

#include "absl/status/status.h"

// What is said of a store that cannot be read any more.
namespace vernier {

// DataLoss (kDataLoss): "<what>: <why>; <what to do>".
absl::Status Damage(std::string_view what, std::string_view why);
// The message of such a status, or any other, without what to do.
std::string_view WithoutAdvice(std::string_view message);
// A DataLoss as damage of the study with that name, said once; any other status as it is. Empty name: of the store.
absl::Status DamageOf(std::string_view study, const absl::Status& status);

}  // namespace vernier
