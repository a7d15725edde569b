#include "src/wire/filter_parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::wire {
namespace {

struct Token {
  enum class Kind { kEnd, kWord, kQuoted, kSign } kind = Kind::kEnd;
  std::string text;
  std::size_t at = 0;  // Character of the filter, from 1.
};

absl::Status Error(std::string_view message) { return FieldError("filter", message); }

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// Signs end a word, so that blanks around them may be left out. A point does not: it is part of a column's name.
bool EndsWord(char c) {
  return IsSpace(c) || std::string_view("()=!<>:,\"'").find(c) != std::string_view::npos;
}
bool IsWord(const Token& token, std::string_view text) {
  return token.kind == Token::Kind::kWord && token.text == text;
}
bool IsSign(const Token& token, std::string_view text) {
  return token.kind == Token::Kind::kSign && token.text == text;
}

// A quoted text: from the quote at `at` to the same quote, `\` taking the next character as it is.
absl::StatusOr<Token> ReadQuoted(std::string_view text, std::size_t* at) {
  Token token{.kind = Token::Kind::kQuoted, .text = {}, .at = *at + 1};
  const char quote = text[(*at)++];
  for (; *at < text.size(); ++*at) {
    if (text[*at] == quote) {
      ++*at;
      return token;
    }
    // A backslash at the very end escapes nothing; the quote is then found open.
    if (text[*at] == '\\' && *at + 1 < text.size()) ++*at;
    token.text += text[*at];
  }
  return Error(fmt::format("the quote at character {} is not closed", token.at));
}

Token ReadSign(std::string_view text, std::size_t* at) {
  Token token{.kind = Token::Kind::kSign, .text = std::string(1, text[*at]), .at = *at + 1};
  // Of two characters that could be one sign, the longer sign is read.
  const bool may_grow = token.text == "<" || token.text == ">" || token.text == "!";
  ++*at;
  if (may_grow && *at < text.size() && text[*at] == '=') token.text += text[(*at)++];
  return token;
}

Token ReadWord(std::string_view text, std::size_t* at) {
  Token token{.kind = Token::Kind::kWord, .text = {}, .at = *at + 1};
  while (*at < text.size() && !EndsWord(text[*at])) token.text += text[(*at)++];
  return token;
}

absl::StatusOr<std::vector<Token>> Split(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && IsSpace(text[at])) ++at;
    if (at >= text.size()) break;
    if (text[at] == '"' || text[at] == '\'') {
      VERNIER_ASSIGN_OR_RETURN(Token token, ReadQuoted(text, &at));
      tokens.push_back(std::move(token));
    } else {
      tokens.push_back(EndsWord(text[at]) ? ReadSign(text, &at) : ReadWord(text, &at));
    }
  }
  // The end is a token, so that looking ahead never leaves the list.
  tokens.push_back({.kind = Token::Kind::kEnd, .text = {}, .at = text.size() + 1});
  return tokens;
}

std::optional<Comparator> ComparatorOf(const Token& token) {
  if (token.kind != Token::Kind::kSign) return std::nullopt;
  if (token.text == "=") return Comparator::kEqual;
  if (token.text == "!=") return Comparator::kNotEqual;
  if (token.text == "<") return Comparator::kLess;
  if (token.text == "<=") return Comparator::kLessEqual;
  if (token.text == ">") return Comparator::kGreater;
  if (token.text == ">=") return Comparator::kGreaterEqual;
  if (token.text == ":") return Comparator::kHas;
  return std::nullopt;
}

// Whether a row whose cell is this word could match.
bool MayBe(const FilterNode& node, std::string_view state) {
  return node.comparator == Comparator::kHas ? HasText(state, node.text) : state == node.text;
}

template <typename State, typename Name>
std::vector<std::string_view> NamesUpTo(State last, Name name) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.push_back(name(static_cast<State>(i)));
  return names;
}

// The words that a column can hold; empty: any text. A filter by a word that no row can have is an error rather than an
// empty list.
std::vector<std::string_view> WordsOf(ColumnType type) {
  switch (type) {
    case ColumnType::kStudyState:
      return NamesUpTo(StudyState::kFailed, &StudyStateName);
    case ColumnType::kTrialState:
      return NamesUpTo(TrialState::kCancelled, &TrialStateName);
    case ColumnType::kFailureClass:
      return NamesUpTo(FailureClass::kDiverged, &FailureClassName);
    case ColumnType::kBool:
      return {"true", "false"};
    default:
      return {};
  }
}

