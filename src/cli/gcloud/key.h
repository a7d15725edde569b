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

// The value at the key; null if there is none. Names match in camelCase and snake_case. A name applied to a list is
// applied to every element; a slice gives a list.
Json ValueAt(const Json& resource, std::span<const KeyPart> key);

// The member of an object by name: "create_time" finds "createTime".
Json::const_iterator FindMember(const Json& object, const std::string& name);

// The members of an object, sorted by name, as gcloud prints them.
std::map<std::string, Json> MembersOf(const Json& object);

// The key as text: "trials[0].trialId".
std::string KeyText(const Key& key);

// Reads a key up to a character that cannot belong to it. If that character is "(", the last name is that of a
// function. A "*" after a dot begins the name of a function.
// InvalidArgument: there is no key, or a bracket is not closed.
absl::StatusOr<Key> ReadKey(Lexer& lexer);

// Parses the whole text as a key.
absl::StatusOr<Key> ParseKey(std::string_view flag,
                             std::string_view text,
                             const Aliases* aliases = nullptr);

}  // namespace vernier::gcloud
