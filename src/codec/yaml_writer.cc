#include <array>
#include <cmath>
#include <string>

#include "nlohmann/json.hpp"
#include "src/codec/json_text.h"
#include "src/codec/study_file.h"
#include "src/codec/yaml_reader.h"

namespace vernier::codec {
namespace {

using Json = nlohmann::ordered_json;

// Columns up to which a mapping or a list stays on one line.
constexpr std::size_t kWidth = 100;

// Text that readers of YAML 1.1 take for true or false.
constexpr std::array<std::string_view, 6> kOldBooleans = {"y", "n", "yes", "no", "on", "off"};

// Whether the text needs no quotes, now and for older readers. Rather too strict: quotes never hurt.
bool IsPlain(const std::string& text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kFirst = "_/.";
  constexpr std::string_view kLater = "_/.-+0123456789";
  if (text.empty() ||
      (kLetters.find(text[0]) == kLetters.npos && kFirst.find(text[0]) == kFirst.npos)) {
    return false;
  }
  for (const char c : text) {
    if (kLetters.find(c) == kLetters.npos && kLater.find(c) == kLater.npos) return false;
  }
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // In any case, as those readers take "No" and "ON" as well.
  for (const std::string_view word : kOldBooleans) {
    if (lower == word) return false;
  }
  // "null", "true" and ".5" consist of plain characters, and are not text.
  return ResolvePlainScalar(text).is_string();
}

std::string NumberText(double number) {
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number > 0 ? ".inf" : "-.inf";
  std::string text = Json(number).dump();
  // YAML 1.1 takes 1e-05 for text and 1.0e-05 for a number; 1.2 takes both for a number.
  const std::size_t exponent = text.find('e');
  if (exponent != text.npos && text.find('.') == text.npos) text.insert(exponent, ".0");
  return text;
}

std::string ScalarText(const Json& json) {
  if (json.is_number_float()) return NumberText(json.get<double>());
  if (json.is_string() && IsPlain(json.get_ref<const std::string&>()))
    return json.get<std::string>();
  // A JSON text is a double-quoted YAML scalar.
  return ToText(json);
}

std::string Inline(const Json& json) {
  if (!json.is_structured()) return ScalarText(json);
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += ScalarText(Json(key)) + ": ";
    text += Inline(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// Levels of mappings and lists, one inside the other; 0: a scalar.
int Height(const Json& json) {
  int height = 0;
  if (!json.is_structured()) return height;
  for (const auto& [key, value] : json.items()) height = std::max(height, Height(value));
  return height + 1;
}

void WriteBlock(const Json& json, std::size_t indent, std::string& out);

// The value after "key:" or "-": on the same line where it is small, else as a block below.
void WriteValue(const Json& json, std::size_t indent, std::string& out) {
  // So that a parameter, with the list of its bounds, is on one line.
  constexpr int kInlineHeight = 2;
  if (Height(json) <= kInlineHeight) {
    const std::string text = Inline(json);
    const std::size_t column = out.size() - (out.rfind('\n') + 1);
    // Scalars and what is empty have no block form that would be shorter.
    if (!json.is_structured() || json.empty() || column + 1 + text.size() <= kWidth) {
      out += " " + text + "\n";
      return;
    }
  }
  out += "\n";
  WriteBlock(json, indent, out);
}

void WriteBlock(const Json& json, std::size_t indent, std::string& out) {
  for (const auto& [key, value] : json.items()) {
    out += std::string(indent, ' ') + (json.is_object() ? ScalarText(Json(key)) + ":" : "-");
    // Two blanks for each level, also below the dash of a list.
    WriteValue(value, indent + 2, out);
  }
}

}  // namespace

std::string JsonToYaml(const nlohmann::ordered_json& document) {
  if (!document.is_structured() || document.empty()) return Inline(document) + "\n";
  std::string text;
  WriteBlock(document, 0, text);
  return text;
}

}  // namespace vernier::codec
