// JSON of jobs has few types: numbers of 64 bits are text, times are text. So a comparison first tries times, then
// numbers, then text, by what both sides can be read as. Equality succeeds in any of these forms; an order is decided
// by the first form that both sides have, and a time is never ordered against text that is no time. The expression
// tests in tests/cli/gcloud follow the documented grammar.

#include "src/cli/gcloud/filter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "re2/re2.h"
#include "src/core/status.h"

namespace vernier::gcloud {
namespace {

using Kind = FilterNode::Kind;

// As the server's bound for its filters (limits::kFilterDepth); keeps the recursion small.
constexpr int kMaxDepth = 32;

std::optional<absl::Time> FullTimeOf(const Json& value, const TimeFrame& frame) {
  // Only what is written as a full time: the text "20" could be a day, too.
  if (!value.is_string() || !LooksLikeTime(value.get_ref<const std::string&>()))
    return std::nullopt;
  return ParseMoment(value.get_ref<const std::string&>(), frame);
}

bool IsOrder(Operator op) { return op >= Operator::kLess && op <= Operator::kGreaterEqual; }

template <typename T>
bool Holds(Operator op, const T& a, const T& b) {
  switch (op) {
    case Operator::kLess:
      return a < b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kGreater:
      return a > b;
    case Operator::kGreaterEqual:
      return a >= b;
    // `!=` is never asked here: FitsAny turns it into `=`.
    default:
      return a == b;
  }
}

// The ":" operator: contains, or with "*" for any characters, matches as a whole.
bool HasText(const std::string& text, const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return text.find(pattern) != std::string::npos;
  const std::string head = pattern.substr(0, star);
  const std::string tail = pattern.substr(star + 1);
  return text.size() >= head.size() + tail.size() && text.starts_with(head) && text.ends_with(tail);
}

// Whether a single value, neither list nor object, matches the operand.
bool Fits(Operator op, const Json& value, const Operand& operand, const TimeFrame& frame) {
  // A missing value equals the empty text, and is neither more nor less than anything.
  if (value.is_null()) return operand.text.empty() && !IsOrder(op);
  if (const auto time = FullTimeOf(value, frame); time && operand.time) {
    if (Holds(op, *time, *operand.time)) return true;
    if (IsOrder(op)) return false;
  } else if (time && IsOrder(op)) {
    // A time is never ordered against text: "endTime<foo" is not a question about letters.
    return false;
  }
  if (const auto number = NumberOf(value); number && operand.number) {
    if (Holds(op, *number, *operand.number)) return true;
    // Both are numbers: their order as text would say something else.
    if (IsOrder(op)) return false;
  }
  if (IsOrder(op)) return Holds(op, TextOf(value), operand.text);
  const std::string text = absl::AsciiStrToLower(TextOf(value));
  if (op == Operator::kEqual) return text == absl::AsciiStrToLower(operand.text);
  return operand.text == "*" ? !text.empty() : HasText(text, absl::AsciiStrToLower(operand.text));
}

// As Fits, for any element of a list, and any name or value of an object.
bool FitsAny(const FilterNode& node, const Json& value, const TimeFrame& frame) {
  const auto fits = [&](const Json& part) {
    return std::ranges::any_of(node.operands, [&](const Operand& operand) {
      if (part.is_structured()) {
        // A structure has a value, though it fits no text: "labels:*".
        return node.op == Operator::kHas && operand.text == "*" && !part.empty();
      }
      // `!=` is the negation of `=` for the resource as a whole: see Compares.
      return Fits(
          node.op == Operator::kNotEqual ? Operator::kEqual : node.op, part, operand, frame);
    });
  };
  if (value.is_array() && !value.empty()) {
    // Lists in lists: any element at any depth.
    return std::ranges::any_of(value,
                               [&](const Json& element) { return FitsAny(node, element, frame); });
  }
  // Names and values of an object have no order.
  if (!value.is_object() || IsOrder(node.op)) return fits(value);
  if (fits(value)) return true;
  return std::ranges::any_of(value.items(), [&](const auto& item) {
    return fits(Json(item.key())) || fits(item.value());
  });
}

bool MatchesRegex(const re2::RE2& regex, const Json& value) {
  if (value.is_array()) {
    return std::ranges::any_of(value,
                               [&](const Json& element) { return MatchesRegex(regex, element); });
  }
  return re2::RE2::PartialMatch(TextOf(value), regex);
}

bool ContainsWord(const Json& value, const std::string& word) {
  if (value.is_structured()) {
    return std::ranges::any_of(value, [&](const Json& part) { return ContainsWord(part, word); });
  }
  return absl::StrContains(absl::AsciiStrToLower(TextOf(value)), word);
}

bool Compares(const FilterNode& node, const Json& resource, const TimeFrame& frame) {
  const Json value = Evaluate(node.expression, resource, frame);
  switch (node.op) {
    case Operator::kMatch:
      return MatchesRegex(*node.regex, value);
    case Operator::kNotMatch:
      return !MatchesRegex(*node.regex, value);
    case Operator::kNotEqual:
      return !FitsAny(node, value, frame);
    default:
      return FitsAny(node, value, frame);
  }
}

bool MatchesNode(const FilterNode& node, const Json& resource, const TimeFrame& frame) {
  const auto holds = [&](const FilterNode& child) { return MatchesNode(child, resource, frame); };
  switch (node.kind) {
    case Kind::kAll:
      return std::ranges::all_of(node.children, holds);
    case Kind::kAny:
      return std::ranges::any_of(node.children, holds);
    case Kind::kNot:
      return !holds(node.children.front());
    case Kind::kCompare:
      return Compares(node, resource, frame);
    case Kind::kWord:
      return ContainsWord(resource, node.word);
  }
  return false;
}

// Recursive descent over
//   all = any {["AND"] any}   any = term {"OR" term}
//   term = ["NOT" | "-"] (comparison | word | "(" all ")")
class FilterParser {
 public:
  FilterParser(std::string_view flag,
               std::string_view text,
               const TimeFrame& frame,
               const Aliases* aliases)
      : lexer_(flag, text, aliases), frame_(frame) {}

