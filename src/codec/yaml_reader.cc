#include "src/codec/yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"
#include "yaml-cpp/yaml.h"

namespace vernier::codec {
namespace {

using Json = nlohmann::ordered_json;

// Tags of YAML's own types: `!!str` is short for "tag:yaml.org,2002:str".
constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";

bool OnlyOf(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

template <typename T>
std::optional<Json> ParseInteger(std::string_view digits, int base) {
  T value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || rest != end) return std::nullopt;
  return Json(value);
}

// [-+]?[0-9]+ | 0o[0-7]+ | 0x[0-9a-fA-F]+; nullopt too where it fits in no 64 bits.
std::optional<Json> ResolveInteger(std::string_view text) {
  if (text.starts_with("0o")) return ParseInteger<std::uint64_t>(text.substr(2), 8);
  if (text.starts_with("0x")) return ParseInteger<std::uint64_t>(text.substr(2), 16);
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (!OnlyOf(text.substr(negative ? 1 : 0), "0123456789")) return std::nullopt;
  // Negative ones are signed, others unsigned, as the JSON parser has them.
  return negative ? ParseInteger<std::int64_t>(text, 10) : ParseInteger<std::uint64_t>(text, 10);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? | [-+]?\.inf | \.nan
std::optional<Json> ResolveFloat(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return Json(std::nan(""));
  const bool negative = text.starts_with('-');
  std::string_view magnitude = text;
  if (negative || text.starts_with('+')) magnitude.remove_prefix(1);
  if (magnitude == ".inf" || magnitude == ".Inf" || magnitude == ".INF") {
    return Json(negative ? -kInfinity : kInfinity);
  }
  // A number begins with a digit, or with a point and a digit: "e5" and "." are text.
  const bool starts_right =
      OnlyOf(magnitude.substr(0, 1), "0123456789") ||
      (magnitude.starts_with('.') &&
       OnlyOf(magnitude.substr(std::min<std::size_t>(1, magnitude.size()), 1), "0123456789"));
  double value = 0;
  // SimpleAtod takes more than the schema does ("infinity", hexadecimal, blanks): the alphabet rules that out.
  if (!starts_right || !OnlyOf(magnitude, "0123456789.eE+-")) return std::nullopt;
  if (!absl::SimpleAtod(std::string(text), &value)) return std::nullopt;
  return Json(value);
}

absl::Status ErrorAt(const YAML::Mark& mark, std::string_view message, std::string_view what) {
  // Some errors, such as a file without any text, have no place.
  if (mark.is_null()) return FieldError(what, message);
  return FieldError(fmt::format("line {}", mark.line + 1), message);
}

class Converter {
 public:
  explicit Converter(std::string_view what) : what_(what) {}

  absl::StatusOr<Json> Convert(const YAML::Node& node, std::size_t depth) {
    // Aliases of aliases would fill the memory.
    if (++nodes_ > limits::kFileValues) {
      return ErrorAt(node.Mark(), fmt::format("more than {} values", limits::kFileValues), what_);
    }
    if (depth > limits::kFileDepth) {
      return ErrorAt(
          node.Mark(), fmt::format("nested deeper than {} levels", limits::kFileDepth), what_);
    }
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return ConvertScalar(node);
      case YAML::NodeType::Sequence:
        return ConvertSequence(node, depth);
      case YAML::NodeType::Map:
        return ConvertMap(node, depth);
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined:
        break;
    }
    return Json(nullptr);
  }

 private:
  // yaml-cpp's tags: "?" plain, "!" quoted, else as written.
  absl::StatusOr<Json> ConvertScalar(const YAML::Node& node) {
    const std::string& tag = node.Tag();
    if (tag.empty() || tag == "?") return ResolvePlainScalar(node.Scalar());
    // Quoted text is never a number or a boolean.
    if (tag == "!" || tag == std::string(kCoreTags) + "str") return Json(node.Scalar());
    if (tag.starts_with(kCoreTags)) return ConvertTagged(node, tag.substr(kCoreTags.size()));
    return ErrorAt(node.Mark(), fmt::format("unknown tag '{}'", tag), what_);
  }

  absl::StatusOr<Json> ConvertTagged(const YAML::Node& node, std::string_view type) {
    Json value = ResolvePlainScalar(node.Scalar());
    // `!!float 1` is a double, though 1 is an integer.
    if (type == "float" && value.is_number()) return Json(value.get<double>());
    const bool matches = (type == "int" && value.is_number_integer()) ||
                         (type == "bool" && value.is_boolean()) ||
                         (type == "null" && value.is_null());
    if (matches) return value;
    return ErrorAt(node.Mark(), fmt::format("'{}' is no !!{}", node.Scalar(), type), what_);
  }

  absl::StatusOr<Json> ConvertSequence(const YAML::Node& node, std::size_t depth) {
    Json list = Json::array();
    for (const YAML::Node& element : node) {
      VERNIER_ASSIGN_OR_RETURN(Json value, Convert(element, depth + 1));
      list.push_back(std::move(value));
    }
    return list;
  }

  absl::StatusOr<Json> ConvertMap(const YAML::Node& node, std::size_t depth) {
    Json object = Json::object();
    auto& members = object.get_ref<Json::object_t&>();
    // Keys of the node, whose strings outlive the set. Searching the object would be quadratic.
    std::set<std::string_view> keys;
    for (const auto& entry : node) {
      // A key such as `[a, b]` is legal in YAML and has no form in JSON.
      if (!entry.first.IsScalar()) return ErrorAt(entry.first.Mark(), "a key must be text", what_);
      const std::string& key = entry.first.Scalar();
      if (!keys.insert(key).second) {
        return ErrorAt(entry.first.Mark(), fmt::format("key '{}' is there twice", key), what_);
      }
      VERNIER_ASSIGN_OR_RETURN(Json value, Convert(entry.second, depth + 1));
      members.emplace_back(key, std::move(value));
    }
    return object;
  }

  const std::string_view what_;
  std::size_t nodes_ = 0;
};

std::string_view LineAt(std::string_view text, int line) {
  // The parser counts lines from 0.
  for (; line > 0 && !text.empty(); --line) {
    text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  }
  return text.substr(0, text.find('\n'));
}

// What the writer of the file can do about a syntax error; the parser's own words where nothing better is known.
std::string ExplainSyntax(const YAML::Exception& error, std::string_view text) {
  constexpr std::string_view kEscape = "unknown escape character: ";
  const std::string& message = error.msg;
  // The message is about the place where the parser gave up, and the reason is often on the same line.
  const std::string_view line = LineAt(text, error.mark.line);
  const std::string_view indentation = line.substr(0, line.find_first_not_of(" \t"));
  if (message.starts_with(kEscape)) {
    return fmt::format(
        "double quotes have no escape '\\{}'; put patterns and paths in single quotes, which keep "
        "backslashes as they are",
        message.substr(kEscape.size()));
  }
  // A tab cannot be seen, and the parser's own message does not name it.
  if (indentation.find('\t') != std::string_view::npos) {
    return "there is a tab in the indentation; YAML is indented with blanks only";
  }
  // The texts below are those of yaml-cpp 0.7; another version's fall through to its own words.
  if (message == "illegal map value") {
    return "unexpected ': '; put a value that contains ': ' in single quotes, and give the keys of "
           "one mapping the same indentation";
  }
  if (message == "unknown token") {
    const auto column = static_cast<std::size_t>(std::max(error.mark.column, 0));
    return fmt::format("unexpected '{}'; put a value that begins with it in single quotes",
                       line.substr(std::min(column, line.size()), 1));
  }
  if (message == "end of sequence flow not found") return "a list [ … ] is not closed";
  if (message == "end of map flow not found") return "a mapping { … } is not closed";
  if (message == "end of map not found" || message == "end of sequence not found") {
    return "unexpected text after a value; check quotes and indentation";
  }
  return message;
}

// yaml-cpp throws; nothing of that leaves this function.
absl::StatusOr<std::vector<YAML::Node>> LoadDocuments(std::string_view text,
                                                      std::string_view what) {
  try {
    return YAML::LoadAll(std::string(text));
  } catch (const YAML::Exception& error) {
    return ErrorAt(error.mark, ExplainSyntax(error, text), what);
  } catch (const std::exception& error) {
    return FieldError(what, error.what());
  }
}

}  // namespace

Json ResolvePlainScalar(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (std::optional<Json> integer = ResolveInteger(text)) return *std::move(integer);
  if (std::optional<Json> number = ResolveFloat(text)) return *std::move(number);
  return text;
}

absl::StatusOr<Json> ReadYaml(std::string_view text, std::string_view what) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<YAML::Node> documents, LoadDocuments(text, what));
  // A file of comments only is one document that is null.
  if (documents.empty() || (documents.size() == 1 && documents.front().IsNull())) {
    return FieldError(what, "is empty");
  }
  if (documents.size() > 1) {
    return FieldError(what, fmt::format("holds {} documents; one is needed", documents.size()));
  }
  return Converter(what).Convert(documents.front(), 0);
}

}  // namespace vernier::codec
