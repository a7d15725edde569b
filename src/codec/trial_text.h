#pragma once

#include <optional>
#include <string_view>

#include "vernier/core/trial.h"

namespace vernier::codec {

// The row of a trial, read without a document in between: pages of a long study are made of these. Returns nothing for a text
// that is not written exactly as the store writes it, or has metadata; TrialFromJson reads it then, or says what is wrong with it.
std::optional<Trial> ReadTrialText(std::string_view text);

}  // namespace vernier::codec