  absl::StatusOr<FilterNode> Parse() {
    lexer_.SkipSpace();
    if (lexer_.AtEnd()) return FilterNode{};
    VERNIER_ASSIGN_OR_RETURN(FilterNode root, ParseAll(0));
    if (!lexer_.AtEnd()) return lexer_.Expected("the end");
    return root;
  }

 private:
  bool AtEndOfGroup() {
    lexer_.SkipSpace();
    return lexer_.AtEnd() || lexer_.Peek() == ')';
  }

  absl::StatusOr<FilterNode> ParseAll(int depth) {
    FilterNode all{.kind = Kind::kAll};
    do {
      if (!all.children.empty()) lexer_.TakeWord("AND");
      VERNIER_ASSIGN_OR_RETURN(FilterNode child, ParseAny(depth));
      all.children.push_back(std::move(child));
    } while (!AtEndOfGroup());
    return all.children.size() == 1 ? FilterNode(all.children.front()) : all;
  }

  absl::StatusOr<FilterNode> ParseAny(int depth) {
    FilterNode any{.kind = Kind::kAny};
    do {
      VERNIER_ASSIGN_OR_RETURN(FilterNode child, ParseTerm(depth));
      any.children.push_back(std::move(child));
    } while (lexer_.TakeWord("OR"));
    return any.children.size() == 1 ? FilterNode(any.children.front()) : any;
  }

  absl::StatusOr<FilterNode> ParseTerm(int depth) {
    if (depth > kMaxDepth) return lexer_.Error(fmt::format("is nested deeper than {}", kMaxDepth));
    // "-" and NOT are the same, and may be repeated.
    if (lexer_.TakeWord("NOT") || lexer_.Take('-')) {
      VERNIER_ASSIGN_OR_RETURN(FilterNode child, ParseTerm(depth + 1));
      FilterNode negated{.kind = Kind::kNot};
      negated.children.push_back(std::move(child));
      return negated;
    }
    lexer_.SkipSpace();
    if (!lexer_.Take('(')) return ParseComparison();
    VERNIER_ASSIGN_OR_RETURN(FilterNode inner, ParseAll(depth + 1));
    if (!lexer_.Take(')')) return lexer_.Expected("')'");
    return inner;
  }

