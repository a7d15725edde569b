#pragma once

#include <compare>
#include <map>
#include <string>

#include "vernier/core/ids.h"

namespace vernier {

// A key of data that programs store with a study or a trial. Vernier stores the data and never interprets it.
struct MetadataKey {
  std::string space;  // Namespace, to keep programs apart; may be empty.
  std::string name;
  friend auto operator<=>(const MetadataKey&, const MetadataKey&) = default;
};
struct MetadataValue {
  // Empty: `content` is text. Otherwise the type URL of the protobuf message in `content`.
  std::string type;
  std::string content;
  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};
using Metadata = std::map<MetadataKey, MetadataValue>;

// Values to set in one atomic change. Keys that are not given keep their values.
struct MetadataUpdate {
  Metadata study;
  std::map<TrialNumber, Metadata> trials;
  friend bool operator==(const MetadataUpdate&, const MetadataUpdate&) = default;
};
// Copies every entry of `values` into `metadata`.
void Merge(const Metadata& values, Metadata& metadata);

}  // namespace vernier
