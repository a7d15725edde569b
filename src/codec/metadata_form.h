#pragma once

#include "src/codec/form.h"
#include "vernier/core/metadata.h"

namespace vernier::codec {

// A list of {"space": …, "name": …, "text": …}, or, of what is no text, {…, "type": URL, "bytes": base64}.
template <>
struct Form<Metadata> {
  static Json Write(const Metadata& metadata);
  static absl::Status Read(const Json& json, Metadata& metadata);
};

// A list of {"trial": 3, "metadata": […]}.
template <>
struct Form<std::map<TrialNumber, Metadata>> {
  static Json Write(const std::map<TrialNumber, Metadata>& trials);
  static absl::Status Read(const Json& json, std::map<TrialNumber, Metadata>& trials);
};

}  // namespace vernier::codec
