#include "src/core/expression.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Optional;
using ::vernier::testing::IsOk;
using ::vernier::testing::kInf;
using ::vernier::testing::StatusIs;

using Type = ExpressionName::Type;

const std::vector<ExpressionName>& Names() {
  static const auto& names = *new std::vector<ExpressionName>{
      {.name = "x"},
      {.name = "y"},
      {.name = "x-y"},
      {.name = "n.layers"},
      {.name = "min"},
      {.name = "deep", .type = Type::kBoolean},
      {.name = "flip", .type = Type::kBoolean},
      {.name = "opt", .type = Type::kText, .texts = {"sgd", "adam", "it's"}},
      {.name = "other", .type = Type::kText, .texts = {"sgd", "3"}},
  };
  return names;
}

const std::map<std::string, ParameterValue>& Values() {
  static const auto& values = *new std::map<std::string, ParameterValue>{
      {"x", 6.0},
      {"y", std::int64_t{4}},
      {"x-y", 100.0},
      {"min", -1.0},
      {"n.layers", std::int64_t{3}},
      {"deep", true},
      {"flip", false},
      {"opt", std::string("adam")},
      {"other", std::int64_t{3}},
  };
  return values;
}

bool Holds(const std::string& text) {
  const auto expression = Expression::Parse(text, Names());
  EXPECT_THAT(expression, IsOk()) << text;
  if (!expression.ok()) return false;
  std::vector<const ParameterValue*> values;
  for (const std::string& name : expression->names()) values.push_back(&Values().at(name));
  return expression->Holds(values);
}

struct ValueCase {
  std::string name, text;
  bool holds;
};

class ExpressionValue : public ::testing::TestWithParam<ValueCase> {};

TEST_P(ExpressionValue, IsAsExpected) { EXPECT_EQ(Holds(GetParam().text), GetParam().holds); }

// x = 6, y = 4, deep, not flip, opt = adam, other = 3.
INSTANTIATE_TEST_SUITE_P(Table,
                         ExpressionValue,
                         ::testing::ValuesIn(std::vector<ValueCase>{
                             {"Less", "y < x", true},
                             {"LessOfEqual", "x < 6", false},
                             {"LessOrEqual", "x <= 6", true},
                             {"Greater", "y > x", false},
                             {"GreaterOrEqual", "x >= 6.0", true},
                             {"Equal", "x == 6", true},
                             {"NotEqual", "x != 6", false},
                             {"ProductBeforeSum", "2 + 3 * 4 == 14", true},
                             {"ParenthesesFirst", "(2 + 3) * 4 == 20", true},
                             {"DifferenceFromTheLeft", "10 - 3 - 2 == 5", true},
                             {"QuotientFromTheLeft", "24 / 4 / 3 == 2", true},
                             {"PowerFromTheRight", "2 ^ 3 ^ 2 == 512", true},
                             {"PowerBeforeSign", "-2 ^ 2 == -4", true},
                             {"SignedExponent", "2 ^ -1 == 0.5", true},
                             {"ManySigns", "- - + -3 == -3", true},
                             {"Remainder", "x % 4 == 2", true},
                             {"RemainderHasTheSignOfTheLeft", "-x % 4 == -2", true},
                             {"NumberForms", ".5 + 5e-1 + 1E0 == 2", true},
                             {"NoSpaces", "x*y<=24&&x>1", true},
                             {"AndBeforeOr", "true or false and false", true},
                             {"NotBeforeAnd", "not false and true", true},
                             {"NotAroundComparison", "not x == 6", false},
                             {"NotNot", "!!deep", true},
                             {"OrOfWords", "x < 0 or y == 4", true},
                             {"OrOfSigns", "x < 0 || y < 0", false},
                             {"BooleanParameter", "deep and not flip", true},
                             {"BooleanComparedWithLiteral", "flip == false", true},
                             {"BooleansCount", "deep + flip == 1", true},
                             {"Min", "min(3, x, 2) == 2", true},
                             {"MinTakesTheFirst", "min(1, x) == 1", true},
                             {"Max", "max(x, y) == 6", true},
                             {"MaxTakesTheSecond", "max(y, x) == 6", true},
                             {"NameLikeAFunction", "min == -1", true},
                             {"Abs", "abs(y - x) == 2", true},
                             {"LogExp", "abs(log(exp(2)) - 2) < 1e-12", true},
                             {"Sqrt", "sqrt(y) == 2", true},
                             {"Floor", "floor(-1.5) == -2", true},
                             {"Ceil", "ceil(1.2) == 2", true},
                             {"NameWithDash", "x-y == 100", true},
                             {"DashBetweenNames", "y-x == -2", true},
                             {"DashBeforeNumber", "x-2 == 4", true},
                             {"NameWithDot", "n.layers == 3", true},
                             {"TextEqual", "opt == 'adam'", true},
                             {"TextEqualReversed", "\"adam\" == opt", true},
                             {"TextNotEqual", "opt != 'adam'", false},
                             {"TextWithQuote", "opt != \"it's\"", true},
                             {"TextOfANumber", "other == '3'", true},
                             {"TextsOfTwoNames", "opt == other", false},
                             {"TextsOfTwoNamesDiffer", "opt != other", true},
                             {"DivisionByZeroDoesNotHold", "1 / (x - 6) >= 0", false},
                             {"NorDoesItsContrary", "not (1 / (x - 6) >= 0)", false},
                             {"NorIsItDifferent", "1 / (x - 6) != 0", false},
                             {"RemainderByZero", "x % 0 == 0", false},
                             {"LogOfZero", "log(x - 6) < 0", false},
                             {"LogOfNegative", "log(-1) < 5 or log(-1) >= 5", false},
                             {"RootOfNegative", "sqrt(0 - x) >= 0", false},
                             {"ZeroToANegativePower", "(x - 6) ^ -1 > 0", false},
                             {"NoValueInMin", "min(1, log(0)) == 1", false},
                             {"NoValueInPower", "log(0) ^ 0 == 1", false},
                             {"GuardOnTheLeft", "x == 6 or 1 / (x - 6) > 0", true},
                             {"GuardOnTheRight", "1 / (x - 6) > 0 or x == 6", true},
                             {"FalseDecidesAnd", "not (1 / (x - 6) > 0 and x < 0)", true},
                             {"NoValueAndTrue", "1 / (x - 6) > 0 and true", false},
                             {"OverflowIsANumber", "exp(1000) > 1", true},
                         }),
                         [](const auto& row) { return row.param.name; });

