#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "vernier/core/space.h"

namespace vernier::cli {

// The search space of the ask-tell protocol, and the conversion of its points. Listed values are returned as the JSON
// that listed them: 1 stays 1, and 1.0 stays 1.0.
class SpaceCodec {
 public:
  // InvalidArgument: names the element of `space`, its field and the value.
  static absl::StatusOr<SpaceCodec> Parse(const nlohmann::ordered_json& space);

  const Space& space() const { return space_; }
  nlohmann::ordered_json Encode(const Point& point) const;
  // Values of inactive parameters are dropped.  InvalidArgument: a value is missing, of the wrong type or out of range.
  absl::StatusOr<Point> Decode(const nlohmann::ordered_json& params) const;

 private:
  SpaceCodec() = default;

  Space space_;
  // The elements of "values" of categorical and discrete parameters.
  std::map<std::string, std::vector<nlohmann::ordered_json>> listed_;
};

}  // namespace vernier::cli