// Clients that read states from messages know the wire's names. Where these differ from the words that are shown, both
// mean the same.
void ReplaceWireName(ColumnType type, FilterNode* node) {
  constexpr std::string_view kPrefix = "STUDY_";
  if (type == ColumnType::kStudyState && node->text.starts_with(kPrefix)) {
    node->text.erase(0, kPrefix.size());
  }
  if (type == ColumnType::kFailureClass && node->text == "INFEASIBLE_POINT") {
    node->text = FailureClassName(FailureClass::kInfeasible);
  }
}

// Checks that the value can be compared with what the column holds.
absl::Status CheckValue(ColumnType type, const FilterNode& node) {
  const auto mismatch = [&](std::string_view wanted) {
    return Error(fmt::format("'{}' needs {}, got '{}'", node.column, wanted, node.text));
  };
  // Asks for any value, of any kind.
  if (node.comparator == Comparator::kHas && node.text == "*") return absl::OkStatus();
  switch (type) {
    case ColumnType::kNumber:
      return node.number.has_value() ? absl::OkStatus() : mismatch("a number");
    case ColumnType::kTime:
      return node.time.has_value() ? absl::OkStatus()
                                   : mismatch("a quoted time such as \"2026-11-21T04:30:00Z\"");
    case ColumnType::kStudyState:
    case ColumnType::kTrialState:
    case ColumnType::kFailureClass:
    case ColumnType::kBool: {
      const std::vector<std::string_view> words = WordsOf(type);
      // true and false are values, not texts: `:` finds no part of them.
      const auto may_be = [&](std::string_view word) {
        return type == ColumnType::kBool ? node.text == word : MayBe(node, word);
      };
      if (std::ranges::any_of(words, may_be)) return absl::OkStatus();
      // A likely mistake: `stopped` is a column, not a state.
      if (type == ColumnType::kTrialState && node.text == "STOPPED") {
        return Error(
            "no trial's state is STOPPED: the filter 'stopped' selects trials that a rule stopped "
            "early");
      }
      return mismatch(fmt::format("one of {}", fmt::join(words, ", ")));
    }
    case ColumnType::kText:
    case ColumnType::kAny:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Recursive descent over
//   all = any {["AND"] any}   any = term {"OR" term}   term = ["NOT" | "-"] (comparison | "(" all ")")
//   comparison = column comparator value | boolean column
// OR binds tighter than AND, as in AIP-160 and unlike in most languages. NOT and "-" take a single term.
class Parser {
 public:
  Parser(std::vector<Token> tokens, const ColumnSet& columns)
      : tokens_(std::move(tokens)), columns_(columns) {}

  absl::StatusOr<FilterNode> Parse() {
    if (Peek().kind == Token::Kind::kEnd) return FilterNode{};
    VERNIER_ASSIGN_OR_RETURN(FilterNode root, ParseAll(0));
    if (Peek().kind != Token::Kind::kEnd) return Unexpected("the end");
    return root;
  }

 private:
  const Token& Peek() const { return tokens_[next_]; }
  Token Take() { return tokens_[next_++]; }

  absl::Status Unexpected(std::string_view wanted) const {
    const std::string got =
        Peek().kind == Token::Kind::kEnd ? "the end" : fmt::format("'{}'", Peek().text);
    return Error(fmt::format("expected {} at character {}, got {}", wanted, Peek().at, got));
  }

  // Terms beside each other need no AND. NOT, and a word with a dash in front, are words here.
  bool AtTerm() const { return Peek().kind == Token::Kind::kWord || IsSign(Peek(), "("); }

  bool TakeAnd() {
    const bool is_and = IsWord(Peek(), "AND");
    if (is_and) Take();
    return is_and;
  }

  absl::StatusOr<FilterNode> ParseAll(int depth) {
    FilterNode all{.kind = FilterNode::Kind::kAll};
    do {
      VERNIER_ASSIGN_OR_RETURN(FilterNode child, ParseAny(depth));
      all.children.push_back(std::move(child));
    } while (TakeAnd() || AtTerm());
    // A node with one part is that part, which keeps the tree as deep as the filter is nested.
    return all.children.size() == 1 ? std::move(all.children.front()) : std::move(all);
  }

  absl::StatusOr<FilterNode> ParseAny(int depth) {
    FilterNode any{.kind = FilterNode::Kind::kAny};
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(FilterNode child, ParseTerm(depth));
      any.children.push_back(std::move(child));
      if (!IsWord(Peek(), "OR")) break;
      Take();
    }
    return any.children.size() == 1 ? std::move(any.children.front()) : std::move(any);
  }

  absl::StatusOr<FilterNode> ParseTerm(int depth) {
    // Bounds the recursion, here and when rows are matched, whatever a client sends.
    if (depth > limits::kFilterDepth)
      return Error(fmt::format("is nested deeper than {}", limits::kFilterDepth));
    if (TakeNot()) {
      VERNIER_ASSIGN_OR_RETURN(FilterNode child, ParseTerm(depth + 1));
      FilterNode negated{.kind = FilterNode::Kind::kNot};
      negated.children.push_back(std::move(child));
      return negated;
    }
    if (!IsSign(Peek(), "(")) return ParseComparison();
    Take();
    VERNIER_ASSIGN_OR_RETURN(FilterNode inner, ParseAll(depth + 1));
    if (!IsSign(Peek(), ")")) return Unexpected("')'");
    Take();
    return inner;
  }

  // "NOT term", or "-term".
  bool TakeNot() {
    if (IsWord(Peek(), "NOT")) {
      Take();
      return true;
    }
    // A dash is part of the word's token, and is taken off it. Only where a term begins: the number in `x = -1` keeps
    // its own.
    Token& token = tokens_[next_];
    if (token.kind != Token::Kind::kWord || !token.text.starts_with('-')) return false;
    token.text.erase(0, 1);
    ++token.at;
    // A dash by itself, as in "- x".
    if (token.text.empty()) Take();
    return true;
  }

  absl::StatusOr<FilterNode> ParseComparison() {
    // These words are no columns, and taking them for columns would hide what is missing.
    if (Peek().kind != Token::Kind::kWord || IsWord(Peek(), "AND") || IsWord(Peek(), "OR")) {
      return Unexpected("a column");
    }
    FilterNode node{.kind = FilterNode::Kind::kCompare};
    node.column = Take().text;
    const auto type = columns_.type_of(node.column);
    if (!type.has_value()) {
      return Error(fmt::format("unknown column '{}', known are {}", node.column, columns_.known()));
    }
    const auto comparator = ComparatorOf(Peek());
    // `stopped` alone is `stopped = true`.
    if (!comparator.has_value() && *type == ColumnType::kBool) {
      node.text = "true";
      return node;
    }
    if (!comparator.has_value()) {
      return Unexpected(fmt::format("a comparison after '{}'", node.column));
    }
    Take();
    node.comparator = *comparator;
    VERNIER_RETURN_IF_ERROR(ParseValue(*type, &node));
    return node;
  }

  absl::Status ParseValue(ColumnType type, FilterNode* node) {
    if (Peek().kind != Token::Kind::kWord && Peek().kind != Token::Kind::kQuoted) {
      return Unexpected("a value");
    }
    node->text = Take().text;
    ReplaceWireName(type, node);
    double number = 0;
    // Whatever the column: whether a parameter is a number is known only when a row is read.
    if (absl::SimpleAtod(node->text, &number)) node->number = number;
    absl::Time time;
    if (type == ColumnType::kTime &&
        absl::ParseTime(absl::RFC3339_full, node->text, &time, nullptr)) {
      node->time = time;
    }
    return CheckValue(type, *node);
  }

  std::vector<Token> tokens_;
  const ColumnSet& columns_;
  std::size_t next_ = 0;
};

}  // namespace

absl::StatusOr<FilterNode> ParseFilter(std::string_view text, const ColumnSet& columns) {
  // Before it is split: a filter is parsed for every page.
  if (text.size() > limits::kFilter) {
    return Error(
        fmt::format("is {} characters long, at most {} are read", text.size(), limits::kFilter));
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<Token> tokens, Split(text));
  return Parser(std::move(tokens), columns).Parse();
}

}  // namespace vernier::wire