struct ErrorCase {
  std::string name, text, error;
};

class ExpressionError : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(ExpressionError, NamesTheColumn) {
  EXPECT_THAT(Expression::Parse(GetParam().text, Names()),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    ExpressionError,
    ::testing::ValuesIn(std::vector<ErrorCase>{
        {"Empty", "", "expected a number, name or '(' at column 1, got the end"},
        {"Blank", "  \t", "expected a number, name or '(' at column 4, got the end"},
        {"OperatorTwice", "x * y <= <= 5", "expected a number, name or '(' at column 10, got '<='"},
        {"NothingAfterOperator", "x <", "expected a number, name or '(' at column 4, got the end"},
        {"TwoOperands", "x y < 1", "expected an operator or the end at column 3, got 'y'"},
        {"SingleEqualsSign", "x = 1", "expected an operator or the end at column 3, got '='"},
        {"AndFirst", "and x", "expected a number, name or '(' at column 1, got 'and'"},
        {"NotInsideSum",
         "1 + not deep > 0",
         "expected a number, name or '(' at column 5, got 'not'"},
        {"Unclosed", "(x < 1", "expected ')' at column 7, got the end"},
        {"Unopened", "x < 1)", "expected an operator or the end at column 6, got ')'"},
        {"EmptyParentheses", "() < 1", "expected a number, name or '(' at column 2, got ')'"},
        {"Unknown",
         "z < 1",
         "unknown name 'z' at column 1; known: x, y, x-y, n.layers, min, deep, flip, opt, other"},
        {"Misspelt", "n.layer < 1", "unknown name 'n.layer' at column 1; did you mean 'n.layers'?"},
        {"UnknownWithDash",
         "zz-top < 1",
         "unknown name 'zz' at column 1; known: x, y, x-y, n.layers, min, deep, flip, opt, other"},
        {"UnknownFunction",
         "sqr(x) < 1",
         "unknown function 'sqr' at column 1; did you mean 'sqrt'?"},
        {"FunctionAsName",
         "max < 1",
         "unknown name 'max' at column 1; known: x, y, x-y, n.layers, min, deep, flip, opt, other"},
        {"NoArguments", "min() < 1", "expected a number, name or '(' at column 5, got ')'"},
        {"TooFewArguments", "min(x) < 1", "'min' at column 1 takes two arguments or more, got 1"},
        {"TooManyArguments", "1 < abs(x, y)", "'abs' at column 5 takes one argument, got 2"},
        {"UnclosedCall", "min(x, 1", "expected ')' at column 9, got the end"},
        {"TextArgument", "abs(opt) < 1", "'abs' needs a number at column 5, got text"},
        {"NoCondition", "x + y", "must be a condition such as 'a <= b', got a number"},
        {"TextAlone", "opt", "must be a condition such as 'a <= b', got text"},
        {"NumberInAnd", "x and deep", "'and' needs a condition at column 1, got a number"},
        {"NumberRightOfOr", "deep or 1", "'or' needs a condition at column 9, got a number"},
        {"NumberInNot", "not x", "'not' needs a condition at column 5, got a number"},
        {"TextInSum", "1 + opt < 2", "'+' needs a number at column 5, got text"},
        {"TextLeftOfProduct", "opt * 2 < 2", "'*' needs a number at column 1, got text"},
        {"TextWithSign", "-opt < 2", "'-' needs a number at column 2, got text"},
        {"TextToAPower", "opt ^ 2 < 2", "'^' needs a number at column 1, got text"},
        {"TextAsExponent", "2 ^ opt < 2", "'^' needs a number at column 5, got text"},
        {"TextOrdered",
         "opt < 'sgd'",
         "text at column 1 can be compared with == and != only, got '<'"},
        {"TextOrderedRight",
         "1 < opt",
         "text at column 5 can be compared with == and != only, got '<'"},
        {"TextWithNumber", "opt == 3", "'==' needs text at column 8, got a number"},
        {"NumberWithText", "x == 'sgd'", "'==' needs text at column 1, got a number"},
        {"TwoConstants", "'a' == 'b'", "'==' compares two constant texts at column 1"},
        {"NoSuchValue",
         "opt == 'adma'",
         "'adma' at column 8 is not a value of 'opt'; did you mean 'adam'?"},
        {"Chained",
         "1 < x < 3",
         "comparisons cannot be chained, got a second one at column 7; join them with 'and'"},
        {"Character", "x < 1 $", "unexpected character '$' at column 7"},
        {"SingleAmpersand", "deep & flip", "unexpected character '&' at column 6"},
        {"Quote", "opt == 'sgd", "the text at column 8 has no closing quote"},
        {"Backquote", "x < `y", "the name at column 5 has no closing quote"},
        {"NumberTooLarge", "x < 1e999", "the number at column 5 is beyond what a double holds"},
        {"NumberThenLetter",
         "x < 2y",
         "expected an operator after the number at column 5, got 'y'"},
        {"TwoPoints", "x < 1.2.3", "expected an operator after the number at column 5, got '.'"},
        {"TooLong", std::string(5000, ' '), "must have at most 4096 characters, got 5000"},
    }),
    [](const auto& row) { return row.param.name; });

std::string Repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Expression, RefusesHostileNestingWithASentence) {
  const std::string deep = "is nested more than 64 levels deep at column";
  for (const std::string& text : {Repeat("(", 4000) + "x",
                                  Repeat("-", 4000) + "x",
                                  Repeat("!", 4000) + "deep",
                                  Repeat("2^", 2000) + "2 < 1",
                                  Repeat("abs(", 1000) + "x"}) {
    EXPECT_THAT(Expression::Parse(text, Names()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(deep)));
  }
}

