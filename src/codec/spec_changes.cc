#include "src/codec/spec_changes.h"

#include <algorithm>

#include "fmt/format.h"
#include "src/codec/form.h"
#include "src/codec/study_file.h"

namespace vernier::codec {
namespace {

// Values that are longer are not shown: a change is told on one line.
constexpr std::size_t kLongestValue = 48;

const Json* Find(const Json* object, const std::string& key) {
  if (object == nullptr) return nullptr;
  const auto at = object->find(key);
  return at == object->end() ? nullptr : &*at;
}

std::string ValueText(const Json* value) {
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  return value->dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// Whether the field is a variable of some replica's environment, which often holds a password.
bool MayBeSecret(std::string_view field) {
  return field.starts_with("job") && field.find(".env.") != std::string_view::npos;
}

FieldChange ChangeOf(const std::string& field, const Json* before, const Json* after) {
  FieldChange change{.field = field, .from = ValueText(before), .to = ValueText(after)};
  // Left out of the event itself, and not only when it is shown: the log is for ever.
  const bool is_long = change.from.size() > kLongestValue || change.to.size() > kLongestValue;
  if (is_long || MayBeSecret(field)) {
    change.from.clear();
    change.to.clear();
  }
  return change;
}

// What is not there counts as an object without members, if the other is one.
bool IsObjectOrAbsent(const Json* value) { return value == nullptr || value->is_object(); }

void Compare(const std::string& field,
             const Json* before,
             const Json* after,
             std::vector<FieldChange>& changes) {
  // Absent on both sides is the same, too.
  const bool is_same = before == nullptr || after == nullptr ? before == after : *before == *after;
  if (is_same) return;
  // Tells below whether any member differs.
  const std::size_t known = changes.size();
  if (IsObjectOrAbsent(before) && IsObjectOrAbsent(after)) {
    const std::string prefix = field.empty() ? "" : field + ".";
    if (before != nullptr) {
      for (const auto& [key, value] : before->items()) {
        Compare(prefix + key, &value, Find(after, key), changes);
      }
    }
    if (after != nullptr) {
      for (const auto& [key, value] : after->items()) {
        if (Find(before, key) == nullptr) Compare(prefix + key, nullptr, &value, changes);
      }
    }
    if (changes.size() > known) return;
    // Only the order of its members differs, or it has none.
    changes.push_back({.field = field, .from = {}, .to = {}});
    return;
  }
  changes.push_back(ChangeOf(field, before, after));
}

}  // namespace

std::vector<FieldChange> CompareSpecs(const StudySpec& before, const StudySpec& after) {
  std::vector<FieldChange> changes;
  // As files: the fields have the names that users know, and defaults are filled in on both sides.
  const Json from = StudySpecToJson(before);
  const Json to = StudySpecToJson(after);
  Compare("", &from, &to, changes);
  return changes;
}

std::string DescribeChange(const FieldChange& change) {
  // Both are empty for values that are not shown.
  if (change.from.empty() && change.to.empty()) return change.field;
  const auto text = [](const std::string& value) { return value.empty() ? "none" : value; };
  return fmt::format("{} {} → {}", change.field, text(change.from), text(change.to));
}

std::string DescribeChanges(const std::vector<FieldChange>& changes, std::size_t limit) {
  std::string text;
  const std::size_t shown = std::min(limit, changes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : "; ") + DescribeChange(changes[i]);
  }
  if (shown < changes.size()) text += fmt::format("; and {} more", changes.size() - shown);
  return text;
}

}  // namespace vernier::codec
