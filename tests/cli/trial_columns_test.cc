#include "src/cli/trial_columns.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/cli/trial_csv.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

class TrialColumnsTest : public ::testing::Test {
 protected:
  TrialColumnsTest() {
    StudySpec& spec = study_.study.spec;
    spec.name = "s";
    spec.objectives = {{.metric = "val_loss", .goal = Goal::kMinimize}};
    spec.space = *Space::Create({{.name = "lr", .domain = FloatDomain{.lower = 0, .upper = 1}},
                                 {.name = "epochs", .domain = IntDomain{.lower = 1, .upper = 9}}});
    TrialRecord record;
    record.trial.number = TrialNumber(7);
    record.trial.state = TrialState::kFailed;
    record.trial.failure = FailureClass::kDiverged;
    record.trial.message = "val_loss is nan\nmore";
    record.trial.point = {{"lr", 0.123456789}, {"epochs", std::int64_t{3}}};
    record.trial.last = Measurement{.step = 2, .metrics = {{"val_loss", 0.5}, {"epochs", 2}}};
    trials_.push_back(record);
    rows_.push_back(RowOf(record, study_, absl::UnixEpoch()));
  }

  TrialColumnContext MakeContext() const {
    return {.study = study_,
            .metrics = MetricNames(study_, trials_),
            .scale = ScaleOf(rows_, true),
            .zone = absl::UTCTimeZone()};
  }
  std::vector<std::string> Lines(const std::vector<TrialColumn>& columns) const {
    return MakeTrialTable(columns, trials_, rows_).Lines({.cut = false});
  }

  StudyRecord study_;
  std::vector<TrialRecord> trials_;
  std::vector<TrialSummary> rows_;
};

TEST_F(TrialColumnsTest, AreThoseThatWereNamedAfterTheNumber) {
  ASSERT_OK_AND_ASSIGN(const auto columns, ChooseColumns("lr, epochs,objective", MakeContext()));
  EXPECT_THAT(Lines(columns),
              ElementsAre("NUMBER           lr  epochs  OBJECTIVE",
                          "     7  0.123456789       3          -"));
}

TEST_F(TrialColumnsTest, TellMetricsFromParametersOfTheSameName) {
  ASSERT_OK_AND_ASSIGN(const auto columns,
                       ChooseColumns("metrics.epochs,parameters.epochs,number", MakeContext()));
  EXPECT_THAT(Lines(columns),
              ElementsAre("metrics.epochs  parameters.epochs  NUMBER",
                          "             2                  3       7"));
}

TEST_F(TrialColumnsTest, SuggestTheNearestName) {
  EXPECT_THAT(ChooseColumns("epoch", MakeContext()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--columns: unknown column 'epoch'; did you mean 'epochs'?")));
  EXPECT_THAT(ChooseColumns("lr,lr", MakeContext()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'lr' is given twice")));
  EXPECT_THAT(ChooseColumns("lr,,state", MakeContext()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown column ''")));
}

TEST_F(TrialColumnsTest, OfAWideTableHoldEveryMetricAndParameter) {
  const auto lines = Lines(WideColumns(MakeContext()));
  EXPECT_THAT(lines[0], HasSubstr("val_loss  epochs  CURVE           lr  epochs  STARTED"));
  EXPECT_THAT(lines[1], HasSubstr("DIVERGED  val_loss is nan"));
}

TEST_F(TrialColumnsTest, SelectThoseOfCsv) {
  ASSERT_OK_AND_ASSIGN(const auto columns, ChooseColumns("lr,objective,failure", MakeContext()));
  ASSERT_OK_AND_ASSIGN(const auto rows, SelectCsvColumns(columns, TrialCsvRows(study_, trials_)));
  EXPECT_EQ(rows.dump(),
            R"([{"number":7,"lr":"0.123456789","objective":0.5,"failure":"DIVERGED"}])");
  ASSERT_OK_AND_ASSIGN(const auto all, ChooseColumns("duration,parameters", MakeContext()));
  ASSERT_OK_AND_ASSIGN(const auto with_all, SelectCsvColumns(all, TrialCsvRows(study_, trials_)));
  EXPECT_EQ(
      with_all.dump(),
      R"([{"number":7,"duration":null,"parameters.lr":"0.123456789","parameters.epochs":"3"}])");
  ASSERT_OK_AND_ASSIGN(const auto drawn, ChooseColumns("curve", MakeContext()));
  EXPECT_THAT(SelectCsvColumns(drawn, TrialCsvRows(study_, trials_)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no column 'curve'")));
}

}  // namespace
}  // namespace vernier::cli
