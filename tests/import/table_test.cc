#include <string>
#include <vector>

#include "src/import/tables.h"
#include "tests/import/fixture.h"

namespace vernier::imports {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

TEST(Csv, FollowsRfc4180) {
  const auto table = ParseCsv(
      "\xEF\xBB\xBF"
      "a,b\r\n\"x, \"\"y\"\"\nz\",1\r\n,2\n");
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(table->columns, ElementsAre("a", "b"));
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_THAT(table->rows[0], ElementsAre("x, \"y\"\nz", "1"));
  EXPECT_THAT(table->rows[1], ElementsAre("", "2"));
}

TEST(Csv, TakesTheSeparatorOfTheHeader) {
  for (const std::string text : {"a;\"b;,c\"\n1,5;2\n",
                                 "\xEF\xBB\xBF"
                                 "a\t\"b;,c\"\r\n1,5\t2\r\n"}) {
    const auto table = ParseCsv(text);
    ASSERT_THAT(table, IsOk());
    EXPECT_THAT(table->columns, ElementsAre("a", "b;,c"));
    ASSERT_EQ(table->rows.size(), 1U);
    EXPECT_THAT(table->rows[0], ElementsAre("1,5", "2"));
  }
  const auto one = ParseCsv("a\n1;2\n");
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT(one->rows[0], ElementsAre("1;2"));
  const auto tie = ParseCsv("a;b,c\n1,2;3\n");
  ASSERT_THAT(tie, IsOk());
  EXPECT_THAT(tie->columns, ElementsAre("a;b", "c"));
}

struct BadCsv {
  std::string name;
  std::string text;
  std::string error;
};
class CsvErrorTest : public ::testing::TestWithParam<BadCsv> {};
TEST_P(CsvErrorTest, NamesTheLine) {
  const auto table = ParseCsv(GetParam().text);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(std::string(table.status().message()), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Table,
    CsvErrorTest,
    ::testing::ValuesIn(std::vector<BadCsv>{
        {"Empty", "", "is empty"},
        {"OpenQuote", "a,b\n1,\"2\n", "line 2: a quote is not closed"},
        {"QuoteInside",
         "a,b\n1,2\"3\"\n",
         "line 2: a quote stands inside of a field without quotes"},
        {"TextAfterQuote", "a,b\n1,\"2\"3\n", "line 2: text follows a closing quote"},
        {"FewFields", "a,b\n1,2\n3\n", "line 3: must have 2 fields, as the header, got 1"},
        {"SameColumn", "a,a\n1,2\n", "line 1: there are two columns 'a'"},
        {"Bytes", std::string("a,b\n1,\0\n", 8), "is not UTF-8 text"},
        {"Latin1", "a,b\n1,\xE9\n", "is not UTF-8 text"},
    }),
    [](const auto& row) { return row.param.name; });

using TableTest = ImportTest;

constexpr std::string_view kTrials =
    "lr,optimizer,accuracy,loss,note\n"
    "0.1,sgd,0.7,0.5,first\n"
    "0.00001,adam,0.9,0.2,\n"
    "0.01,sgd,,,crashed\n"
    "0.02,sgd,nan,0.4,\n";

TEST_F(TableTest, NeedsToKnowTheParameters) {
  EXPECT_THAT(
      ReadStudy(Write("t.csv", kTrials), {.objectives = {"maximize:accuracy"}}),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          HasSubstr(
              "t.csv: parameters: which columns are parameters is not known; give --parameters "
              "NAME,NAME or --space FILE; columns: lr, optimizer, accuracy, loss, note")));
  EXPECT_THAT(ReadStudy(Write("t.csv", kTrials), {.parameters = {"lrr"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameters: the table has no column 'lrr'; did you mean 'lr'?")));
  EXPECT_THAT(
      ReadStudy(Write("t.csv", kTrials), {.parameters = {"lr"}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("objective: is not in the file; give --objective maximize:METRIC")));
  EXPECT_THAT(
      ReadStudy(Write("t.csv", kTrials), {.objectives = {"accuracy"}, .parameters = {"lr"}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("objective: must be maximize:METRIC or minimize:METRIC, got 'accuracy'")));
}

TEST_F(TableTest, RefusesAnObjectiveThatNoTrialHas) {
  EXPECT_THAT(ReadStudy(Write("t.csv", kTrials),
                        {.objectives = {"minimize:los"}, .parameters = {"lr", "optimizer"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("t.csv: objective: no trial has a metric 'los'; did you mean "
                                 "'loss'?")));
}

TEST_F(TableTest, NamesTheFieldThatKeepsAColumnFromBeingAMetric) {
  const std::string path =
      Write("t.csv", "lr,accuracy,loss\n0.1,0.7,0.5\n0.2,0.8,\"0,4\"\n0.3,0.9,0.3\n");
  EXPECT_THAT(ReadStudy(path, {.objectives = {"minimize:loss"}, .parameters = {"lr"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("objective: 'loss': row 2 has '0,4', which is no number")));
  const auto other = ReadStudy(path, {.objectives = {"maximize:accuracy"}, .parameters = {"lr"}});
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(other->notes,
              Contains("loss: no metric, but stored with the trials as metadata; row 2 has '0,4', "
                       "which is no number"));
}

TEST_F(TableTest, ReadsDecimalCommasBetweenSemicolons) {
  const auto study = ReadStudy(Write("t.csv", "lr;name;loss\n0,5;1,2 m;1\n1e-1;3;1,25\n;4;,5\n"),
                               {.objectives = {"minimize:loss"}, .parameters = {"lr"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->trials[0].point.at("lr"), ParameterValue(0.5));
  EXPECT_EQ(study->trials[1].last->metrics.at("loss"), 1.25);
  EXPECT_THAT(study->notes, Contains("lr: read with decimal commas"));
  EXPECT_THAT(study->notes, Contains("loss: read with decimal commas"));
  EXPECT_THAT(study->notes, Contains(HasSubstr("name: no metric")));
}

TEST_F(TableTest, TakesNoBlanksAndNoWordsForMissingNumbersForChoices) {
  const auto study = ReadStudy(
      Write("t.csv",
            "lr, opt , loss\n 0.1 , sgd, 1\nN/A,sgd , 2\n0.2,\"a d\" , None\n0.3,none,3\n"),
      {.objectives = {"minimize:loss"}, .parameters = {"lr", "opt"}});
  ASSERT_THAT(study, IsOk());
  const std::vector<Parameter>& parameters = study->spec.space.parameters();
  EXPECT_EQ(parameters[0].domain, Domain(FloatDomain{.lower = 0.1, .upper = 0.3}));
  EXPECT_EQ(
      parameters[1].domain,
      Domain(CategoricalDomain{{std::string("sgd"), std::string("a d"), std::string("none")}}));
}

TEST_F(TableTest, SaysThatTheJobOfASpaceIsLeftOut) {
  const std::string space = Write("space.yaml",
                                  "study: s\nobjective: {minimize: loss}\n"
                                  "parameters: {lr: {float: [0, 1]}}\njob: {command: [train]}\n");
  const auto study = ReadStudy(Write("t.csv", "lr,loss\n0.1,1\n"), {.space = space});
  ASSERT_THAT(study, IsOk());
  EXPECT_FALSE(study->spec.job.has_value());
  EXPECT_THAT(study->notes, Contains(HasSubstr("space.yaml: its job is left out")));
}

TEST_F(TableTest, SaysWhyAColumnOfTextIsNoObjective) {
  EXPECT_THAT(ReadStudy(Write("t.csv", "lr,loss\n0.5,1 s\n0.7,2 s\n"),
                        {.objectives = {"minimize:loss"}, .parameters = {"lr"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("objective: 'loss': row 1 has '1 s', which is no number")));
}

TEST_F(TableTest, KeepsTheOrderOfTheColumns) {
  const auto study =
      ReadStudy(Write("t.tsv", "width\tlr\tdepth\tloss\n8\t0.1\t2\t0.5\n16\t0.2\t3\t0.4\n"),
                {.objectives = {"minimize:loss"}, .parameters = {"depth", "lr", "width"}});
  ASSERT_THAT(study, IsOk());
  std::vector<std::string> names;
  for (const Parameter& parameter : study->spec.space.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("width", "lr", "depth"));
  EXPECT_EQ(study->trials.size(), 2U);
}

TEST_F(TableTest, InfersTheSpaceAndSaysSo) {
  const auto study =
      ReadStudy(Write("my trials.csv", kTrials),
                {.objectives = {"maximize:accuracy"}, .parameters = {"lr", "optimizer"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->spec.name, "my-trials");
  EXPECT_EQ(ParameterOf(*study, "lr"), R"({"float":[1e-05,0.1],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "optimizer"), R"({"categorical":["sgd","adam"]})");
  ASSERT_EQ(study->trials.size(), 4U);
  EXPECT_EQ(study->trials[0].last->metrics,
            (std::map<std::string, double>{{"accuracy", 0.7}, {"loss", 0.5}}));
  EXPECT_EQ(study->trials[0].metadata.at({.space = kAttributesSpace, .name = "note"}).content,
            "first");
  EXPECT_EQ(study->trials[2].failed->failure, FailureClass::kNoMetric);
  EXPECT_THAT(
      study->notes,
      Contains("name: 'my trials' is no name of a study here, so it is called 'my-trials'"));
  EXPECT_THAT(study->notes,
              Contains(HasSubstr(
                  R"(lr: {"float":[1e-05,0.1],"scale":"log"} is what the trials' values say)")));
  EXPECT_THAT(study->notes, Contains("metrics: accuracy, loss"));
  EXPECT_THAT(study->notes,
              Contains(HasSubstr(
                  "1 trial completed with NaN or an infinity, and so FAILED (DIVERGED): row 4")));
}

TEST_F(TableTest, TakesSpaceAndObjectiveFromAStudyFile) {
  const std::string space =
      Write("s.yaml",
            "study: s\nobjective: {minimize: loss}\nparameters:\n"
            "  lr: {float: [1e-6, 1], scale: log}\n  optimizer: {categorical: [sgd, adam]}\n");
  const auto study = ReadStudy(Write("t.csv", kTrials), {.name = "named", .space = space});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->spec.name, "named");
  EXPECT_EQ(study->spec.objectives.front().metric, "loss");
  EXPECT_EQ(ParameterOf(*study, "lr"), R"({"float":[1e-06,1.0],"scale":"log"})");
}

// What study.trials_dataframe().to_csv() of Optuna writes.
TEST_F(TableTest, KnowsTheColumnsOfOptuna) {
  const auto study = ReadStudy(Write("t.csv",
                                     ",number,value,datetime_start,params_x,params_on,state\n"
                                     "0,0,0.5,2026-11-01 10:00:00,1,True,COMPLETE\n"
                                     "1,1,0.25,2026-11-01 10:00:01,3,False,PRUNED\n"
                                     "2,2,,2026-11-01 10:00:02,2,False,FAIL\n"
                                     "3,3,,2026-11-01 10:00:02,2,False,TrialState.RUNNING\n"),
                               {.objectives = {"minimize:value"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(ParameterOf(*study, "x"), R"({"int":[1,3],"scale":"linear"})");
  EXPECT_EQ(ParameterOf(*study, "on"), R"({"bool":{}})");
  ASSERT_EQ(study->trials.size(), 4U);
  EXPECT_EQ(study->trials[0].last->metrics, (std::map<std::string, double>{{"value", 0.5}}));
  EXPECT_EQ(study->trials[1].stopped, "PRUNED in the table");
  EXPECT_EQ(study->trials[2].failed->message, "FAIL in the table");
  EXPECT_FALSE(study->trials[3].failed.has_value());
}

// What `vernier study export -o csv` writes.
TEST_F(TableTest, KnowsTheColumnsOfVernier) {
  const auto study = ReadStudy(
      Write("t.csv",
            "number,state,metrics.loss,parameters.x,create_time,failure,message,stopped,attempts,"
            "duration\n"
            "1,COMPLETED,0.5,0.25,2026-11-28T08:27:53Z,,,false,1,2.5\n"
            "2,COMPLETED,0.75,0.5,2026-11-28T08:27:54Z,,,true,1,0.5\n"
            "3,FAILED,,0.75,2026-11-28T08:27:55Z,USER_ERROR,no GPU,false,1,0.1\n"),
      {.objectives = {"minimize:loss"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(ParameterOf(*study, "x"), R"({"float":[0.25,0.75],"scale":"linear"})");
  EXPECT_THAT(study->notes, Contains("metrics: loss"));
  ASSERT_EQ(study->trials.size(), 3U);
  EXPECT_EQ(study->trials[0].last->metrics, (std::map<std::string, double>{{"loss", 0.5}}));
  EXPECT_FALSE(study->trials[0].stopped.has_value());
  EXPECT_EQ(study->trials[1].stopped, "stopped early in the table");
  EXPECT_TRUE(study->trials[2].failed.has_value());
}

// An export has its parameters in the order of their names.
TEST_F(TableTest, FindsAConditionOnAParameterFurtherRight) {
  const auto study = ReadStudy(Write("t.csv",
                                     "number,state,metrics.loss,parameters.beta,parameters.opt,"
                                     "parameters.rho\n"
                                     "1,COMPLETED,0.5,0.9,adam,\n"
                                     "2,COMPLETED,0.6,0.95,adam,\n"
                                     "3,COMPLETED,0.7,,sgd,0.1\n"
                                     "4,COMPLETED,0.8,,sgd,0.2\n"),
                               {.objectives = {"minimize:loss"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_THAT(ParameterOf(*study, "beta"), HasSubstr(R"("when":{"opt":["adam"]})"));
  EXPECT_THAT(ParameterOf(*study, "rho"), HasSubstr(R"("when":{"opt":["sgd"]})"));
  EXPECT_EQ(study->trials.size(), 4U);
}

TEST_F(TableTest, SaysThatNoParameterDiffersBetweenTrials) {
  const auto study = ReadStudy(Write("t.csv", "lr,accuracy\n0.1,0.5\n0.1,0.6\n"),
                               {.objectives = {"maximize:accuracy"}, .parameters = {"lr"}});
  EXPECT_THAT(study,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameters: none differs between trials (lr is 0.1); give "
                                 "--space FILE")));
}

// Runs of a sweep, exported from the page of a project.
TEST_F(TableTest, TakesTheSpaceFromASweep) {
  const std::string sweep =
      Write("sweep.yaml",
            "method: bayes\nmetric: {name: val_loss, goal: minimize}\nparameters:\n"
            "  lr: {min: 0.0001, max: 0.1, distribution: log_uniform_values}\n"
            "  batch: {values: [16, 32]}\n");
  const auto study =
      ReadStudy(Write("runs.csv",
                      "\"Name\",\"State\",\"Runtime\",\"batch\",\"lr\",\"val_loss\"\n"
                      "\"apt-sweep-1\",\"finished\",\"12\",\"16\",\"0.01\",\"0.3\"\n"
                      "\"odd-sweep-2\",\"crashed\",\"3\",\"32\",\"0.02\",\"\"\n"),
                {.space = sweep});
  ASSERT_THAT(study, IsOk());
  ASSERT_EQ(study->trials.size(), 2U);
  EXPECT_EQ(study->spec.objectives.front().metric, "val_loss");
  EXPECT_EQ(study->trials[0].last->metrics.at("val_loss"), 0.3);
  EXPECT_TRUE(study->trials[1].failed.has_value());
}

TEST_F(TableTest, RefusesAnUnknownState) {
  EXPECT_THAT(
      ReadStudy(Write("t.csv", "x,loss,state\n1,2,melted\n2,3,complete\n"),
                {.objectives = {"minimize:loss"}, .parameters = {"x"}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("row 1: unknown state 'melted'")));
}

TEST_F(TableTest, RefusesHostileNames) {
  EXPECT_THAT(
      ReadStudy(Write("t.csv", "x,loss\n1,2\n2,3\n"),
                {.name = "../etc/passwd", .objectives = {"minimize:loss"}, .parameters = {"x"}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("study: ")));
  EXPECT_THAT(ReadStudy(Write("t.csv", "x," + std::string(300, 'm') + "\n1,2\n2,3\n"),
                        {.objectives = {"minimize:" + std::string(300, 'm')}, .parameters = {"x"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the metric's name must have at most 128 characters, got 300")));
}

}  // namespace
}  // namespace vernier::imports
