// Keys of gcloud's filters and projections. gcloud's resources have names in camelCase, its documentation uses
// snake_case in places, so a name is tried as written and in both forms.

#include "src/cli/gcloud/key.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "src/core/status.h"

namespace vernier::gcloud {
namespace {

std::string CamelCase(std::string_view name) {
  std::string camel;
  bool raises = false;
  for (const char c : name) {
    if (c != '_') camel += raises ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c;
    raises = c == '_';
  }
  return camel;
}

std::string SnakeCase(std::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c)) && !snake.empty()) snake += '_';
    snake += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return snake;
}

Json ElementsAt(const Json& elements, std::span<const KeyPart> key) {
  Json list = Json::array();
  for (const Json& element : elements) list.push_back(ValueAt(element, key));
  return list;
}

// The key in every element of a list, without elements that lack it; null if all do. gcloud slices implicitly in the
// same way.
Json ImplicitSlice(const Json& list, std::span<const KeyPart> key) {
  Json values = ElementsAt(list, key);
  values.erase(std::remove(values.begin(), values.end(), Json()), values.end());
  return values.empty() ? Json() : values;
}

const Json* ElementAt(const Json& list, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(list.size());
  if (index < 0) index += size;
  return index < 0 || index >= size ? nullptr : &list[static_cast<std::size_t>(index)];
}

absl::Status ReadBrackets(Lexer& lexer, Key& key) {
  while (lexer.Take('[')) {
    VERNIER_ASSIGN_OR_RETURN(const Lexer::Token token, lexer.ReadToken("]"));
    std::int64_t index = 0;
    // "[]" is a slice, "[0]" an index, and anything else a name that may hold dots.
    if (token.is_empty()) {
      key.emplace_back(Slice{});
    } else if (!token.is_quoted && absl::SimpleAtoi(token.text, &index)) {
      key.emplace_back(index);
    } else {
      key.emplace_back(token.text);
    }
    if (!lexer.Take(']')) return lexer.Expected("']'");
  }
  return absl::OkStatus();
}

}  // namespace

Json::const_iterator FindMember(const Json& object, const std::string& name) {
  // As written first, so that a member of exactly this name always wins.
  for (const std::string& form : {name, CamelCase(name), SnakeCase(name)}) {
    if (const auto member = object.find(form); member != object.end()) return member;
  }
  return object.end();
}

std::map<std::string, Json> MembersOf(const Json& object) {
  // A copy, sorted: the library keeps members in their own order.
  std::map<std::string, Json> members;
  for (const auto& [name, value] : object.items()) members[name] = value;
  return members;
}

Json ValueAt(const Json& resource, std::span<const KeyPart> key) {
  const Json* at = &resource;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const KeyPart& part = key[i];
    // A key goes on, and the value does not.
    if (!at->is_structured()) return nullptr;
    if (std::holds_alternative<Slice>(part)) {
      // A slice at the end is the list itself.
      return i + 1 == key.size() ? *at : ElementsAt(*at, key.subspan(i + 1));
    }
    if (at->is_array()) {
      // The whole rest of the key is applied to each element.
      if (std::holds_alternative<std::string>(part)) return ImplicitSlice(*at, key.subspan(i));
      at = ElementAt(*at, std::get<std::int64_t>(part));
      if (at == nullptr) return nullptr;
      continue;
    }
    // In an object, [7] is the name "7".
    const std::string name = std::holds_alternative<std::string>(part)
                                 ? std::get<std::string>(part)
                                 : std::to_string(std::get<std::int64_t>(part));
    const auto member = FindMember(*at, name);
    if (member == at->end()) return nullptr;
    at = &*member;
  }
  return *at;
}

std::string KeyText(const Key& key) {
  std::string text;
  for (const KeyPart& part : key) {
    if (std::holds_alternative<Slice>(part)) {
      text += "[]";
    } else if (const auto* const index = std::get_if<std::int64_t>(&part)) {
      text += fmt::format("[{}]", *index);
    } else {
      text += (text.empty() ? "" : ".") + std::get<std::string>(part);
    }
  }
  return text.empty() ? "." : text;
}

absl::StatusOr<Key> ReadKey(Lexer& lexer) {
  Key key;
  if (lexer.Take('.')) {  // The whole resource, or a name after it.
    if (lexer.AtEnd() || kReserved.find(lexer.Peek()) != std::string_view::npos) return key;
  }
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const Lexer::Token name, lexer.ReadToken(kReserved));
    if (!name.is_empty()) {
      // An alias is a whole first name; before "(" it is a function.
      const bool may_be_alias = key.empty() && lexer.Peek() != '(';
      key.emplace_back(may_be_alias ? lexer.Resolve(name.text) : name.text);
    } else if (lexer.Peek() != '[') {
      return lexer.Expected("a key such as jobId or trainingInput.region");
    }
    VERNIER_RETURN_IF_ERROR(ReadBrackets(lexer, key));
    // "*" begins the name of a function, and is not part of the key.
    if (!lexer.Take('.') || lexer.Peek() == '*') return key;
  }
}

absl::StatusOr<Key> ParseKey(std::string_view flag, std::string_view text, const Aliases* aliases) {
  Lexer lexer(flag, text, aliases);
  VERNIER_ASSIGN_OR_RETURN(Key key, ReadKey(lexer));
  if (!lexer.AtEnd()) return lexer.Expected("the end of the key");
  return key;
}

}  // namespace vernier::gcloud
