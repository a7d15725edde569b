#pragma once

#include <compare>
#include <map>
#include <string>

#include "vernier/core/ids.h"

namespace vernier {

// What programs keep beside a study and its trials, for programs. Vernier stores it and never reads it.
struct MetadataKey {
  std::string space;  // Keeps programs apart; may be empty.
  std::string name;
  friend auto operator<=>(const MetadataKey&, const MetadataKey&) = default;
};
struct MetadataValue {
  // Empty: `content` is text. Else what kind of bytes it is: the type URL of a message.
  std::string type;
  std::string content;
  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};
using Metadata = std::map<MetadataKey, MetadataValue>;

// Values to set, all of them or none; what is not named stays.
struct MetadataUpdate {
  Metadata study;
  std::map<TrialNumber, Metadata> trials;
  friend bool operator==(const MetadataUpdate&, const MetadataUpdate&) = default;
};
// Sets in `metadata` what `values` holds.
void Merge(const Metadata& values, Metadata& metadata);

}  // namespace vernier
