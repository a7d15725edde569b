#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/gcloud/transform.h"

// --format as `gcloud topic formats` and `gcloud topic projections` document it:
//
//   table[box,title=Jobs](jobId.basename(), state:label=STATUS, createTime.date(tz=LOCAL):sort=1:reverse)
namespace vernier::gcloud {

enum class Alignment { kLeft, kCenter, kRight };

// One key of the projection.
struct FormatColumn {
  Expression expression;
  std::string label;  // Heading: as given, or from the key's last names: "JOB_ID".
  bool has_label = false;
  Alignment align = Alignment::kLeft;
  std::optional<int> sort;  // Rows are ordered by these columns, smallest number first.
  bool reverse = false;
  bool optional = false;  // Left out if no row has a value.
  bool wraps = false;
  int width = 0;  // Minimum.
};

struct FormatSpec {
  std::string name;                               // "" if only attributes or keys were given.
  std::map<std::string, std::string> attributes;  // "box": "1"; "no-heading": "1".
  std::vector<FormatColumn> columns;

  bool Has(const std::string& attribute) const { return attributes.contains(attribute); }
  std::string Attribute(const std::string& attribute, const std::string& fallback) const;
};

// Empty text and "default" give an empty spec.  InvalidArgument: begins with `flag`, names the wrong part, and lists
// what is known.
absl::StatusOr<FormatSpec> ParseFormat(std::string_view flag,
                                       std::string_view text,
                                       const Aliases* aliases = nullptr);

}  // namespace vernier::gcloud
