// The bounds: that the reference and the comments of the wire say what the code has, and that definitions keep them.
#include "vernier/core/limits.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/limit_checks.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/study.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

std::string ReadSource(const std::string& path) {
  const char* const root = std::getenv("VERNIER_ROOT");
  EXPECT_NE(root, nullptr);
  std::ifstream file(fmt::format("{}/{}", root, path));
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// 65536 as "65,536", as people read it.
std::string Grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), ",");
  }
  return digits;
}

// A whole number of MiB or KiB from 1 KiB on, if it is one of bytes.
std::string Shown(const limits::Limit& limit) {
  if (limit.unit == "bytes" && limit.most % limits::kMiB == 0) {
    return fmt::format("{} MiB", limit.most / limits::kMiB);
  }
  if (limit.unit == "bytes" && limit.most > 4096 && limit.most % limits::kKiB == 0) {
    return fmt::format("{} KiB", limit.most / limits::kKiB);
  }
  return fmt::format(
      "{}{}{}", Grouped(limit.most), limit.unit.empty() ? "" : " ", std::string(limit.unit));
}

TEST(Limits, TheReferenceListsEachOfThemAndNoOther) {
  const std::string page = ReadSource("docs/reference/limits.md");
  std::vector<std::string> expected;
  for (const limits::Limit& limit : limits::kTable) {
    expected.push_back(fmt::format("| {} | {} |", limit.what, Shown(limit)));
  }
  std::vector<std::string> listed;
  const std::regex row(R"(\n(\| [^|\n]+ \| [0-9][^|\n]* \|))");
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
    listed.push_back((*at)[1]);
  }
  EXPECT_THAT(listed, ::testing::ElementsAreArray(expected));
}

// The comments of each field, by "Message.field": those before it and the one behind it.
std::map<std::string, std::string> FieldComments(const std::string& proto) {
  std::map<std::string, std::string> comments;
  const std::regex message(R"(^\s*message (\w+) \{)");
  const std::regex field(
      R"(^\s*(?:optional |repeated )?(?:map<.*>|[\w.]+)\s+(\w+) = \d+[^;]*;(.*)$)");
  std::vector<std::string> open;
  std::string before;
  std::istringstream lines(proto);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, message)) open.push_back(match[1]);
    const std::size_t comment = line.find("//");
    if (!open.empty() && std::regex_match(line, match, field)) {
      comments[open.back() + "." + match[1].str()] = before + " " + match[2].str();
      before.clear();
    } else if (line.find_first_not_of(' ') == comment && comment != std::string::npos) {
      before += line.substr(comment + 2);
    } else {
      before.clear();
    }
    const std::string code = line.substr(0, comment);
    if (!open.empty() && code.find('}') != std::string::npos &&
        code.find('{') == std::string::npos) {
      open.pop_back();
    } else if (std::regex_search(line, std::regex(R"((oneof|enum) \w+ \{)"))) {
      open.push_back(open.empty() ? "" : open.back());  // Closed by a brace of its own.
    }
  }
  return comments;
}

TEST(Limits, CommentsOfTheWireStateThem) {
  std::map<std::string, std::string> comments;
  for (const std::string name : {"study", "study_service", "trial", "training_job"}) {
    comments.merge(FieldComments(ReadSource(fmt::format("proto/vernier/v1/{}.proto", name))));
  }
  for (const limits::Limit& limit : limits::kTable) {
    std::istringstream fields{std::string(limit.fields)};
    for (std::string field; fields >> field;) {
      ASSERT_TRUE(comments.contains(field)) << field;
      const std::string bound = fmt::format("t most {}", Shown(limit));  // "At most" or "at most".
      EXPECT_THAT(comments[field], HasSubstr(bound)) << field;
    }
  }
}

StudySpec Sound() {
  StudySpec spec;
  spec.name = "digits";
  spec.objectives = {{.metric = "accuracy"}};
  spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{.lower = 0, .upper = 1}},
                               {.name = "c", .domain = CategoricalDomain{{"a", "b"}}}});
  spec.job.emplace().command = {"true"};
  return spec;
}

Parameter Choices(int count, std::size_t length) {
  CategoricalDomain domain;
  for (int i = 0; i < count; ++i) {
    domain.values.push_back(fmt::format("{:06}{}", i, std::string(length - 6, 'x')));
  }
  return {.name = "c", .domain = std::move(domain)};
}

struct LimitCase {
  std::string name;
  std::function<void(StudySpec&)> change;
  std::string error;  // Empty: the definition is accepted.
};
class StudyLimitTest : public ::testing::TestWithParam<LimitCase> {};

