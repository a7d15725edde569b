#include "src/core/resumable.h"

#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::map<std::string, double>;

// Lets all trials go on but those without an entry.
class ScriptedRule final : public EarlyStopper {
 public:
  explicit ScriptedRule(std::map<TrialNumber, Numbers> numbers) : numbers_(std::move(numbers)) {}
  std::string_view name() const override { return "scripted"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return "{}"; }
  Verdict Judge(const Curve& running, std::span<const Curve> /*others*/) const override {
    const auto found = numbers_.find(running.trial);
    if (found == numbers_.end()) return {.stop = true};
    return {.numbers = found->second};
  }

 private:
  const std::map<TrialNumber, Numbers> numbers_;
};

Numbers Expects(double mean, double deviation) {
  return {{"expected_end", mean},
          {"expected_end_deviation", deviation},
          {"best", 0.9},
          {"probability", 0.5}};
}

// A book with one curve for each length. The first trial ended by itself.
CurveBook BookOf(const std::vector<int>& lengths) {
  CurveBook book;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const TrialNumber trial(static_cast<std::int64_t>(i) + 1);
    book.AddTrial(trial);
    for (int step = 1; step <= lengths[i]; ++step)
      book.AddPoint(trial, Space(), Point(), step, 0.1 * step);
    book.MarkFinished(trial, /*stopped_early=*/i > 0);
  }
  return book;
}

std::vector<std::int64_t> Chosen(const PausedTrials& paused, CurveBook book) {
  std::vector<std::int64_t> numbers;
  for (const TrialNumber trial : ChooseResumable(paused, book)) numbers.push_back(trial.value());
  return numbers;
}

PausedTrials Paused(const EarlyStopper& rule, std::int64_t last, Goal goal = Goal::kMaximize) {
  PausedTrials paused{.rule = &rule, .goal = goal, .verdicts = {}, .report_times = {}};
  for (std::int64_t trial = 2; trial <= last; ++trial)
    paused.verdicts[TrialNumber(trial)] = {{"probability", 0.1}};
  return paused;
}

TEST(ChooseResumable, LeavesTrialsPausedThatTheRuleStops) {
  const ScriptedRule rule({{TrialNumber(3), Expects(0.8, 0.1)}});
  EXPECT_THAT(Chosen(Paused(rule, 4), BookOf({10, 5, 5, 5})), ElementsAre(3));
  const ScriptedRule none(std::map<TrialNumber, Numbers>{});
  EXPECT_THAT(Chosen(Paused(none, 4), BookOf({10, 5, 5, 5})), IsEmpty());
}

TEST(ChooseResumable, TakesTheHighestExpectedImprovementFirst) {
  // Equal probabilities of being better, of better by more.
  const ScriptedRule rule(
      {{TrialNumber(2), Expects(0.9, 0.01)}, {TrialNumber(3), Expects(0.9, 0.1)}});
  EXPECT_THAT(Chosen(Paused(rule, 3), BookOf({10, 5, 5})), ElementsAre(3, 2));
}

TEST(ChooseResumable, CountsOnlyImprovementsInTheDirectionOfTheGoal) {
  const ScriptedRule rule(
      {{TrialNumber(2), Expects(0.95, 0.01)}, {TrialNumber(3), Expects(0.85, 0.01)}});
  EXPECT_THAT(Chosen(Paused(rule, 3), BookOf({10, 5, 5})), ElementsAre(2, 3));
  EXPECT_THAT(Chosen(Paused(rule, 3, Goal::kMinimize), BookOf({10, 5, 5})), ElementsAre(3, 2));
}

TEST(ChooseResumable, DividesTheImprovementByTheReportsThatAreLeft) {
  const ScriptedRule rule(
      {{TrialNumber(2), Expects(0.9, 0.11)}, {TrialNumber(3), Expects(0.9, 0.1)}});
  // Eight reports are left, or two.
  EXPECT_THAT(Chosen(Paused(rule, 3), BookOf({10, 2, 8})), ElementsAre(3, 2));
  // One that is longer than usual has one more to make.
  EXPECT_THAT(Chosen(Paused(rule, 3), BookOf({10, 2, 12})), ElementsAre(3, 2));
}

TEST(ChooseResumable, DividesTheImprovementByTheTimeOfAReport) {
  const ScriptedRule rule({{TrialNumber(2), Expects(0.9, 0.15)},
                           {TrialNumber(3), Expects(0.9, 0.1)},
                           {TrialNumber(4), Expects(0.9, 0.1)}});
  PausedTrials paused = Paused(rule, 4);
  paused.report_times = {{TrialNumber(2), absl::Minutes(2)}, {TrialNumber(3), absl::Minutes(1)}};
  // 0.15 in two minutes, 0.1 in one, 0.1 in the mean of both.
  EXPECT_THAT(Chosen(paused, BookOf({10, 5, 5, 5})), ElementsAre(3, 2, 4));
}

TEST(ChooseResumable, WithoutPredictionsTakesThoseThatCameFurthestThenTheBest) {
  const ScriptedRule rule({{TrialNumber(2), {}}, {TrialNumber(3), {}}, {TrialNumber(4), {}}});
  CurveBook book = BookOf({10, 5, 6, 5});
  book.AddPoint(TrialNumber(4), Space(), Point(), 5, 0.7);
  EXPECT_THAT(Chosen(Paused(rule, 4), std::move(book)), ElementsAre(3, 4, 2));
}

TEST(ChooseResumable, OfARuleThatPredictsJudgesTheHundredLikeliest) {
  std::map<TrialNumber, Numbers> numbers;
  std::vector<int> lengths = {10};
  for (std::int64_t trial = 2; trial <= 121; ++trial) {
    numbers[TrialNumber(trial)] = Expects(0.9, 0.1);
    lengths.push_back(5);
  }
  const ScriptedRule rule(numbers);
  PausedTrials paused = Paused(rule, 121);
  for (auto& [trial, known] : paused.verdicts)
    known["probability"] = static_cast<double>(trial.value());
  const std::vector<std::int64_t> chosen = Chosen(paused, BookOf(lengths));
  EXPECT_EQ(chosen.size(), 100u);
  EXPECT_EQ(*std::ranges::min_element(chosen), 22);
}

TEST(UsualReports, IsTheMedianOfTrialsThatEndedByThemselves) {
  EXPECT_EQ(CurveBook().UsualReports(), 0);
  CurveBook book = BookOf({10, 3});
  EXPECT_EQ(book.UsualReports(), 10);
  for (const int length : {1, 20, 30}) {  // A single report shows no length.
    const TrialNumber trial(length == 1 ? 3 : length == 20 ? 4 : 5);
    book.AddTrial(trial);
    for (int step = 1; step <= length; ++step) book.AddPoint(trial, Space(), Point(), step, 0.5);
    book.MarkFinished(trial, /*stopped_early=*/false);
  }
  EXPECT_EQ(book.UsualReports(), 20);
}

}  // namespace
}  // namespace vernier
