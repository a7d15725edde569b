#pragma once

#include <string_view>

#include "absl/status/status.h"

// Errors about damaged stores.
namespace vernier {

// Returns DataLoss (kDataLoss) with the message "<what>: <why>; <advice>".
absl::Status Damage(std::string_view what, std::string_view why);
// Returns the message of a status without the advice.
std::string_view WithoutAdvice(std::string_view message);
// Turns a DataLoss status into Damage of this study, unless it is that already; returns other statuses unchanged. Empty
// name: damage of the store as a whole.
absl::Status DamageOf(std::string_view study, const absl::Status& status);

}  // namespace vernier
