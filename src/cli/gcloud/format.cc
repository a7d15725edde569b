// Parses --format: a name, attributes in brackets, and a projection in parentheses, in any order and each optional.
// Unknown attributes of the format are ignored as gcloud does; unknown attributes of a key are errors that name the
// nearest one.

#include "src/cli/gcloud/format.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::gcloud {
namespace {

constexpr std::array kNames = {"json",
                               "yaml",
                               "csv",
                               "table",
                               "value",
                               "get",
                               "list",
                               "flattened",
                               "text",
                               "config",
                               "none",
                               "disable",
                               "default"};
constexpr std::array kAttributes = {
    "align", "label", "optional", "reverse", "sort", "width", "wrap"};

bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }

// "jobId" becomes JOB_ID, "acceleratorURIs" ACCELERATOR_URIS. gcloud calls this form angry snake case.
std::string AngrySnakeCase(const std::string& name) {
  std::string snake;
  for (std::size_t i = 0; i < name.size(); ++i) {
    // A word begins where a capital follows a small letter, or ends a run of capitals: "URIs" is one word.
    const bool after_small = i > 0 && !IsUpper(name[i - 1]) && name[i - 1] != '_';
    const bool before_small = i > 0 && i + 1 < name.size() && IsLower(name[i + 1]);
    if (IsUpper(name[i]) && (after_small || (before_small && name[i - 1] != '_'))) snake += '_';
    snake += absl::ascii_toupper(static_cast<unsigned char>(name[i]));
  }
  return snake;
}

// The key's last name, preceded by as many names as it takes to differ from the headings in `taken`.
std::string HeadingOf(const Expression& expression, std::set<std::string>& taken) {
  std::string heading;
  for (auto part = expression.key.rbegin(); part != expression.key.rend(); ++part) {
    const auto* const name = std::get_if<std::string>(&*part);
    // An index is no heading.
    if (name == nullptr) continue;
    heading = AngrySnakeCase(*name) + (heading.empty() ? "" : "_" + heading);
    if (taken.insert(heading).second) break;
  }
  return heading;
}

class FormatParser {
 public:
  FormatParser(std::string_view flag, std::string_view text, const Aliases* aliases)
      : lexer_(flag, text, aliases) {}

  absl::StatusOr<FormatSpec> Parse() {
    FormatSpec spec;
    lexer_.SkipSpace();
    VERNIER_ASSIGN_OR_RETURN(const Lexer::Token name, lexer_.ReadToken(":([)]"));
    VERNIER_RETURN_IF_ERROR(SetName(name.text, spec));
    // Attributes and projection may come in any order, and the last of each counts.
    while (true) {
      lexer_.SkipSpace();
      if (lexer_.AtEnd()) break;
      if (lexer_.Take('[')) {
        VERNIER_RETURN_IF_ERROR(ReadAttributes(spec));
      } else if (lexer_.Take('(')) {
        VERNIER_RETURN_IF_ERROR(ReadColumns(spec));
      } else {
        return lexer_.Expected("'[', '(' or the end, as in table[box](jobId,state)");
      }
    }
    return Checked(std::move(spec));
  }

 private:
  absl::Status SetName(const std::string& name, FormatSpec& spec) {
    if (!name.empty() && std::ranges::find(kNames, name) == kNames.end()) {
      return lexer_.Error(
          fmt::format("must be one of {}, got '{}'", fmt::join(kNames, ", "), name));
    }
    // "default" stands for what the command does without a format; "disable" is another name of "none".
    spec.name = name == "default" ? "" : name == "disable" ? "none" : name;
    // gcloud's other names of these formats.
    if (name == "text") spec.name = "flattened";
    if (name == "get") spec.name = "value";
    return absl::OkStatus();
  }

  absl::StatusOr<FormatSpec> Checked(FormatSpec spec) {
    if (spec.name == "value" && spec.columns.empty()) {
      return lexer_.Error("value needs keys, as in value(jobId,state)");
    }
    std::set<std::string> taken;
    for (FormatColumn& column : spec.columns) {
      // Headings that are made from keys avoid each other.
      if (!column.has_label) column.label = HeadingOf(column.expression, taken);
    }
    return spec;
  }