  // Whether AND or OR stands where a term is expected.
  bool AtJoiner() {
    const std::size_t start = lexer_.position();
    // Looks ahead only.
    const bool joins = lexer_.TakeWord("AND") || lexer_.TakeWord("OR");
    lexer_.set_position(start);
    return joins;
  }

  absl::StatusOr<FilterNode> ParseComparison() {
    // "a AND AND b" would otherwise look for the word "AND".
    if (AtEndOfGroup() || AtJoiner()) return lexer_.Expected("a term");
    const std::size_t start = lexer_.position();
    absl::StatusOr<Expression> expression = ReadExpression(lexer_);
    // An expression without an operator may be a word that looks like a key.
    if (expression.ok()) {
      VERNIER_ASSIGN_OR_RETURN(const std::optional<Operator> op, ReadOperator());
      if (op) return ParseOperands(*std::move(expression), *op);
      // Functions are of keys, so that this is no word.
      if (!expression->calls.empty()) return lexer_.Expected("an operator after the function");
    }
    // Not a comparison: a word to look for.
    lexer_.set_position(start);
    VERNIER_ASSIGN_OR_RETURN(const Lexer::Token token, lexer_.ReadToken(kOperatorCharacters));
    // One of :=!<>~, not a parenthesis.
    const bool is_compared = kOperatorCharacters.find(lexer_.Peek()) < 6;
    if (!expression.ok() && (token.is_empty() || is_compared || lexer_.Peek() == '(')) {
      return expression.status();
    }
    return FilterNode{.kind = Kind::kWord, .word = absl::AsciiStrToLower(token.text)};
  }

  // The operator; nothing if there is none.
  absl::StatusOr<std::optional<Operator>> ReadOperator() {
    constexpr std::array<std::pair<std::string_view, Operator>, 9> kOperators = {
        {{":", Operator::kHas},
         {"=", Operator::kEqual},
         {"!=", Operator::kNotEqual},
         {"<", Operator::kLess},
         {"<=", Operator::kLessEqual},
         {">", Operator::kGreater},
         {">=", Operator::kGreaterEqual},
         {"~", Operator::kMatch},
         {"!~", Operator::kNotMatch}}};
    lexer_.SkipSpace();
    const std::size_t start = lexer_.position();
    std::string written;
    // Operators have two characters at most, so that "a<=-1" is read as meant.
    while (written.size() < 2 && !lexer_.AtEnd() &&
           std::string_view(":=!<>~").find(lexer_.Peek()) != std::string_view::npos) {
      written += lexer_.Peek();
      lexer_.Take(lexer_.Peek());
    }
    if (written.empty()) return std::nullopt;
    for (const auto& [text, op] : kOperators) {
      if (text == written) return op;
    }
    lexer_.set_position(start);
    return lexer_.Expected("one of : = != < <= > >= ~ !~");
  }

  absl::StatusOr<FilterNode> ParseOperands(Expression expression, Operator op) {
    FilterNode node{.kind = Kind::kCompare, .expression = std::move(expression), .op = op};
    lexer_.SkipSpace();
    std::vector<Lexer::Token> tokens;
    // A list of operands means any of them, for which an order makes no sense.
    const bool takes_list =
        op == Operator::kHas || op == Operator::kEqual || op == Operator::kNotEqual;
    if (takes_list && lexer_.Take('(')) {
      VERNIER_ASSIGN_OR_RETURN(tokens, lexer_.ReadList(" \t\n,"));
      // gcloud allows "(a OR b)" as well as "(a b)"; either means any of them.
      std::erase_if(tokens, [](const Lexer::Token& token) {
        return !token.is_quoted && (token.text == "OR" || token.text == "AND");
      });
    } else {
      VERNIER_ASSIGN_OR_RETURN(tokens.emplace_back(), lexer_.ReadToken("()"));
    }
    if (tokens.empty() || tokens.front().is_empty()) {
      return lexer_.Expected(fmt::format("a value for '{}'", KeyText(node.expression.key)));
    }
    for (const Lexer::Token& token : tokens) {
      // "state= AND x": the value is missing; quoted, it would be a value.
      if (!token.is_quoted && (token.text == "AND" || token.text == "OR" || token.text == "NOT")) {
        return lexer_.Error(
            fmt::format("'{}' has no value before {}", KeyText(node.expression.key), token.text));
      }
      VERNIER_RETURN_IF_ERROR(AddOperand(token.text, node));
    }
    return node;
  }

