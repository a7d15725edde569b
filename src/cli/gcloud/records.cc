// The stages of a gcloud list command between finding resources and printing them.

#include "src/cli/gcloud/records.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "src/core/status.h"

namespace vernier::gcloud {
namespace {

// The value at the key in a resource that will be changed; null if there is none.
Json* FindIn(Json& resource, std::span<const KeyPart> key) {
  Json* at = &resource;
  for (const KeyPart& part : key) {
    if (const auto* const name = std::get_if<std::string>(&part);
        name != nullptr && at->is_object()) {
      const auto member = FindMember(*at, *name);
      if (member == at->cend()) return nullptr;
      at = &(*at)[member.key()];
    } else if (const auto* const index = std::get_if<std::int64_t>(&part);
               index != nullptr && at->is_array() && *index >= 0 &&
               static_cast<std::size_t>(*index) < at->size()) {
      // A negative index finds nothing here, unlike in ValueAt.
      at = &(*at)[static_cast<std::size_t>(*index)];
    } else {
      return nullptr;
    }
  }
  return at;
}

std::vector<Json> FlattenOne(std::span<const KeyPart> key, std::vector<Json> resources) {
  std::vector<Json> records;
  for (Json& resource : resources) {
    Json* const list = FindIn(resource, key);
    if (list == nullptr || !list->is_array()) {
      // Nothing to flatten: the resource stays one record.
      records.push_back(std::move(resource));
      continue;
    }
    // Taken out first, so that the copies of the resource do not each contain the whole list.
    Json elements = std::exchange(*list, nullptr);
    for (Json& element : elements) {
      *list = std::move(element);
      records.push_back(resource);
    }
  }
  return records;
}

}  // namespace

absl::StatusOr<std::vector<SortKey>> ParseSort(std::string_view flag,
                                               const std::vector<std::string>& fields,
                                               const Aliases* aliases) {
  std::vector<SortKey> keys;
  for (std::string_view field : fields) {
    const bool descending = field.starts_with('~') || field.starts_with('-');
    if (descending) field.remove_prefix(1);
    SortKey& key = keys.emplace_back(SortKey{.descending = descending});
    VERNIER_ASSIGN_OR_RETURN(key.key, ParseKey(flag, field, aliases));
    for (KeyPart& part : key.key) {  // Lists are ordered by their first element.
      if (std::holds_alternative<Slice>(part)) part = std::int64_t{0};
    }
  }
  return keys;
}

absl::StatusOr<std::vector<Key>> ParseFlatten(std::string_view flag,
                                              const std::vector<std::string>& keys) {
  std::vector<Key> parsed;
  for (const std::string& key : keys) {
    VERNIER_ASSIGN_OR_RETURN(parsed.emplace_back(), ParseKey(flag, key));
  }
  return parsed;
}

void Sort(const std::vector<SortKey>& keys, const TimeFrame& frame, std::vector<Json>& resources) {
  std::ranges::stable_sort(resources, [&](const Json& a, const Json& b) {
    for (const SortKey& key : keys) {
      const Json first = ValueAt(a, key.key);
      const Json second = ValueAt(b, key.key);
      const int order = Compare(first, second, frame);
      // Null stays last in either direction.
      const bool turns = key.descending && !first.is_null() && !second.is_null();
      if (order != 0) return turns ? order > 0 : order < 0;
    }
    return false;
  });
}

std::vector<Json> Flatten(const std::vector<Key>& keys, std::vector<Json> resources) {
  for (const Key& key : keys) {
    Key path;
    bool is_sliced = false;
    for (const KeyPart& part : key) {
      // A key may have several slices, and each multiplies the records.
      is_sliced = std::holds_alternative<Slice>(part);
      if (is_sliced) {
        resources = FlattenOne(path, std::move(resources));
      } else {
        path.push_back(part);
      }
    }
    // A key that does not end with "[]" names a list, too.
    if (!is_sliced) resources = FlattenOne(path, std::move(resources));
  }
  return resources;
}

std::vector<std::string> MissingKeys(const std::vector<Key>& keys,
                                     const std::vector<Json>& resources) {
  std::vector<std::string> missing;
  for (const Key& key : keys) {
    const bool is_there = std::ranges::any_of(
        resources, [&](const Json& resource) { return !ValueAt(resource, key).is_null(); });
    if (!is_there) missing.push_back(KeyText(key));
  }
  return missing;
}

absl::StatusOr<std::vector<std::string>> SplitList(std::string_view flag, std::string_view text) {
  if (text.empty()) return std::vector<std::string>();
  // "^:^a:b": gcloud's way of lists whose items hold commas.
  std::string separator = ",";
  std::string_view items = text;
  if (const std::size_t end = text.find('^', 1);
      text.starts_with('^') && end != std::string_view::npos) {
    separator = std::string(text.substr(1, end - 1));
    items = text.substr(end + 1);
  }
  if (separator.empty()) {
    return InvalidArgument(
        "{}: a separator must stand between ^ and ^, as in ^:^a:b, got '{}'", flag, text);
  }
  return std::vector<std::string>(absl::StrSplit(std::string(items), separator));
}

}  // namespace vernier::gcloud