  // "[box,title=My jobs,no-heading]". Unknown names are kept and ignored.
  absl::Status ReadAttributes(FormatSpec& spec) {
    while (true) {
      lexer_.SkipSpace();
      VERNIER_ASSIGN_OR_RETURN(const Lexer::Token name, lexer_.ReadToken("=,]"));
      // An attribute without a value is set.
      std::string value = "1";
      if (lexer_.Take('=')) {
        VERNIER_ASSIGN_OR_RETURN(const Lexer::Token text,
                                 lexer_.ReadToken(",]", /*balanced=*/true));
        // A shell passes "\n" as two characters.
        value = absl::StrReplaceAll(text.text, {{"\\n", "\n"}, {"\\t", "\t"}});
      }
      if (!name.text.empty()) spec.attributes[name.text] = value;
      if (lexer_.Take(']')) return absl::OkStatus();
      if (!lexer_.Take(',')) return lexer_.Expected("']'");
    }
  }

  absl::Status ReadColumns(FormatSpec& spec) {
    spec.columns.clear();
    lexer_.SkipSpace();
    if (lexer_.Take(')')) return absl::OkStatus();
    while (true) {
      lexer_.SkipSpace();
      FormatColumn column;
      VERNIER_ASSIGN_OR_RETURN(column.expression, ReadExpression(lexer_));
      lexer_.SkipSpace();
      while (lexer_.Take(':')) VERNIER_RETURN_IF_ERROR(ReadAttribute(column));
      spec.columns.push_back(std::move(column));
      lexer_.SkipSpace();
      if (lexer_.Take(')')) return absl::OkStatus();
      if (!lexer_.Take(',')) return lexer_.Expected("',' or ')' after a key");
    }
  }

  // "label=STATUS", "reverse", "no-wrap", "wrap=20".
  absl::Status ReadAttribute(FormatColumn& column) {
    VERNIER_ASSIGN_OR_RETURN(Lexer::Token token, lexer_.ReadToken("=:,)"));
    std::optional<std::string> value;
    if (lexer_.Take('=')) {
      VERNIER_ASSIGN_OR_RETURN(Lexer::Token text, lexer_.ReadToken(":,)"));
      value = std::move(text.text);
    }
    // "no-wrap" turns off what another part of the command turned on.
    const bool is_off = token.text.starts_with("no-");
    const std::string name = is_off ? token.text.substr(3) : token.text;
    if (std::ranges::find(kAttributes, name) == kAttributes.end()) {
      const std::vector<std::string> known(kAttributes.begin(), kAttributes.end());
      return lexer_.Error(
          fmt::format("a key has no attribute '{}'{}", name, NearestHint(name, known)));
    }
    // These three are switches; what stands behind "=" is not needed.
    if (name == "reverse") column.reverse = !is_off;
    if (name == "optional") column.optional = !is_off;
    if (name == "wrap") column.wraps = !is_off;
    if (name == "reverse" || name == "optional" || name == "wrap") return absl::OkStatus();
    if (!value) return lexer_.Error(fmt::format("the attribute '{}' needs a value", name));
    if (name == "label") {
      column.has_label = true;
      column.label = *value;
      return absl::OkStatus();
    }
    return name == "align" ? SetAlignment(*value, column) : SetNumber(name, *value, column);
  }

  absl::Status SetAlignment(const std::string& value, FormatColumn& column) {
    constexpr std::array kAlignments = {"left", "center", "right"};
    const auto* const known = std::ranges::find(kAlignments, value);
    if (known == kAlignments.end()) {
      return lexer_.Error(fmt::format("align must be left, center or right, got '{}'", value));
    }
    column.align = static_cast<Alignment>(known - kAlignments.begin());
    return absl::OkStatus();
  }

  absl::Status SetNumber(const std::string& name, const std::string& value, FormatColumn& column) {
    int number = 0;
    if (!absl::SimpleAtoi(value, &number) || number < 1 || number > 10000) {
      return lexer_.Error(
          fmt::format("{} must be a whole number from 1 to 10000, got '{}'", name, value));
    }
    if (name == "sort") column.sort = number;
    if (name == "width") column.width = number;
    return absl::OkStatus();
  }

  Lexer lexer_;
};

}  // namespace

std::string FormatSpec::Attribute(const std::string& attribute, const std::string& fallback) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? fallback : found->second;
}

absl::StatusOr<FormatSpec> ParseFormat(std::string_view flag,
                                       std::string_view text,
                                       const Aliases* aliases) {
  if (text.size() > kMaxExpression) {
    return InvalidArgument(
        "{}: is {} characters long, at most {} are read", flag, text.size(), kMaxExpression);
  }
  return FormatParser(flag, text, aliases).Parse();
}

}  // namespace vernier::gcloud