  absl::Status AddOperand(const std::string& text, FilterNode& node) {
    // All forms are tried now, so that no resource costs another parse.
    Operand operand{
        .text = text, .number = NumberOf(Json(text)), .time = ParseMoment(text, frame_)};
    if (node.op == Operator::kMatch || node.op == Operator::kNotMatch) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      node.regex = std::make_shared<const re2::RE2>(text, options);
      if (!node.regex->ok()) {
        return lexer_.Error(
            fmt::format("'{}' is no regular expression: {}", text, node.regex->error()));
      }
    }
    if (node.op == Operator::kHas && text != "*" && std::ranges::count(text, '*') > 1) {
      return lexer_.Error(fmt::format("at most one * may stand in a pattern, got '{}'", text));
    }
    if (IsOrder(node.op) && IsTimeKey(node.expression) && !operand.time) {
      return lexer_.Error(fmt::format(
          "'{}' needs a time such as 2026-11-21, 2026-11-21T04:30:00Z or -P1D, got '{}'",
          KeyText(node.expression.key),
          text));
    }
    node.operands.push_back(std::move(operand));
    return absl::OkStatus();
  }

  // Keys of times. An order against text that is no time is an error for them, since it would be false for every job.
  static bool IsTimeKey(const Expression& expression) {
    // A function may make anything of a time.
    if (expression.key.empty() || !expression.calls.empty()) return false;
    const auto* const name = std::get_if<std::string>(&expression.key.back());
    constexpr std::array kTimes = {
        "createTime", "startTime", "endTime", "create_time", "start_time", "end_time"};
    return name != nullptr && std::ranges::find(kTimes, *name) != kTimes.end();
  }

  Lexer lexer_;
  const TimeFrame& frame_;
};

void CollectKeys(const FilterNode& node, std::vector<Key>& keys) {
  if (node.kind == Kind::kCompare) keys.push_back(node.expression.key);
  for (const FilterNode& child : node.children) CollectKeys(child, keys);
}

// Words are looked for everywhere, so that a filter with one concerns every key.
bool HasWords(const FilterNode& node) {
  return node.kind == Kind::kWord || std::ranges::any_of(node.children, &HasWords);
}

}  // namespace

absl::StatusOr<Filter> Filter::Parse(std::string_view flag,
                                     std::string_view text,
                                     const TimeFrame& frame,
                                     const Aliases* aliases) {
  if (text.size() > kMaxExpression) {
    return InvalidArgument(
        "{}: is {} characters long, at most {} are read", flag, text.size(), kMaxExpression);
  }
  VERNIER_ASSIGN_OR_RETURN(FilterNode root, FilterParser(flag, text, frame, aliases).Parse());
  return Filter(std::move(root), frame);
}

bool Filter::Matches(const Json& resource) const { return MatchesNode(root_, resource, frame_); }

std::vector<Key> Filter::Keys() const {
  std::vector<Key> keys;
  CollectKeys(root_, keys);
  return keys;
}

bool Filter::has_words() const { return HasWords(root_); }

int Compare(const Json& a, const Json& b, const TimeFrame& frame) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.is_null() || b.is_null()) return order(a.is_null(), b.is_null());
  const auto first = FullTimeOf(a, frame);
  const auto second = FullTimeOf(b, frame);
  if (first && second) return order(*first, *second);
  const auto left = NumberOf(a);
  const auto right = NumberOf(b);
  if (left && right) return order(*left, *right);
  // Neither times nor numbers on both sides: as text.
  return order(TextOf(a), TextOf(b));
}

}  // namespace vernier::gcloud
