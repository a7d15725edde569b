#include "src/cli/gcloud_command_line.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

std::vector<std::string> Words(const std::string& line) { return absl::StrSplit(line, ' '); }

// As one text, the separator of lists as ";".
std::string Read(const std::string& line) {
  const absl::StatusOr<CommandLine> read = ReadCommandLine(Words(line));
  if (!read.ok()) return std::string(read.status().message());
  return absl::StrReplaceAll(absl::StrJoin(read->args, " "), {{"\x1f", ";"}});
}

struct LineCase {
  std::string line;
  std::string read;
};

class CommandLineTest : public ::testing::TestWithParam<LineCase> {};

TEST_P(CommandLineTest, IsReadAsTheParserTakesIt) {
  EXPECT_EQ(Read(GetParam().line), GetParam().read);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    CommandLineTest,
    ::testing::ValuesIn(std::vector<LineCase>{
        {"gcloud ai-platform jobs list", "jobs list"},
        {"gcloud beta ai-platform jobs list --limit 3", "jobs list --limit 3"},
        {"ml-engine jobs describe census", "jobs describe census"},
        {"ai-platform local train --module-name m -- --a", "local train --module-name m -- --a"},
        {"gcloud --project p ai-platform -q jobs submit --quiet training census --config c",
         "jobs submit training --project p -q --quiet census --config c"},
        {"--store s ai-platform jobs list", "jobs list --store s"},
        {"jobs --project p list", "jobs list --project p"},
        {"gcloud version", "--version"},
        {"gcloud --version", "--version"},
        {"gcloud --help", "help gcloud"},
        {"ai-platform -h", "help gcloud"},
        {"ai-platform jobs --help", "jobs --help"},
        // Of other commands nothing changes.
        {"trial list jobs --no-quiet", "trial list jobs --no-quiet"},
        {"study list --flags-file x", "study list --flags-file x"},
        {"help jobs", "help jobs"},
        // Flags that are true or false.
        {"jobs submit training a --use-chief-in-tf-config false b",
         "jobs submit training a --use-chief-in-tf-config=false b"},
        {"jobs submit training --use-chief-in-tf-config census",
         "jobs submit training --use-chief-in-tf-config census"},
        {"jobs submit training a --use-chief-in-tf-config YES -- --no-quiet",
         "jobs submit training a --use-chief-in-tf-config=YES -- --no-quiet"},
        {"jobs list --no-user-output-enabled --no-log-http",
         "jobs list --user-output-enabled=false --log-http=false"},
        {"jobs list --no-such", "jobs list --no-such"},
        {"jobs submit training a -- --flags-file none",
         "jobs submit training a -- --flags-file none"},
    }),
    [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST(CommandLine, SaysWhatIsNotOffered) {
  for (const std::string line : {"gcloud",
                                 "gcloud config set project p",
                                 "gcloud ai-platform models list",
                                 "ai-platform",
                                 "gcloud ai-platform jobs submit prediction x",
                                 "gcloud ai-platform local predict",
                                 "gcloud jobs list",
                                 "gcloud ai-platform jobs delete x"}) {
    EXPECT_THAT(ReadCommandLine(Words(line)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is not offered; offered are ai-platform jobs submit training")))
        << line;
  }
}

TEST(CommandLine, NamesTheCommandOfGcloud) {
  ASSERT_OK_AND_ASSIGN(const CommandLine gcloud,
                       ReadCommandLine(Words("gcloud ai-platform jobs list")));
  EXPECT_EQ(gcloud.gcloud_command, "gcloud.ai-platform.jobs.list");
  ASSERT_OK_AND_ASSIGN(const CommandLine own, ReadCommandLine(Words("jobs list")));
  EXPECT_EQ(own.gcloud_command, "");
}

class FlagsFileTest : public ::testing::Test {
 protected:
  FlagsFileTest() : folder_(base::TemporaryFolder::Create().value()) {}

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << absl::StrReplaceAll(text, {{"HERE", folder_.path()}});
    return path;
  }

  base::TemporaryFolder folder_;
};

TEST_F(FlagsFileTest, IsReplacedByItsFlags) {
  const std::string path = Write("flags.yaml",
                                 "--region: us-east1\n--worker-count: 3\n--stream-logs:\n"
                                 "--packages: [a, 'b,c']\n--labels: {team: v, owner: ann}\n"
                                 "--log-http: false\n");
  EXPECT_EQ(Read("jobs submit training a --flags-file " + path + " --region x"),
            "jobs submit training a --region=us-east1 --worker-count=3 --stream-logs "
            "--packages=^;^a;b,c --labels=^;^team=v;owner=ann --log-http=false --region x");
  const std::string twice =
      Write("twice.yaml", "- --labels: {a: b}\n- --flags-file: HERE/flags.yaml\n");
  EXPECT_THAT(Read("gcloud --flags-file=" + twice + " ai-platform jobs list"),
              HasSubstr("jobs list --labels=^;^a=b --region=us-east1 "));
}

TEST_F(FlagsFileTest, ExplainsWhatItCannotRead) {
  const std::string itself = Write("itself.yaml", "--flags-file: HERE/itself.yaml\n");
  EXPECT_THAT(Read("jobs list --flags-file " + itself), HasSubstr("is read from itself"));
  EXPECT_THAT(Read("jobs list --flags-file " + Write("text.yaml", "region\n")),
              HasSubstr("must be a mapping of flags"));
  EXPECT_THAT(Read("jobs list --flags-file " + Write("bare.yaml", "region: x\n")),
              HasSubstr("must name flags with their dashes, as --region, got 'region'"));
  EXPECT_THAT(Read("jobs list --flags-file " + Write("open.yaml", "--a: [\n")),
              HasSubstr("a list [ … ] is not closed"));
  EXPECT_THAT(Read("jobs list --flags-file /nowhere/flags.yaml"), HasSubstr("--flags-file: "));
  EXPECT_EQ(Read("jobs list --flags-file"), "--flags-file: needs a value");
}

}  // namespace
}  // namespace vernier::cli
