#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/cli/gcloud/lexer.h"

// Keys of filters and formats: "trainingInput.scaleTier", "trainingOutput.trials[0].trialId", "trials[].state", and "."
// for the whole resource.
namespace vernier::gcloud {

using Json = nlohmann::ordered_json;

struct Slice {  // "[]": every element.
  friend bool operator==(const Slice&, const Slice&) = default;
};
// A name, an index (negative: from the end) or a slice.
using KeyPart = std::variant<std::string, std::int64_t, Slice>;
using Key = std::vector<KeyPart>;

// The value there; null if there is none. Names match in camelCase and in snake_case. A name in a list is taken of every
// element, and a slice gives a list.
Json ValueAt(const Json& resource, std::span<const KeyPart> key);

// The member of an object that the name means: "create_time" finds "createTime".
Json::const_iterator FindMember(const Json& object, const std::string& name);

// The members of an object by name.
std::map<std::string, Json> MembersOf(const Json& object);

// As it was written: "trials[0].trialId".
std::string KeyText(const Key& key);

// Reads a key up to a character that cannot belong to it; if that is "(", the last name is that of a function. A "*" after
// a point begins the name of one.
// InvalidArgument: there is no key, or a bracket is not closed.
absl::StatusOr<Key> ReadKey(Lexer& lexer);

// The whole text as a key.
absl::StatusOr<Key> ParseKey(std::string_view flag,
                             std::string_view text,
                             const Aliases* aliases = nullptr);

}  // namespace vernier::gcloud
