// What a line says of itself.
#include "src/launch/log_line.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vernier::launch {
namespace {

LogLine Read(const std::string& text, bool is_stderr = false) {
  LogLine line{.is_stderr = is_stderr, .text = text};
  Interpret(line);
  return line;
}

struct TextCase {
  std::string name;
  std::string text;
  Severity on_stdout;
  Severity on_stderr;
};

class LogTextTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(LogTextTest, SeverityIsWhatTheLineSaysOrThatOfItsStream) {
  const TextCase& c = GetParam();
  EXPECT_EQ(SeverityName(Read(c.text, false).severity), SeverityName(c.on_stdout));
  EXPECT_EQ(SeverityName(Read(c.text, true).severity), SeverityName(c.on_stderr));
  EXPECT_EQ(Read(c.text).message, std::nullopt);
  EXPECT_EQ(Read(c.text).text, c.text);
}

constexpr Severity kInfo = Severity::kInfo;
constexpr Severity kError = Severity::kError;
constexpr Severity kWarning = Severity::kWarning;

INSTANTIATE_TEST_SUITE_P(
    Table,
    LogTextTest,
    ::testing::ValuesIn(std::vector<TextCase>{
        {"Empty", "", kInfo, kError},
        {"Plain", "loss 0.3", kInfo, kError},
        {"WordsOnly", "ERROR in line 3", kInfo, kError},
        {"Vernier",
         "[vernier] restart 1 of 5: the program was ended by signal 9",
         kWarning,
         kWarning},
        {"Glog", "W0102 03:04:05.678901   12345 file.cc:67] careful", kWarning, kWarning},
        {"GlogInfo", "I0102 03:04:05.678901 12345 a/b.cc:6] note", kInfo, kInfo},
        {"GlogFatal",
         "F0102 03:04:05.678901 1 a.cc:6] x",
         Severity::kCritical,
         Severity::kCritical},
        {"AbseilBeforeItsStart",
         "E0000 00:00:1714070000.123456  77 cuda.cc:99] no",
         kError,
         kError},
        {"GlogOfNoFile", "W0102 03:04:05.678901 12345 careful] x", kInfo, kError},
        {"GlogOtherLetter", "X0102 03:04:05.678901 12345 file.cc:67] x", kInfo, kError},
        {"GlogCutShort", "W0102 03:04:05.678901 12345 file.cc:67", kInfo, kError},
        {"GlogTorn", "W0102 03:04:", kInfo, kError},
        {"Tensorflow", "2026-01-02 03:04:05.678901: I tensorflow/core/a.cc:1] x", kInfo, kInfo},
        {"TensorflowWarning",
         "2026-01-02 03:04:05.678901: W external/xla/b.cc:1] x",
         kWarning,
         kWarning},
        {"OtherTime", "2026-01-02 03:04:05.678901: word", kInfo, kError},
        {"Python", "WARNING:root:careful", kWarning, kWarning},
        {"PythonDebug", "DEBUG:a.b:x", Severity::kDebug, Severity::kDebug},
        {"PythonLooksAlike", "INFO: the words: x", kInfo, kError},
        {"PythonOtherLevel", "LOUD:root:x", kInfo, kError},
        {"JsonWithoutMessage", R"({"severity": "WARNING", "loss": 1})", kInfo, kError},
        {"JsonList", R"(["message"])", kInfo, kError},
        {"TornJson", R"({"severity": "WARNING", "message": "a)", kInfo, kError},
        {"JsonWithNan", R"({"severity": "WARNING", "message": "a", "loss": NaN})", kInfo, kError},
        {"NoUtf8", "{\"severity\": \"WARNING\", \"message\": \"\xff\"}", kInfo, kError},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LogJson, IsTakenApart) {
  const LogLine line =
      Read(R"({"severity": "warning", "message": "a\nb", "step": 3, "tags": {"k": [1, 2]}})");
  EXPECT_EQ(line.severity, Severity::kWarning);
  EXPECT_EQ(line.message, "a\nb");
  EXPECT_EQ(line.stated, std::nullopt);
  EXPECT_EQ(line.fields, R"({"step":3,"tags":{"k":[1,2]}})");
}

TEST(LogJson, OfPythonsLoggersIsTakenApart) {
  const LogLine line = Read(
      R"({"levelname": "CRITICAL", "message": "x", "created": 1700000000.25, "lineno": 7})", true);
  EXPECT_EQ(line.severity, Severity::kCritical);
  EXPECT_EQ(line.stated, absl::FromUnixMillis(1700000000250));
  EXPECT_EQ(line.fields, R"({"lineno":7})");
}

TEST(LogJson, WithoutASeverityThatIsKnownHasThatOfItsStream) {
  EXPECT_EQ(Read(R"({"message": "x"})").severity, Severity::kInfo);
  EXPECT_EQ(Read(R"({"message": "x"})", true).severity, Severity::kError);
  const LogLine line = Read(R"({"message": "x", "severity": "LOUD"})", true);
  EXPECT_EQ(line.severity, Severity::kError);
  EXPECT_EQ(line.fields, R"({"severity":"LOUD"})");
  EXPECT_EQ(Read(R"({"message": "x", "severity": 3, "levelname": "INFO"})", true).severity,
            Severity::kInfo);
}

TEST(LogJson, SaysItsTimeInOneOfSeveralWays) {
  const absl::Time time = absl::FromUnixNanos(1700000000123456789);
  for (const std::string field :
       {R"("time": "2023-11-14T22:13:20.123456789Z")",
        R"("timestamp": "2023-11-14T23:13:20.123456789+01:00")",
        R"("timestamp": {"seconds": 1700000000, "nanos": 123456789})",
        R"("timestampSeconds": 1700000000, "timestampNanos": 123456789)"}) {
    const LogLine line = Read("{\"message\": \"x\", " + field + "}");
    EXPECT_EQ(line.stated, time) << field;
    EXPECT_EQ(line.fields, "") << field;
  }
  for (const std::string field : {R"("time": "noon")",
                                  R"("time": 12)",
                                  R"("timestamp": {"nanos": 3})",
                                  R"("timestampSeconds": "x")",
                                  R"("created": 1e300)",
                                  R"("created": "x")"}) {
    const LogLine line = Read("{\"message\": \"x\", " + field + "}");
    EXPECT_EQ(line.stated, std::nullopt) << field;
    EXPECT_NE(line.fields, "") << field;
  }
}

TEST(LogJson, HasAMessageThatIsNoText) {
  EXPECT_EQ(Read(R"({"message": {"a": 1}})").message, R"({"a":1})");
  EXPECT_EQ(Read(R"({"message": ""})").message, "");
}

TEST(LogJson, ThatIsNestedWithoutEndStaysText) {
  const std::string deep =
      R"({"message": )" + std::string(30000, '[') + std::string(30000, ']') + "}";
  EXPECT_EQ(Read(deep).message, std::nullopt);
  const std::string flat = R"({"message": )" + std::string(20, '[') + std::string(20, ']') + "}";
  EXPECT_EQ(Read(flat).message, std::string(20, '[') + std::string(20, ']'));
}

TEST(Severity, IsReadByNameInAnyCase) {
  EXPECT_EQ(ParseSeverity("Warning"), Severity::kWarning);
  EXPECT_EQ(ParseSeverity("warn"), Severity::kWarning);
  EXPECT_EQ(ParseSeverity("FATAL"), Severity::kCritical);
  EXPECT_EQ(ParseSeverity("DEFAULT"), std::nullopt);
  EXPECT_EQ(ParseSeverity(""), std::nullopt);
  for (int i = 0; i <= static_cast<int>(Severity::kEmergency); ++i) {
    const auto severity = static_cast<Severity>(i);
    EXPECT_EQ(ParseSeverity(SeverityName(severity)), severity);
  }
}

}  // namespace
}  // namespace vernier::launch