TEST_P(StudyLimitTest, IsKeptOrNamed) {
  StudySpec spec = Sound();
  GetParam().change(spec);
  const absl::Status status = CheckLimits(spec);
  EXPECT_EQ(status.ok() ? "" : std::string(status.message()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    StudyLimitTest,
    ::testing::Values(
        LimitCase{"Sound", [](StudySpec&) {}, ""},
        LimitCase{"NinetyThousandChoices",
                  [](StudySpec& s) { s.space = *Space::Create({Choices(90'000, 6)}); },
                  ""},
        LimitCase{"TooManyChoices",
                  [](StudySpec& s) { s.space = *Space::Create({Choices(100'001, 6)}); },
                  "parameters.c.categorical: must be at most 100000, got 100001"},
        LimitCase{"LongChoice",
                  [](StudySpec& s) { s.space = *Space::Create({Choices(2, 1025)}); },
                  "parameters.c.categorical[0]: must have at most 1024 bytes, got 1025"},
        LimitCase{"TooManyConstraints",
                  [](StudySpec& s) {
                    s.space = *Space::Create(s.space.parameters(),
                                             std::vector<std::string>(101, "x <= 1"));
                  },
                  "constraints: must be at most 100, got 101"},
        LimitCase{"TooManyOutcomeConstraints",
                  [](StudySpec& s) { s.outcome_constraints.assign(101, "a <= 1"); },
                  "outcome_constraints: must be at most 100, got 101"},
        LimitCase{"TooManyObjectives",
                  [](StudySpec& s) { s.objectives.assign(33, {.metric = "a"}); },
                  "objective: must be at most 32, got 33"},
        LimitCase{"LongMetric",
                  [](StudySpec& s) { s.metrics[std::string(129, 'm')] = {}; },
                  "metrics: must have at most 128 bytes, got 129"},
        LimitCase{"TooManyOptions",
                  [](StudySpec& s) {
                    for (int i = 0; i < 101; ++i) s.algorithm.options[fmt::format("o{}", i)] = true;
                  },
                  "algorithm: must be at most 100, got 101"},
        LimitCase{"LongOption",
                  [](StudySpec& s) { s.stopping.options["o"] = std::string(4097, 'x'); },
                  "stopping.o: must have at most 4096 bytes, got 4097"},
        LimitCase{"TooManyWords",
                  [](StudySpec& s) { s.job->args.assign(10'001, "a"); },
                  "job.args: must be at most 10000, got 10001"},
        LimitCase{"LongWord",
                  [](StudySpec& s) { s.job->command.emplace_back(65'537, 'a'); },
                  "job.command[1]: must have at most 65536 bytes, got 65537"},
        LimitCase{"TooManyVariables",
                  [](StudySpec& s) {
                    for (int i = 0; i < 1001; ++i) s.job->env[fmt::format("V{}", i)] = "";
                  },
                  "job.env: must be at most 1000, got 1001"},
        LimitCase{"LongVariable",
                  [](StudySpec& s) { s.job->env["V"] = std::string(65'537, 'a'); },
                  "job.env.V: must have at most 65536 bytes, got 65537"},
        LimitCase{"LongPath",
                  [](StudySpec& s) { s.job->job_directory = std::string(4097, 'a'); },
                  "job.dir: must have at most 4096 bytes, got 4097"},
        LimitCase{"LongImage",
                  [](StudySpec& s) { s.job->replicas[Role::kPrimary].image.assign(1025, 'a'); },
                  "job.replicas.chief.image: must have at most 1024 bytes, got 1025"},
        LimitCase{"LongDefinitionOfAnotherService",
                  [](StudySpec& s) { s.foreign = {.definition = std::string((2 << 20) + 1, 'a')}; },
                  "study_spec: must have at most 2097152 bytes, got 2097153"}),
    [](const auto& row) { return row.param.name; });

TEST(MeasurementLimits, AreOfNumberNamesAndValues) {
  Measurement wide;
  for (int i = 0; i < 1000; ++i) wide.metrics[fmt::format("m{}", i)] = i;
  EXPECT_THAT(CheckMeasurementLimits("measurements", std::vector<Measurement>(10, wide)), IsOk());
  EXPECT_THAT(CheckMeasurementLimits("measurements", std::vector<Measurement>(11, wide)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "measurements: must hold at most 10000 values of metrics, got 11000; send "
                       "them in several calls"));
  wide.metrics["one more"] = 0;
  EXPECT_THAT(CheckMeasurementLimits("measurements", {wide}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "measurements[0].metrics: must be at most 1000, got 1001"));
  Measurement narrow{.metrics = {{"m", 1}}};
  EXPECT_THAT(CheckMeasurementLimits("measurements", std::vector<Measurement>(1000, narrow)),
              IsOk());
  EXPECT_THAT(
      CheckMeasurementLimits("measurements", std::vector<Measurement>(1001, narrow)),
      StatusIs(absl::StatusCode::kInvalidArgument, "measurements: must be at most 1000, got 1001"));
  EXPECT_THAT(CheckMetricLimits("final_metrics", {{std::string(1'000'000, 'm'), 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "final_metrics: a metric's name must have at most 128 bytes, got 1000000"));
}

TEST(MetadataLimits, AreOfKeysValuesAndTheCall) {
  const auto study = [](std::size_t key, std::size_t value) {
    return MetadataUpdate{.study = {{{.space = "", .name = std::string(key, 'k')},
                                     {.type = "", .content = std::string(value, 'v')}}}};
  };
  EXPECT_THAT(CheckMetadataLimits(study(1024, 512 << 10)), IsOk());
  EXPECT_THAT(CheckMetadataLimits(study(1025, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "metadata.key: must have at most 1024 bytes, got 1025"));
  EXPECT_THAT(CheckMetadataLimits(study(1, (512 << 10) + 1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "metadata.k: must have at most 524288 bytes, got 524289"));
  MetadataUpdate many;
  for (int i = 1; i <= 3; ++i) {
    many.trials[TrialNumber(i)] = study(1, 512 << 10).study;
  }
  EXPECT_THAT(CheckMetadataLimits(many),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "metadata: must have at most 1048576 bytes in one call, got 1572915"));
}

}  // namespace
}  // namespace vernier
