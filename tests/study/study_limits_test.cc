// Bounds of what calls bring (include/vernier/core/limits.h): nothing beyond them is stored, and what a store has beyond them
// is used as before.
#include "fmt/format.h"
#include "tests/study/study_fixture.h"
#include "vernier/core/limits.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class StudyLimits : public StudyFixture {
 protected:
  static auto Refuses(const std::string& message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message));
  }
  static Measurement Wide(int first, int count) {
    Measurement measurement = Measured(1, 0.5);
    for (int i = first; i < first + count; ++i) measurement.metrics[fmt::format("m{}", i)] = i;
    return measurement;
  }
};

TEST_F(StudyLimits, AReportBeyondThemLeavesNothingBehind) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const EventSeq before = Get(study.id).last_event;
  const auto report = [&](std::vector<Measurement> measurements, const Caller& caller) {
    return studies_->Report(id, measurements, TokenOf(trial), caller).status();
  };
  EXPECT_THAT(report({Wide(0, 100'000)}, As("w1")),
              Refuses("measurements[0].metrics: must be at most 1000, got 100001"));
  EXPECT_THAT(report({{.metrics = {{std::string(1'000'000, 'm'), 1}}}}, As("w1")),
              Refuses("must have at most 128 bytes, got 1000000"));
  EXPECT_THAT(report(std::vector<Measurement>(1001, Measured(1, 1)), As("w1")),
              Refuses("measurements: must be at most 1000, got 1001"));
  EXPECT_THAT(report({Measured(1, 1)}, As(std::string(3'000'000, 'w'))),
              Refuses("client_id: must have at most 256 bytes, got 3000000"));
  EXPECT_THAT(report({Measured(1, 1)}, As("w1", std::string(257, 'r'))),
              Refuses("request_id: must have at most 256 bytes, got 257"));
  EXPECT_EQ(Get(study.id).last_event, before);
  EXPECT_EQ(Get(study.id, trial.number).measurements, 0);
}

TEST_F(StudyLimits, ATrialHasABoundedNumberOfMetrics) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const auto report = [&](const Measurement& measurement) {
    return studies_->Report({study.id, trial.number}, {measurement}, TokenOf(trial), As("w1"))
        .status();
  };
  EXPECT_THAT(report(Wide(0, 600)), IsOk());
  EXPECT_THAT(report(Wide(500, 600)),
              Refuses("measurements: a trial must have at most 1000 metrics, got 1101"));
  EXPECT_THAT(report(Wide(600, 399)), IsOk());
  EXPECT_THAT(report(Wide(0, 999)), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).last->metrics.size(), 1000);
}

