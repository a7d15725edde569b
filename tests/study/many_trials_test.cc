// Changes of studies with very many trials take time in proportion to what they change.
#include <fmt/format.h>

#include <ctime>

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::IsOk;

class ManyTrials : public StudyFixture {};

// Each point of a finite space may be proposed again when its trial is cancelled: that took a look through all trials for
// another one with the point.
TEST_F(ManyTrials, AreWithdrawnInLinearTime) {
  // Of the processor, so that a busy machine makes no difference; one by the other, so that a slow one makes none.
  const auto seconds_to_withdraw = [&](std::int64_t trials) {
    StudySpec spec = ClientSpec();
    spec.name = fmt::format("of-{}", trials);
    spec.space = SpaceOf({{.name = "n", .domain = IntDomain{.lower = 0, .upper = 10 * trials}}});
    const Study study = Create(spec);
    for (std::int64_t n = 0; n < trials; ++n) {
      EXPECT_THAT(studies_->AddTrial(study.id, {.point = {{"n", n}}}, As("w")), IsOk());
    }
    const std::clock_t begin = std::clock();
    EXPECT_THAT(studies_->Stop(study.id, "enough", As("w")), IsOk());
    const std::clock_t end = std::clock();
    EXPECT_EQ(Get(study.id).state, StudyState::kCancelled);
    return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
  };
  // Eight times as many take eight times as long, or sixty-four times if each looks at all others.
  const double few = seconds_to_withdraw(2'500);
  const double many = seconds_to_withdraw(20'000);
  EXPECT_LT(many, 24 * few);
}

// What one of several trials with a point comes to does not free the point.
TEST_F(ManyTrials, OfOnePointKeepItUntilTheLastIsForgotten) {
  StudySpec spec = ClientSpec();
  spec.space = SpaceOf({{.name = "n", .domain = IntDomain{.lower = 0, .upper = 0}}});
  const Study study = Create(spec);
  std::vector<Trial> trials;
  for (int i = 0; i < 3; ++i) {
    const auto trial = studies_->AddTrial(study.id, {.point = {{"n", std::int64_t{0}}}}, As("w"));
    ASSERT_THAT(trial, IsOk());
    trials.push_back(*trial);
  }
  for (const int i : {1, 0}) {
    ASSERT_THAT(
        studies_->DeleteTrial({study.id, trials[static_cast<std::size_t>(i)].number}, As("w")),
        IsOk());
    EXPECT_FALSE(studies_->Ask(study.id, 1, As("w"), {}).ok());
  }
  ASSERT_THAT(studies_->DeleteTrial({study.id, trials[2].number}, As("w")), IsOk());
  EXPECT_THAT(studies_->Ask(study.id, 1, As("w"), {}), IsOk());
}

}  // namespace
}  // namespace vernier::study