TEST(Expression, RefusesWhatWouldOverflowTheEvaluation) {
  // Three values wait at each level.
  EXPECT_THAT(Expression::Parse(Repeat("(deep or 1 + 2 * ", 60) + "1", Names()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is too deeply nested")));
}

TEST(Expression, TakesLongFlatTextAndDeepEnoughOnes) {
  EXPECT_TRUE(Holds("0" + Repeat(" + 1", 1000) + " == 1000"));
  EXPECT_TRUE(Holds(Repeat("(", 60) + "x" + Repeat(")", 60) + " == 6"));
}

TEST(Expression, QuotedWordsAreNames) {
  const std::vector<ExpressionName> names = {{.name = "not"}, {.name = "-"}, {.name = "true"}};
  const auto expression = Expression::Parse("`not` - `-` == -1 and not `true` != 9", names);
  ASSERT_THAT(expression, IsOk());
  EXPECT_THAT(expression->names(), ::testing::ElementsAre("not", "-", "true"));
  const ParameterValue seven = 7.0;
  const ParameterValue eight = 8.0;
  const ParameterValue nine = 9.0;
  EXPECT_TRUE(expression->Holds(std::vector<const ParameterValue*>{&seven, &eight, &nine}));
}

TEST(Expression, NamesEachNameOnceInOrder) {
  const auto expression = Expression::Parse("y < x and opt == 'sgd' and x > y", Names());
  ASSERT_THAT(expression, IsOk());
  EXPECT_THAT(expression->names(), ElementsAre("y", "x", "opt"));
}

TEST(Expression, OpenNamesAreNumbers) {
  const auto expression = Expression::Parse("latency_ms <= 20 and x-y > 1", Names(), true);
  ASSERT_THAT(expression, IsOk());
  EXPECT_THAT(expression->names(), ElementsAre("latency_ms", "x-y"));
  const ParameterValue fast = 10.0, slow = 30.0, nan = std::numeric_limits<double>::quiet_NaN();
  const ParameterValue other = 2.0;
  const auto holds = [&](const ParameterValue& latency) {
    return expression->Holds(std::vector<const ParameterValue*>{&latency, &other});
  };
  EXPECT_TRUE(holds(fast));
  EXPECT_FALSE(holds(slow));
  EXPECT_FALSE(holds(nan));
}

TEST(Expression, TextWhereANumberIsMeantHasNoValue) {
  const auto expression = Expression::Parse("score != 1", {}, true);
  ASSERT_THAT(expression, IsOk());
  const ParameterValue text = std::string("high");
  EXPECT_FALSE(expression->Holds(std::vector<const ParameterValue*>{&text}));
}

// --- slack ---

std::optional<double> Slack(const std::string& text) {
  const auto expression = Expression::Parse(text, Names());
  EXPECT_THAT(expression, IsOk()) << text;
  if (!expression.ok()) return std::nullopt;
  std::vector<const ParameterValue*> values;
  for (const std::string& name : expression->names()) values.push_back(&Values().at(name));
  return expression->Slack(values);
}

struct SlackCase {
  std::string name, text;
  double slack;
};

class ExpressionSlack : public ::testing::TestWithParam<SlackCase> {};

TEST_P(ExpressionSlack, IsHowFarTheConditionIsFromTurning) {
  EXPECT_THAT(Slack(GetParam().text), Optional(NanSensitiveDoubleEq(GetParam().slack)));
}

constexpr double kBarely = std::numeric_limits<double>::denorm_min();
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// x = 6, y = 4, deep, not flip, opt = adam.
INSTANTIATE_TEST_SUITE_P(Table,
                         ExpressionSlack,
                         ::testing::ValuesIn(std::vector<SlackCase>{
                             {"Kept", "x <= 9", 3},
                             {"Broken", "x <= 4.5", -1.5},
                             {"KeptFromAbove", "x >= 4", 2},
                             {"BrokenFromAbove", "x > 7", -1},
                             {"KeptAtItsBound", "x <= 6", 0},
                             {"BrokenAtItsBound", "x < 6", -kBarely},
                             {"NotAtItsBound", "not x <= 6", -kBarely},
                             {"NotStrictAtItsBound", "not x < 6", kBarely},
                             {"Equal", "x == 6", 0},
                             {"NotYetEqual", "x == 4", -2},
                             {"Different", "x != 4", 2},
                             {"NotDifferent", "x != 6", -kBarely},
                             {"Not", "not x <= 9", -3},
                             {"NotNot", "not not x <= 9", 3},
                             {"AndIsTheSmaller", "x <= 9 and y <= 4.5", 0.5},
                             {"AndOfBrokenOnes", "x <= 5 and y <= 2", -2},
                             {"OrIsTheLarger", "x <= 5 or y <= 4.5", 0.5},
                             {"OrOfBrokenOnes", "x <= 5 or y <= 2", -1},
                             {"True", "true", 1},
                             {"False", "false", -1},
                             {"Boolean", "deep", 1},
                             {"NotBoolean", "not deep", -1},
                             {"Text", "opt == 'adam'", 1},
                             {"OtherText", "opt != 'adam'", -1},
                             {"TextAndNumber", "opt == 'adam' and x <= 9", 1},
                             {"Arithmetic", "2 * x - y <= 10", 2},
                             {"ConditionsInArithmetic", "deep + (x <= 9) == 1", -1},
                             {"NoValue", "1 / (x - 6) <= 1", kNoValue},
                             {"NotNoValue", "not 1 / (x - 6) <= 1", kNoValue},
                             {"BrokenAndNoValue", "1 / (x - 6) <= 1 and x <= 5", -1},
                             {"KeptAndNoValue", "1 / (x - 6) <= 1 and x <= 9", kNoValue},
                             {"KeptOrNoValue", "1 / (x - 6) <= 1 or x <= 9", 3},
                             {"BrokenOrNoValue", "1 / (x - 6) <= 1 or x <= 5", kNoValue},
                             {"Infinite", "exp(1000) <= 1", -kInf},
                             {"EqualInfinities", "exp(1000) <= exp(2000)", 0},
                         }),
                         [](const auto& row) { return row.param.name; });

// A random condition over the numbers and booleans of Names, at most `depth` levels deep.
std::string RandomNumber(Rng& rng, int depth);
std::string RandomCondition(Rng& rng, int depth) {
  const auto sub = [&] { return "(" + RandomCondition(rng, depth - 1) + ")"; };
  switch (depth <= 0 ? 3 + rng.UniformInt(2) : rng.UniformInt(6)) {
    case 0:
      return sub() + " and " + sub();
    case 1:
      return sub() + " or " + sub();
    case 2:
      return "not " + sub();
    case 3:
      return rng.UniformInt(2) == 0 ? "deep" : "flip";
    default: {
      static const std::vector<std::string> comparisons = {"<", "<=", ">", ">=", "==", "!="};
      return RandomNumber(rng, depth - 1) + " " + comparisons[rng.UniformInt(6)] + " " +
             RandomNumber(rng, depth - 1);
    }
  }
}

std::string RandomNumber(Rng& rng, int depth) {
  static const std::vector<std::string> leaves = {"x", "y", "0", "1", "2.5"};
  const auto sub = [&] { return "(" + RandomNumber(rng, depth - 1) + ")"; };
  switch (depth <= 0 ? 5 : rng.UniformInt(7)) {
    case 0:
      return sub() + " + " + sub();
    case 1:
      return sub() + " - " + sub();
    case 2:
      return sub() + " / " + sub();
    case 3:
      return "exp(300 * " + sub() + ")";
    case 4:
      return "(" + RandomCondition(rng, depth - 1) + ") * " + sub();
    default:
      return leaves[rng.UniformInt(leaves.size())];
  }
}

// Few distinct values, so that sides are often equal, and some that have none.
ParameterValue RandomMetric(Rng& rng) {
  static const std::vector<double> metrics = {0, 1, 2.5, -1, kInf, -kInf, kNoValue, 1e300, -0.0};
  return metrics[rng.UniformInt(metrics.size())];
}

TEST(Expression, TheSignOfTheSlackSaysWhetherItHolds) {
  Rng rng(20261122);
  int held = 0, broken = 0, unknown = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = RandomCondition(rng, 4);
    const auto expression = Expression::Parse(text, Names());
    ASSERT_THAT(expression, IsOk()) << text;
    std::map<std::string, ParameterValue> drawn;
    std::vector<const ParameterValue*> values;
    for (const std::string& name : expression->names()) {
      const bool is_boolean = name == "deep" || name == "flip";
      drawn[name] = is_boolean ? ParameterValue(rng.UniformInt(2) == 0) : RandomMetric(rng);
    }
    for (const std::string& name : expression->names()) values.push_back(&drawn.at(name));
    const double slack = expression->Slack(values);
    EXPECT_EQ(expression->Holds(values), slack >= 0) << text << " has slack " << slack;
    ++(slack >= 0 ? held : slack < 0 ? broken : unknown);
  }
  EXPECT_GT(std::min({held, broken, unknown}), 1000);
}

TEST(Expression, SurvivesRandomText) {
  const std::vector<std::string> pieces = {
      "x", "y", "-",   "(",   ")",     "<",    "<=", "==", "and", "not", "1", ".",
      "e", "'", "opt", "min", "x < y", "deep", ",",  "^",  "!",   "%",   " "};
  Rng rng(20261121);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t k = rng.UniformInt(12); k-- > 0;)
      text += pieces[rng.UniformInt(pieces.size())];
    const auto expression = Expression::Parse(text, Names());
    if (!expression.ok()) {
      EXPECT_FALSE(expression.status().message().empty());
      continue;
    }
    ++parsed;
    Holds(text);
  }
  EXPECT_GT(parsed, 20);
}

}  // namespace
}  // namespace vernier