TEST_F(StudyLimits, NamesOfClientsAndReasonsAreBounded) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const std::string name(257, 'c');
  const std::string reason(16'385, 'r');
  EXPECT_THAT(studies_->Suggest(study.id, 1, name, As("w"), {}),
              Refuses("client_id: must have at most 256 bytes, got 257"));
  EXPECT_THAT(studies_->CreateStudy(ClientSpec("other"), As(name)), Refuses("client_id"));
  EXPECT_THAT(studies_->SetMetadata(study.id, {}, As(name)), Refuses("client_id"));
  EXPECT_THAT(studies_->DeleteTrial(id, As(name)), Refuses("client_id"));
  EXPECT_THAT(studies_->Delete("digits", true, As(name)), Refuses("client_id"));
  EXPECT_THAT(studies_->Stop(study.id, reason, As("w")),
              Refuses("reason: must have at most 16384 bytes, got 16385"));
  EXPECT_THAT(studies_->StopTrial(id, reason, As("w")), Refuses("reason"));
  EXPECT_THAT(studies_->Fail(id, FailureClass::kUserError, reason, TokenOf(trial), As("w1")),
              Refuses("message: must have at most 16384 bytes, got 16385"));
  EXPECT_THAT(studies_->Complete(id, Wide(0, 1001), TokenOf(trial), As("w1")),
              Refuses("final_metrics: must be at most 1000, got 1002"));
  EXPECT_THAT(studies_->Ask(study.id, 10'001, As("w"), {}),
              Refuses("count: must be at most 10000, got 10001"));
  EXPECT_EQ(Get(study.id, trial.number).state, TrialState::kRunning);
}

TEST_F(StudyLimits, ADefinitionFitsAMessage) {
  StudySpec spec = ClientSpec();
  std::vector<ParameterValue> choices;
  for (int i = 0; i < 90'000; ++i) choices.emplace_back(fmt::format("choice-{:05}", i));
  spec.space = SpaceOf({Choices("c", choices)});
  EXPECT_THAT(studies_->CreateStudy(spec, As("w")), IsOk());
  for (ParameterValue& choice : choices) choice = std::get<std::string>(choice) + "-and-much-more";
  spec.space = SpaceOf({Choices("c", choices)});
  spec.name = "larger";
  EXPECT_THAT(studies_->CreateStudy(spec, As("w")),
              Refuses("study: the definition must have at most 2097152 bytes as JSON, got "));
  EXPECT_THAT(studies_->FindStudy("larger"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(StudyLimits, MetadataIsBoundedAsAWhole) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  const auto entry = [](const std::string& name, std::size_t size) {
    return Metadata{{{.space = "", .name = name}, {.type = "", .content = std::string(size, 'x')}}};
  };
  EXPECT_THAT(studies_->SetMetadata(study.id, {.study = entry("a", 500'000)}, As("w")), IsOk());
  EXPECT_THAT(studies_->SetMetadata(study.id, {.study = entry("b", 500'000)}, As("w")), IsOk());
  EXPECT_THAT(studies_->SetMetadata(study.id, {.study = entry("c", 500'000)}, As("w")),
              Refuses("metadata: of the study must have at most 1048576 bytes, got 1500051"));
  EXPECT_THAT(studies_->SetMetadata(study.id, {.study = entry("a", 400'000)}, As("w")), IsOk());
  const auto add = [&](const Metadata& of_trial) {
    return studies_->SetMetadata(
        study.id, {.study = {}, .trials = {{trial.number, of_trial}}}, As("w"));
  };
  Metadata large = entry("a", 400'000);
  large.merge(entry("b", 400'000));
  EXPECT_THAT(add(large), IsOk());
  EXPECT_THAT(add(entry("c", 400'000)),
              Refuses("metadata: of trial 1 must have at most 1048576 bytes, got 1200051"));
  large.merge(entry("c", 400'000));
  EXPECT_THAT(add(large),
              Refuses("metadata: must have at most 1048576 bytes in one call, got 1200051"));
  EXPECT_THAT(studies_->AddTrial(study.id, {.point = {{"x", 0.5}}, .metadata = large}, As("w")),
              Refuses("metadata: must have at most 1048576 bytes in one call, got 1200051"));
  EXPECT_EQ(Get(study.id).metadata.size(), 2);
}

// As a store may have one that was written before there were bounds.
TEST_F(StudyLimits, WhatIsStoredBeyondThemIsUsedAsBefore) {
  StudySpec spec = ClientSpec();
  for (int i = 0; i < 50; ++i) spec.objectives.push_back({.metric = fmt::format("o{}", i)});
  const auto stored = storage_.CreateStudy(Event{.seq = EventSeq(1),
                                                 .time = clock_.Now(),
                                                 .actor = std::string(1000, 'a'),
                                                 .request_id = std::string(1000, 'r'),
                                                 .payload = StudyCreated{.spec = spec}});
  ASSERT_THAT(stored, IsOk());
  EXPECT_THAT(studies_->CreateStudy(spec, As("w")), Refuses("objective: must be at most 32"));
  const Trial trial = SuggestOne(stored->id);
  ASSERT_THAT(Report(stored->id, trial, 1, 0.5), IsOk());
  Restart();
  Measurement last = Measured(2, 0.75);
  for (const Objective& objective : spec.objectives) last.metrics[objective.metric] = 1;
  EXPECT_THAT(studies_->Complete({stored->id, trial.number}, last, TokenOf(trial), As("w1")),
              IsOk());
  EXPECT_EQ(Get(stored->id).completed, 1);
  const auto replay = studies_->Replay(stored->id);
  ASSERT_THAT(replay, IsOk());
  EXPECT_FALSE(replay->diverged());
}

}  // namespace
}  // namespace vernier::study
