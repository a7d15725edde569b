// Imports are whole or not there, whatever goes wrong on the way.
#include "src/import/storing.h"

#include <map>
#include <optional>

#include "tests/import/fixture.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::imports {
namespace {

using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

// Studies with the number of their trials. Calls fail from number `fails_at` on if that is set; `dies` then lets none
// through any more, as after a kill.
class FakeTarget final : public Target {
 public:
  struct Stored {
    StudySpec spec;
    std::size_t trials = 0;
    std::size_t calls = 0;
  };

  absl::Status CreateStudy(const StudySpec& spec) override {
    VERNIER_RETURN_IF_ERROR(Next());
    if (studies.contains(spec.name)) {
      return WithReason(absl::AlreadyExistsError("taken"), Reason::kStudyExists);
    }
    studies[spec.name].spec = spec;
    return absl::OkStatus();
  }
  absl::Status AddTrials(const std::string& study,
                         const std::vector<TrialAddition>& trials) override {
    VERNIER_RETURN_IF_ERROR(Next());
    studies.at(study).trials += trials.size();
    ++studies.at(study).calls;
    return absl::OkStatus();
  }
  absl::StatusOr<StudySpec> GetDefinition(const std::string& study) override {
    VERNIER_RETURN_IF_ERROR(Next());
    const auto at = studies.find(study);
    if (at == studies.end()) return absl::NotFoundError("none");
    return at->second.spec;
  }
  absl::Status SetLabels(const std::string& study, const StudySpec& with_labels) override {
    VERNIER_RETURN_IF_ERROR(Next());
    studies.at(study).spec.labels = with_labels.labels;
    return absl::OkStatus();
  }
  absl::Status DeleteStudy(const std::string& study) override {
    if (is_dead) return absl::UnavailableError("dead");
    studies.erase(study);
    return absl::OkStatus();
  }

  std::map<std::string, Stored> studies;
  std::optional<int> fails_at;
  bool dies = false;
  bool is_dead = false;

 private:
  absl::Status Next() {
    if (fails_at.has_value() && (*fails_at)-- == 0) {
      is_dead = dies;
      return absl::UnavailableError("lost");
    }
    return is_dead ? absl::UnavailableError("dead") : absl::OkStatus();
  }
};

ImportedStudy AStudy(std::size_t trials) {
  ImportedStudy study;
  study.spec.name = "s";
  study.spec.labels = {{"team", "vision"}};
  study.trials.resize(trials);
  return study;
}

TEST(StoreStudy, StoresAllTrialsAndTheLabelsOfTheStudy) {
  FakeTarget target;
  ASSERT_THAT(StoreStudy(AStudy(7), target), IsOk());
  EXPECT_EQ(target.studies.at("s").trials, 7U);
  EXPECT_EQ(target.studies.at("s").calls, 1U);
  EXPECT_EQ(target.studies.at("s").spec.labels,
            (std::map<std::string, std::string>{{"team", "vision"}}));
}

TEST(StoreStudy, ASuccessfulCallFollowsEachFailedOneWithTheSameResult) {
  for (const bool dies : {false, true}) {
    for (int failing = 1; failing < 4; ++failing) {
      FakeTarget target;
      target.fails_at = failing;
      target.dies = dies;
      EXPECT_FALSE(StoreStudy(AStudy(3), target).ok());
      EXPECT_TRUE(dies || target.studies.empty()) << failing;
      for (const auto& [name, stored] : target.studies) {
        EXPECT_TRUE(stored.spec.labels.contains(kUnfinishedLabel));
      }
      target.is_dead = false;
      ASSERT_THAT(StoreStudy(AStudy(3), target), IsOk()) << failing;
      EXPECT_EQ(target.studies.at("s").trials, 3U);
    }
  }
}

TEST(StoreStudy, LeavesAnotherStudyOfThatNameAlone) {
  FakeTarget target;
  ASSERT_THAT(StoreStudy(AStudy(2), target), IsOk());
  EXPECT_EQ(GetReason(StoreStudy(AStudy(5), target)), Reason::kStudyExists);
  EXPECT_EQ(target.studies.at("s").trials, 2U);
}

TEST(StoreStudy, SplitsWhatIsTooMuchForOneCall) {
  FakeTarget target;
  ASSERT_THAT(StoreStudy(AStudy(limits::kAsked + 1), target), IsOk());
  EXPECT_EQ(target.studies.at("s").calls, 2U);
  ImportedStudy curves = AStudy(3);
  curves.spec.name = "curves";
  for (TrialAddition& trial : curves.trials) {
    trial.measurements.resize(limits::kAddedValues / 2, {.metrics = {{"a", 1}}});
  }
  ASSERT_THAT(StoreStudy(curves, target), IsOk());
  EXPECT_EQ(target.studies.at("curves").calls, 2U);
  EXPECT_EQ(target.studies.at("curves").trials, 3U);
}

}  // namespace
}  // namespace vernier::imports
