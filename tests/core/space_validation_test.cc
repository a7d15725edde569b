#include <limits>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/values.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/space.h"

// Every rule of Space::Create: the sentence and the field it names.
namespace vernier {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::kInf;
using ::vernier::testing::kMaxInt;
using ::vernier::testing::kMinInt;
using ::vernier::testing::kNan;
using ::vernier::testing::StatusIs;

constexpr double kMax = std::numeric_limits<double>::max();

using ::vernier::testing::Int;
using ::vernier::testing::Text;

struct DomainCase {
  std::string name;
  Domain domain;
  std::string error;  // Without "parameters.p."; "" if sound.
};

class DomainRules : public ::testing::TestWithParam<DomainCase> {};

TEST_P(DomainRules, AcceptsOrExplains) {
  const auto space = Space::Create({{.name = "p", .domain = GetParam().domain}});
  if (GetParam().error.empty()) {
    EXPECT_THAT(space, IsOk());
    return;
  }
  const std::string message = "parameters.p." + GetParam().error;
  EXPECT_THAT(space, StatusIs(absl::StatusCode::kInvalidArgument, message));
  EXPECT_EQ(GetField(space.status()), message.substr(0, message.find(": ")));
}

FloatDomain Float(double lower, double upper, Scale scale = Scale::kLinear) {
  return {.lower = lower, .upper = upper, .scale = scale};
}
FloatDomain Stepped(double lower, double upper, double step) {
  return {.lower = lower, .upper = upper, .step = step};
}
IntDomain SteppedInt(std::int64_t lower, std::int64_t upper, std::int64_t step) {
  return {.lower = lower, .upper = upper, .step = step};
}

INSTANTIATE_TEST_SUITE_P(
    Float,
    DomainRules,
    ::testing::ValuesIn(std::vector<DomainCase>{
        {"Ordinary", Float(0, 1), ""},
        {"OnePoint", Float(3, 3), ""},
        {"Negative", Float(-2, -1), ""},
        {"Log", Float(1e-300, 1e300, Scale::kLog), ""},
        {"LowerNan", Float(kNan, 1), "float[0]: must be finite, got nan"},
        {"LowerInfinite", Float(-kInf, 1), "float[0]: must be finite, got -inf"},
        {"UpperInfinite", Float(0, kInf), "float[1]: must be finite, got inf"},
        {"Reversed", Float(1, 0.5), "float[1]: must not be below the lower bound 1, got 0.5"},
        {"TooWide",
         Float(-kMax, kMax),
         "float[1]: must be less than 1.7976931348623157e+308 above the lower bound "
         "-1.7976931348623157e+308, got 1.7976931348623157e+308"},
        {"LogFromZero", Float(0, 1, Scale::kLog), "float[0]: must be above 0 for log scale, got 0"},
        {"ReverseLogFromNegative",
         Float(-1, 1, Scale::kReverseLog),
         "float[0]: must be above 0 for reverse-log scale, got -1"},
        {"Step", Stepped(0, 0.5, 0.1), ""},
        {"StepMissesTheUpperBound", Stepped(0, 1, 0.4), ""},
        {"StepOfTheWholeWidth", Stepped(0, 1, 1), ""},
        {"StepNan", Stepped(0, 1, kNan), "step: must be finite, got nan"},
        {"StepZero", Stepped(0, 1, 0), "step: must be above 0, got 0"},
        {"StepNegative", Stepped(0, 1, -0.1), "step: must be above 0, got -0.1"},
        {"StepTooWide", Stepped(0, 1, 1.5), "step: must be at most upper - lower = 1, got 1.5"},
        {"StepOfOnePoint", Stepped(1, 1, 1), "step: must be at most upper - lower = 0, got 1"},
        {"StepBelowPrecision",
         Stepped(1e16, 2e16, 1),
         "step: must be at least 17.763568394002505 for these bounds, got 1"},
        {"StepBeyondCounting",
         Stepped(0, 1, 1e-30),
         "step: must be at least 8.881784197001252e-16 for these bounds, got 1e-30"},
        {"Points", FloatDomain{.lower = 0, .upper = 1, .points = 5}, ""},
        {"NoPoints",
         FloatDomain{.lower = 0, .upper = 1, .points = 0},
         "points: must be at least 1, got 0"},
        {"PointsAndStep",
         FloatDomain{.lower = 0, .upper = 1, .step = 0.5, .points = 2},
         "points: cannot be given together with a step"},
    }),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Others,
    DomainRules,
    ::testing::ValuesIn(std::vector<DomainCase>{
        {"Int", IntDomain{.lower = -3, .upper = 3}, ""},
        {"WholeRange", IntDomain{.lower = kMinInt, .upper = kMaxInt}, ""},
        {"WholeRangeStepped", SteppedInt(kMinInt, kMaxInt, kMaxInt), ""},
        {"IntReversed",
         IntDomain{.lower = 2, .upper = 1},
         "int[1]: must not be below the lower bound 2, got 1"},
        {"IntLogFromZero",
         IntDomain{.lower = 0, .upper = 8, .scale = Scale::kLog},
         "int[0]: must be above 0 for log scale, got 0"},
        {"IntStepZero", SteppedInt(0, 8, 0), "step: must be above 0, got 0"},
        {"IntStepTooWide", SteppedInt(0, 8, 9), "step: must be at most upper - lower = 8, got 9"},
        {"IntNoPoints",
         IntDomain{.lower = 0, .upper = 9, .points = -1},
         "points: must be at least 1, got -1"},
        {"IntPointsAndStep",
         IntDomain{.lower = 0, .upper = 9, .step = 3, .points = 2},
         "points: cannot be given together with a step"},
        {"Discrete", DiscreteDomain{{16, 32, 64}}, ""},
        {"DiscreteEmpty", DiscreteDomain{}, "discrete: must have at least one value"},
        {"DiscreteNan", DiscreteDomain{{1, kNan}}, "discrete[1]: must be finite, got nan"},
        {"DiscreteDescends",
         DiscreteDomain{{16, 64, 32}},
         "discrete[2]: must be above the value before it, 64, got 32"},
        {"DiscreteTwice",
         DiscreteDomain{{16, 16}},
         "discrete[1]: must be above the value before it, 16, got 16"},
        {"Categorical", CategoricalDomain{{Text("sgd"), Int(3), 0.5, true}}, ""},
        {"CategoricalEmpty", CategoricalDomain{}, "categorical: must have at least one value"},
        {"CategoricalTwice",
         CategoricalDomain{{Text("a"), Text("b"), Text("a")}},
         "categorical[2]: 'a' is listed twice"},
        {"CategoricalSameText",
         CategoricalDomain{{Int(1), Text("1")}},
         "categorical[1]: must also differ as text from categorical[0], an integer (1), got text "
         "(1)"},
        {"CategoricalInfinite",
         CategoricalDomain{{0.5, kInf}},
         "categorical[1]: must be finite, got inf"},
        {"CategoricalZeroByte",
         CategoricalDomain{{Text("a"), std::string("b\0c", 3)}},
         "categorical[1]: must not hold a zero byte"},
        {"Bool", BoolDomain{}, ""},
    }),
    [](const auto& row) { return row.param.name; });

struct SpaceCase {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<std::string> constraints;
  std::string error;
};

class SpaceRules : public ::testing::TestWithParam<SpaceCase> {};

TEST_P(SpaceRules, ExplainsWhatIsWrong) {
  const auto space = Space::Create(GetParam().parameters, GetParam().constraints);
  EXPECT_THAT(space, StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
  EXPECT_EQ(GetField(space.status()), GetParam().error.substr(0, GetParam().error.find(": ")));
}

Parameter Lr() { return {.name = "lr", .domain = Float(0, 1)}; }
Parameter Opt() {
  return {.name = "opt", .domain = CategoricalDomain{{Text("sgd"), Text("adam")}}};
}
Parameter Child(std::string name, std::string parent, std::vector<ParameterValue> values) {
  return {.name = std::move(name),
          .domain = BoolDomain{},
          .when = {{.parent = std::move(parent), .values = std::move(values)}}};
}
Parameter WithDefault(Domain domain, ParameterValue value) {
  return {.name = "p", .domain = std::move(domain), .default_value = std::move(value)};
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    SpaceRules,
    ::testing::ValuesIn(std::vector<SpaceCase>{
        {"NoName",
         {Lr(), {.name = "", .domain = BoolDomain{}}},
         {},
         "parameters[1].name: must have 1 to 128 bytes of UTF-8 without control characters, got "
         "''"},
        {"NameWithLineBreak",
         {{.name = "a\nb", .domain = BoolDomain{}}},
         {},
         "parameters[0].name: must have 1 to 128 bytes of UTF-8 without control characters, got "
         "'a\nb'"},
        {"NameThatIsNoText",
         {{.name = "a\xFF", .domain = BoolDomain{}}},
         {},
         "parameters[0].name: must have 1 to 128 bytes of UTF-8 without control characters, got "
         "'a\xEF\xBF\xBD'"},
        {"NameTooLong",
         {{.name = std::string(129, 'x'), .domain = BoolDomain{}}},
         {},
         "parameters[0].name: must have 1 to 128 bytes of UTF-8 without control characters, got '" +
             std::string(129, 'x') + "'"},
        {"DefinedTwice", {Lr(), Opt(), Lr()}, {}, "parameters.lr: is defined twice"},
        {"TooMany",
         std::vector<Parameter>(1001, Lr()),
         {},
         "parameters: must be at most 1000, got 1001"},
        {"DefaultTooLarge",
         {WithDefault(Float(0, 1), 1.5)},
         {},
         "parameters.p.default: must be at most 1, got 1.5"},
        {"DefaultTooSmall",
         {WithDefault(Float(0, 1), -1.5)},
         {},
         "parameters.p.default: must be at least 0, got -1.5"},
        {"DefaultNan",
         {WithDefault(Float(0, 1), kNan)},
         {},
         "parameters.p.default: must be finite, got nan"},
        {"DefaultOffTheGrid",
         {WithDefault(Stepped(0, 0.5, 0.1), 0.34)},
         {},
         "parameters.p.default: must be 0 plus a multiple of 0.1, got 0.34; the nearest is 0.3"},
        {"DefaultAboveTheGrid",
         {WithDefault(Stepped(0, 1, 0.4), 1.0)},
         {},
         "parameters.p.default: must be 0 plus a multiple of 0.4, got 1; the nearest is 0.8"},
        {"DefaultText",
         {WithDefault(Float(0, 1), Text("0.5"))},
         {},
         "parameters.p.default: must be a number, got text (0.5)"},
        {"DefaultBool",
         {WithDefault(IntDomain{.lower = 0, .upper = 1}, true)},
         {},
         "parameters.p.default: must be an integer, got a boolean (true)"},
        {"DefaultFraction",
         {WithDefault(IntDomain{.lower = 0, .upper = 9}, 1.5)},
         {},
         "parameters.p.default: must be an integer, got a number (1.5)"},
        {"DefaultIntSmall",
         {WithDefault(IntDomain{.lower = 1, .upper = 9}, Int(0))},
         {},
         "parameters.p.default: must be at least 1, got 0"},
        {"DefaultIntLarge",
         {WithDefault(IntDomain{.lower = 1, .upper = 9}, Int(10))},
         {},
         "parameters.p.default: must be at most 9, got 10"},
        {"DefaultIntOffTheGrid",
         {WithDefault(SteppedInt(1, 9, 4), Int(3))},
         {},
         "parameters.p.default: must be 1 plus a multiple of 4, got 3"},
        {"DefaultNotListed",
         {WithDefault(DiscreteDomain{{16, 32}}, 17.0)},
         {},
         "parameters.p.default: must be one of 16, 32, got 17"},
        {"DefaultTextForDiscrete",
         {WithDefault(DiscreteDomain{{16, 32}}, Text("16"))},
         {},
         "parameters.p.default: must be one of 16, 32, got text (16)"},
        {"DefaultNoCategory",
         {WithDefault(CategoricalDomain{{Text("a"), Int(2)}}, Text("b"))},
         {},
         "parameters.p.default: must be one of a, 2, got b"},
        {"DefaultNoBool",
         {WithDefault(BoolDomain{}, Int(1))},
         {},
         "parameters.p.default: must be true or false, got an integer (1)"},
        {"UnknownParent",
         {Opt(), Child("m", "optt", {Text("sgd")})},
         {},
         "parameters.m.when.optt: no such parameter; did you mean 'opt'?"},
        {"OwnParent",
         {Child("m", "m", {true})},
         {},
         "parameters.m.when.m: a parameter cannot depend on itself"},
        {"ContinuousParent",
         {Lr(), Child("m", "lr", {0.5})},
         {},
         "parameters.m.when.lr: depends on a float without a step, which has no values to name"},
        {"NoParentValues",
         {Opt(), Child("m", "opt", {})},
         {},
         "parameters.m.when.opt: must name at least one value"},
        {"NoSuchParentValue",
         {Opt(), Child("m", "opt", {Text("sgd"), Text("lion")})},
         {},
         "parameters.m.when.opt[1]: must be one of sgd, adam, got lion"},
        {"Circle",
         {Opt(), Child("a", "c", {true}), Child("b", "a", {true}), Child("c", "b", {true})},
         {},
         "parameters.a.when: conditions form a circle: a -> c -> b -> a"},
        {"CircleBehindAChild",
         {Child("x", "a", {true}), Child("a", "b", {true}), Child("b", "a", {true})},
         {},
         "parameters.a.when: conditions form a circle: a -> b -> a"},
        {"BadConstraint",
         {Lr()},
         {"lr < 1", "lr <"},
         "constraints[1]: expected a number, name or '(' at column 5, got the end"},
        {"UnknownInConstraint",
         {Lr()},
         {"lrr < 1"},
         "constraints[0]: unknown name 'lrr' at column 1; did you mean 'lr'?"},
        {"NoSuchCategory",
         {Opt()},
         {"opt == 'lion'"},
         "constraints[0]: 'lion' at column 8 is not a value of 'opt'; known: sgd, adam"},
        {"CategoryAsNumber",
         {Opt()},
         {"opt > 1"},
         "constraints[0]: text at column 1 can be compared with == and != only, got '>'"},
        {"NeverHolds",
         {Lr()},
         {"lr >= 0", "lr > 2"},
         "constraints[1]: none of 10000 points that were tried satisfies 'lr > 2'"},
        {"NeverHoldsInAFiniteSpace",
         {{.name = "n", .domain = IntDomain{.lower = 1, .upper = 9}}},
         {"n % 10 == 0"},
         "constraints[0]: none of the 9 points satisfies 'n % 10 == 0'"},
        {"ExcludeEachOther",
         {Lr()},
         {"lr < 0.4", "lr > 0.6"},
         "constraints: none of 10000 points that were tried satisfies 'lr < 0.4', 'lr > 0.6' "
         "together"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(SpaceCreate, FindsTheOnlyFeasiblePointOfASmallSpace) {
  const auto space = Space::Create({{.name = "a", .domain = IntDomain{.lower = 0, .upper = 99}},
                                    {.name = "b", .domain = IntDomain{.lower = 0, .upper = 99}}},
                                   {"a == 73", "b == 21"});
  EXPECT_THAT(space, IsOk());
}

TEST(SpaceCreate, FindsCornersAndDefaultsOfALargeSpace) {
  const IntDomain wide = {.lower = 0, .upper = 1 << 30};
  EXPECT_THAT(Space::Create({{.name = "a", .domain = wide}, {.name = "b", .domain = wide}},
                            {"a + b == 1073741824 and a >= b"}),
              IsOk());
  const std::vector<Parameter> with_defaults = {
      {.name = "a", .domain = wide, .default_value = Int(12345)},
      {.name = "b", .domain = wide, .default_value = Int(54321)}};
  EXPECT_THAT(Space::Create(with_defaults, {"a * b == 670592745"}), IsOk());
}

TEST(SpaceCreate, SearchesConditionalSpacesThroughEveryBranch) {
  const Parameter momentum = {.name = "m",
                              .domain = IntDomain{.lower = 1, .upper = 3},
                              .when = {{.parent = "opt", .values = {Text("adam")}}}};
  EXPECT_THAT(Space::Create({Opt(), momentum}, {"m == 3 and opt == 'adam'"}), IsOk());
  // Where m is inactive, a constraint over it holds.
  EXPECT_THAT(Space::Create({Opt(), momentum}, {"m == 4"}), IsOk());
  EXPECT_THAT(Space::Create({Opt(), momentum}, {"m == 4", "opt == 'adam'"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("constraints: none of the 4 points satisfies")));
}

TEST(SpaceCreate, GivesNumbersTheKindOfTheirParameter) {
  ASSERT_OK_AND_ASSIGN(
      const Space space,
      Space::Create(
          {{.name = "lr", .domain = Float(0, 9), .default_value = Int(3)},
           {.name = "n", .domain = IntDomain{.lower = 0, .upper = 9}, .default_value = 4.0},
           {.name = "b", .domain = DiscreteDomain{{1, 2}}, .default_value = Int(2)},
           {.name = "c", .domain = CategoricalDomain{{Int(1), 2.0, 0.5}}, .default_value = 1.0},
           {.name = "d", .domain = CategoricalDomain{{Int(1), 2.0, 0.5}}, .default_value = Int(2)},
           Child("m", "b", {Int(2)})}));
  const auto default_of = [&space](std::size_t i) { return *space.parameters()[i].default_value; };
  EXPECT_EQ(default_of(0), ParameterValue(3.0));
  EXPECT_EQ(default_of(1), Int(4));
  EXPECT_EQ(default_of(2), ParameterValue(2.0));
  EXPECT_EQ(default_of(3), Int(1));
  EXPECT_EQ(default_of(4), ParameterValue(2.0));
  EXPECT_EQ(space.parameters()[5].when[0].values[0], ParameterValue(2.0));
}

}  // namespace
}  // namespace vernier
