#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/json_text.h"
#include "src/codec/shell_words.h"
#include "src/codec/study_file.h"
#include "src/codec/yaml_reader.h"
#include "src/core/utf8.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;
using Json = nlohmann::ordered_json;

// --- durations ---
struct DurationCase {
  std::string text;
  absl::Duration duration;
};

TEST(Durations, ReadInEveryUnit) {
  const std::vector<DurationCase> cases = {
      {"90s", absl::Seconds(90)},
      {"30m", absl::Minutes(30)},
      {"2h", absl::Hours(2)},
      {"1h30m", absl::Minutes(90)},
      {"1d", absl::Hours(24)},
      {"250ms", absl::Milliseconds(250)},
      {"1.5h", absl::Minutes(90)},
      {"0.000000001s", absl::Nanoseconds(1)},
      {"7ns", absl::Nanoseconds(7)},
      {"3us", absl::Microseconds(3)},
      {"0", absl::ZeroDuration()},
  };
  for (const DurationCase& c : cases) {
    ASSERT_OK_AND_ASSIGN(const absl::Duration duration, ParseDuration(c.text));
    EXPECT_EQ(duration, c.duration) << c.text;
  }
}

TEST(Durations, WhatIsNoneIsRefused) {
  for (const std::string text : {"",
                                 "90",
                                 "-5s",
                                 "5 s",
                                 "s",
                                 "1h30",
                                 "1.s",
                                 ".5s",
                                 "5y",
                                 "5s ",
                                 "inf",
                                 "99999999999999999999s",
                                 "0.0000000001s"}) {
    EXPECT_THAT(ParseDuration(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(Durations, ReadBackToTheNanosecond) {
  const std::vector<absl::Duration> durations = {absl::ZeroDuration(),
                                                 absl::Nanoseconds(1),
                                                 absl::Milliseconds(250),
                                                 absl::Seconds(90),
                                                 absl::Hours(1),
                                                 absl::Hours(1) + absl::Nanoseconds(1),
                                                 absl::Hours(100'000) + absl::Minutes(59)};
  for (const absl::Duration duration : durations) {
    ASSERT_OK_AND_ASSIGN(const absl::Duration read, ParseDuration(codec::FormatDuration(duration)));
    EXPECT_EQ(read, duration) << codec::FormatDuration(duration);
  }
  EXPECT_EQ(codec::FormatDuration(absl::Seconds(5400)), "1h30m");
  EXPECT_EQ(codec::FormatDuration(absl::Milliseconds(1500)), "1.5s");
}

// --- commands on one line ---
TEST(ShellWords, SplitAsAShellDoes) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"", {}},
      {"  a  b\tc ", {"a", "b", "c"}},
      {"python3 'my file.py' --x=\"a b\"", {"python3", "my file.py", "--x=a b"}},
      {"a\\ b", {"a b"}},
      {"''", {""}},
      {"'a\\b' \"c\\\"d\\e\"", {"a\\b", "c\"d\\e"}},
      {"x'y'\"z\"", {"xyz"}},
      {"a\\\nb", {"ab"}},
      {"$HOME {lr}", {"$HOME", "{lr}"}},
  };
  for (const auto& [text, words] : cases) {
    ASSERT_OK_AND_ASSIGN(const std::vector<std::string> split, SplitShellWords(text));
    EXPECT_EQ(split, words) << text;
  }
}

TEST(ShellWords, WhatIsLeftOpenIsRefused) {
  EXPECT_THAT(SplitShellWords("a 'b"),
              StatusIs(absl::StatusCode::kInvalidArgument, "the quote ' is not closed"));
  EXPECT_THAT(SplitShellWords("a \"b\\\""),
              StatusIs(absl::StatusCode::kInvalidArgument, "the quote \" is not closed"));
  EXPECT_THAT(SplitShellWords("a\\"), StatusIs(absl::StatusCode::kInvalidArgument));
}

// --- UTF-8 ---
TEST(Utf8, KeepsWhatIsValidAndReplacesTheRest) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"plain", "plain"},
      {"Gr\xC3\xBC\xC3\x9F", "Gr\xC3\xBC\xC3\x9F"},
      {"\xF0\x9F\x8E\xB2", "\xF0\x9F\x8E\xB2"},
      {"\xFF", "\uFFFD"},
      {"a\xC3", "a\uFFFD"},
      {"\xC0\xAF", "\uFFFD\uFFFD"},                      // Overlong.
      {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD"},            // Overlong.
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // A surrogate.
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // Beyond U+10FFFF.
      {"\xE2\x82"
       "x",
       "\uFFFD\uFFFDx"},
  };
  for (const auto& [text, mended] : cases) EXPECT_EQ(ToValidUtf8(text), mended);
}

// --- YAML ---
TEST(PlainScalars, MeanWhatTheCoreSchemaSays) {
  const std::vector<std::pair<std::string, Json>> cases = {
      {"1e-5", 1e-5},
      {"1", 1},
      {"-3", -3},
      {"+3", 3},
      {"0x1F", 31},
      {"0o17", 15},
      {"1.", 1.0},
      {".5", 0.5},
      {"1.5E+3", 1500.0},
      {"true", true},
      {"False", false},
      {"null", nullptr},
      {"~", nullptr},
      {"on", "on"},
      {"off", "off"},
      {"yes", "yes"},
      {"no", "no"},
      {"y", "y"},
      {"1_000", "1_000"},
      {"0b1", "0b1"},
      {"1e", "1e"},
      {"e5", "e5"},
      {".", "."},
      {"-", "-"},
      {"+", "+"},
      {"-.5", -0.5},
      {"1:30", "1:30"},
      {"infinity", "infinity"},
      {"nan", "nan"},
      {"0x", "0x"},
      {"18446744073709551615", 18446744073709551615u},
      {"1.2.3", "1.2.3"},
      {"--1", "--1"},
      {"18446744073709551616", 18446744073709551616.0},
      {"tRue", "tRue"},
      {"010", 10},
  };
  for (const auto& [text, value] : cases) {
    const Json resolved = ResolvePlainScalar(text);
    EXPECT_EQ(resolved, value) << text;
    EXPECT_EQ(resolved.is_number_float(), value.is_number_float()) << text;
  }
}

TEST(PlainScalars, InfinitiesAndNanAreNumbers) {
  EXPECT_EQ(ResolvePlainScalar(".inf").get<double>(), HUGE_VAL);
  EXPECT_EQ(ResolvePlainScalar("-.Inf").get<double>(), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(ResolvePlainScalar(".nan").get<double>()));
  EXPECT_EQ(ResolvePlainScalar("1e999").get<double>(), HUGE_VAL);
}

TEST(Yaml, QuotedScalarsAreText) {
  ASSERT_OK_AND_ASSIGN(const Json json,
                       ReadYaml("a: '5'\nb: \"true\"\nc: !!str 7\nd: !!float 3\n"));
  EXPECT_EQ(ToText(json), R"({"a":"5","b":"true","c":"7","d":3.0})");
}

TEST(Yaml, AnchorsAreExpanded) {
  ASSERT_OK_AND_ASSIGN(const Json json, ReadYaml("a: &x [1, 2]\nb: *x\n"));
  EXPECT_EQ(ToText(json), R"({"a":[1,2],"b":[1,2]})");
}

TEST(Yaml, WrittenDocumentsReadBackEqual) {
  const std::vector<Json> documents = {
      Json::object(),
      Json::array(),
      {{"a", "on"}, {"b", "5"}, {"c", 1e-5}, {"d", 2.0}, {"e", ""}, {"f", "x: y"}, {"g", "- z"}},
      {{"text", "two\nlines \"quoted\" \\ tab\t"}, {"null", nullptr}, {"true", false}},
      {{"list", {1, "two", {{"three", {3, {4, {5}}}}}}}, {"empty", Json::object()}},
      Json::array({Json::object({{"a", 1}}), Json::array({Json::array()})}),
      {{"long", std::vector<int>(60, 123456)}},
      {{"#", "#"}, {"*a", "&b"}, {"%", "@"}, {"Grüße", "ß"}, {".inf", "1e5"}, {"y", "---"}},
  };
  for (const Json& document : documents) {
    const std::string text = JsonToYaml(document);
    ASSERT_OK_AND_ASSIGN(const Json read, ReadYaml(text));
    EXPECT_EQ(ToText(read), ToText(document)) << text;
  }
}

TEST(Yaml, IsWrittenAsPeopleWriteIt) {
  const Json document = {{"study", "digits"},
                         {"parameters", {{"lr", {{"float", {1e-5, 0.1}}, {"scale", "log"}}}}},
                         {"command", {"python3", "train.py", "--epochs", "5"}}};
  EXPECT_EQ(JsonToYaml(document),
            "study: digits\n"
            "parameters:\n"
            "  lr: {float: [1.0e-05, 0.1], scale: log}\n"
            "command: [python3, train.py, \"--epochs\", \"5\"]\n");
}

TEST(StoredJson, DamageIsDataLoss) {
  EXPECT_THAT(ReadStoredJson("{\"a\": "), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("JSON")));
}

}  // namespace
}  // namespace vernier::codec
