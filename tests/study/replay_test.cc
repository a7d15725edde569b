#include "src/study/replay.h"

#include <cmath>

#include "tests/study/replay_driver.h"
#include "tests/study/study_fixture.h"
#include "vernier/algorithm_catalogue.h"

namespace vernier::study {
namespace {

using testing::AskedFor;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using Result = ReplayReport::Line::Result;

// A space that every algorithm takes.
StudySpec MixedSpec(const std::string& algorithm) {
  StudySpec spec = ClientSpec(algorithm);
  Parameter x = Float("x", 0, 1);
  std::get<FloatDomain>(x.domain).points = 9;
  spec.space = SpaceOf({x, Choices("kind", {ParameterValue("a"), ParameterValue("b")})});
  spec.algorithm.name = algorithm;
  spec.stopping = {.name = "median", .options = {}};
  return spec;
}

ReplayReport ReplayLog(const std::vector<Event>& log,
                       AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn()) {
  Replayer replayer(StudyId(1), std::move(algorithms));
  for (const Event& event : log) EXPECT_THAT(replayer.Add(event), IsOk());
  return std::move(replayer).Finish().value();
}

std::string Describe(const ReplayReport& report) {
  std::string text;
  for (const auto& line : report.problems) {
    text += std::to_string(line.event.value()) + ": " + line.detail + "\n";
  }
  return text;
}

class ReplayTest : public StudyFixture {
 protected:
  std::vector<Event> Drive(const StudySpec& spec, int trials) {
    const Study study = Create(spec);
    EXPECT_THAT(DriveOutOfOrder(*studies_, clock_, study.id, trials, 99), IsOk());
    return Log(study.id);
  }
  // The log of 12 random trials under the median rule, with at least one stopped.
  std::vector<Event> SampleLog() { return Drive(MixedSpec("random"), 24); }

  template <typename Payload>
  static std::size_t IndexOfLast(const std::vector<Event>& log) {
    for (std::size_t i = log.size(); i-- > 0;) {
      if (std::holds_alternative<Payload>(log[i].payload)) return i;
    }
    ADD_FAILURE() << "the log holds no such event";
    return 0;
  }
};

TEST_F(ReplayTest, EveryAlgorithmVerifiesWhateverTheParallelism) {
  for (const std::string& name : AlgorithmCatalogue::BuiltIn().AlgorithmNames()) {
    SCOPED_TRACE(name);
    const std::vector<Event> log = Drive(MixedSpec(name), name == "gp" ? 12 : 18);
    const ReplayReport report = ReplayLog(log);
    EXPECT_THAT(report.problems, IsEmpty()) << Describe(report);
    EXPECT_GE(report.suggestions, 12);
    EXPECT_EQ(report.verified, report.suggestions + report.stops);
  }
}

TEST_F(ReplayTest, ObjectivesNearTheLargestNumberVerify) {
  StudySpec spec = ClientSpec();
  spec.algorithm.name = "gp";
  const Study study = Create(spec);
  for (int i = 0; i < 40; i += 4) {
    const auto trials = studies_->Suggest(study.id, 4, "w", {}, {});
    ASSERT_THAT(trials, IsOk());
    for (std::size_t k = 0; k < trials->size(); ++k) {
      const double x = std::get<double>((*trials)[k].point.at("x"));
      Measurement last;
      last.metrics["accuracy"] = (k % 2 == 0 ? 1.7e308 : -1.7e308) * (k == 3 ? x : 1.0);
      const LeaseToken token{.holder = "w", .token = (*trials)[k].lease->token};
      ASSERT_THAT(studies_->Complete({study.id, (*trials)[k].number}, last, token, {}), IsOk());
    }
  }
  const ReplayReport report = ReplayLog(Log(study.id));
  EXPECT_THAT(report.problems, IsEmpty()) << Describe(report);
  EXPECT_GE(report.suggestions, 40);
}

TEST_F(ReplayTest, StopVerdictsAreRecomputed) {
  const ReplayReport report = ReplayLog(SampleLog());
  EXPECT_GT(report.stops, 0);
  EXPECT_EQ(report.verified, report.suggestions + report.stops);
}

TEST_F(ReplayTest, StudiesReplayTheirOwnLog) {
  const Study study = Create(MixedSpec("random"));
  ASSERT_THAT(DriveOutOfOrder(*studies_, clock_, study.id, 8, 1), IsOk());
  const auto report = studies_->Replay(study.id);
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->diverged());
  EXPECT_GE(report->suggestions, 8);
  EXPECT_EQ(GetReason(studies_->Replay(StudyId(77)).status()), Reason::kStudyNotFound);
}

// --- the invariants of «What makes replay sound» ---

// The script answers with what it was given, so that anything else it depended on would show.
Suggestions Echo(const AskedFor& asked, Rng stream, std::stop_token) {
  Suggestions suggestions;
  double seen = 0;
  for (const Observation& finished : asked.finished) seen += 0.001 * finished.trial.value();
  for (const PendingPoint& pending : asked.pending) seen += 0.0001 * pending.trial.value();
  for (std::size_t i = 0; i < asked.count; ++i) {
    const double x = 0.5 * stream.Uniform() + 0.25 * (seen - std::floor(seen));
    suggestions.points.push_back({.point = {{"x", x}}, .origin = "scripted"});
  }
  suggestions.state = asked.state + "i";
  return suggestions;
}

TEST_F(ReplayTest, Invariant1SuggestionsDependOnlyOnWhatWasRecordedUpToAsOf) {
  UseScript(Echo);
  const std::vector<Event> log = Drive(ClientSpec(), 30);
  const ReplayReport report = ReplayLog(log, algorithms_);
  EXPECT_THAT(report.problems, IsEmpty()) << Describe(report);
  EXPECT_GE(report.verified, 30);
}

// As Echo, but of the objectives and slacks that were seen.
absl::StatusOr<Suggestions> EchoOutcomes(const AskedFor& asked, Rng stream, std::stop_token) {
  double seen = 0;
  for (const Observation& finished : asked.finished) {
    for (const double value : finished.values) seen += 0.01 * value;
    for (const double slack : finished.slacks) seen += 0.001 * slack;
  }
  const double x = 0.5 * stream.Uniform() + 0.25 * (seen - std::floor(seen));
  return Suggestions{.points = {{.point = {{"x", x}}, .origin = "scripted"}}, .state = ""};
}

TEST_F(ReplayTest, SuggestionsOfSeveralObjectivesUnderConstraintsVerify) {
  UseScript(EchoOutcomes);
  StudySpec spec = ClientSpec();
  spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  spec.outcome_constraints = {"latency_ms <= 20", "accuracy > 0.5 or memory_mb < 100"};
  const Study study = Create(spec);
  for (int i = 0; i < 8; ++i) {
    const Trial trial = SuggestOne(study.id);
    const double x = std::get<double>(trial.point.at("x"));
    const std::map<std::string, double> metrics = {
        {"accuracy", x}, {"latency_ms", 40 * x}, {"memory_mb", 150 * x}};
    ASSERT_THAT(studies_->Complete(
                    {study.id, trial.number}, {.metrics = metrics}, TokenOf(trial), As("w1")),
                IsOk());
  }
  std::vector<Event> log = Log(study.id);
  const ReplayReport report = ReplayLog(log, algorithms_);
  EXPECT_THAT(report.problems, IsEmpty()) << Describe(report);
  EXPECT_EQ(report.verified, 8);
  // Only the second constraint names it: were slacks not part of what suggestions are made from, nobody could tell.
  for (Event& event : log) {
    auto* change = std::get_if<TrialStateChanged>(&event.payload);
    if (change != nullptr && change->to == TrialState::kCompleted) {
      change->final_metrics["memory_mb"] = -1000;
    }
  }
  EXPECT_TRUE(ReplayLog(log, algorithms_).diverged());
}

TEST_F(ReplayTest, Invariant2NumberAndStreamAreReservedFirstAndComputingAgainKeepsThem) {
  std::vector<double> drawn;
  UseScript([&drawn](const AskedFor&, Rng stream, std::stop_token) -> absl::StatusOr<Suggestions> {
    drawn.push_back(stream.Uniform());
    if (drawn.size() == 1) return absl::InternalError("no answer this time");
    return Suggestions{.points = {{.point = {{"x", drawn.back()}}, .origin = "s"}}, .state = ""};
  });
  const Study study = Create(ClientSpec());
  EXPECT_FALSE(studies_->Ask(study.id, 1, As("t"), {}).ok());
  const auto asked = studies_->Ask(study.id, 1, As("t"), {});
  ASSERT_THAT(asked, IsOk());
  ASSERT_EQ(drawn.size(), 2);
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_EQ(drawn[0], Rng(study.spec.seed).Fork(1).Uniform());
  EXPECT_EQ(asked->front().number, TrialNumber(1));
}

TEST_F(ReplayTest, Invariant3WhatTimeDecidesIsAnEventAndFoldingReadsNoClock) {
  const Study study = Create(ClientSpec());
  SuggestOne(study.id);
  clock_.Advance(absl::Seconds(61));
  const absl::Time observed = clock_.Now();
  ASSERT_THAT(studies_->Tick(), IsOk());
  clock_.Advance(absl::Hours(1000));  // No fold of the log may notice.
  Restart();
  const std::vector<Event> log = Log(study.id);
  const Event& expired = log[log.size() - 2];
  EXPECT_TRUE(std::holds_alternative<LeaseExpired>(expired.payload));
  EXPECT_EQ(expired.time, observed);
  EXPECT_EQ(Get(study.id).updated, observed);
  EXPECT_EQ(Get(study.id, TrialNumber(1)).state, TrialState::kRequested);
}

TEST_F(ReplayTest, Invariant4FoldingUsesRecordedPointsAndNeverFeedsComputedOnesForward) {
  UseScript(Echo);
  std::vector<Event> log = Drive(ClientSpec(), 10);
  // Only trial 3 is changed: were the computed point fed forward, nothing else could differ, and were it left out of the
  // fold, the ones after it could not agree.
  for (Event& event : log) {
    auto* created = std::get_if<TrialCreated>(&event.payload);
    if (created != nullptr && created->trial == TrialNumber(3)) created->point = {{"x", 0.875}};
  }
  const ReplayReport report = ReplayLog(log, algorithms_);
  ASSERT_EQ(report.problems.size(), 1) << Describe(report);
  EXPECT_EQ(report.problems.front().trial, TrialNumber(3));
  EXPECT_EQ(report.problems.front().result, Result::kDiverged);
  StudyFold fold = StudyFold::Start(StudyId(1), log.front()).value();
  for (std::size_t i = 1; i < log.size(); ++i) ASSERT_THAT(fold.Apply(log[i]), IsOk());
  EXPECT_EQ(fold.Find(TrialNumber(3))->trial.point, (Point{{"x", 0.875}}));
}

TEST_F(ReplayTest, Invariant5IncrementalAndFromScratchGiveTheSameBits) {
  for (const std::string& name : AlgorithmCatalogue::BuiltIn().AlgorithmNames()) {
    SCOPED_TRACE(name);
    // The live optimiser is kept over the whole study; one made anew before each call must agree with it.
    const Study kept = Create(MixedSpec(name));
    StudySpec spec = MixedSpec(name);
    spec.name += "-anew";
    const Study anew = Create(spec);
    for (int i = 0; i < 10; ++i) {
      const Trial a = SuggestOne(kept.id);
      Restart();
      const Trial b = SuggestOne(anew.id);
      EXPECT_EQ(a.point, b.point) << "trial " << i + 1;
      ASSERT_THAT(Complete(kept.id, a, Accuracy(a.point)), IsOk());
      ASSERT_THAT(Complete(anew.id, b, Accuracy(b.point)), IsOk());
    }
  }
}

// --- what replay must find ---

TEST_F(ReplayTest, AChangedPointIsDiverged) {
  std::vector<Event> log = SampleLog();
  auto& created = std::get<TrialCreated>(log[IndexOfLast<TrialCreated>(log)].payload);
  auto& x = std::get<double>(created.point.at("x"));
  x = std::nextafter(x, 2);
  const ReplayReport report = ReplayLog(log);
  ASSERT_EQ(report.problems.size(), 1);
  EXPECT_TRUE(report.diverged());
  EXPECT_EQ(report.problems.front().trial, created.trial);
  EXPECT_THAT(report.problems.front().detail, HasSubstr("computed"));
}

TEST_F(ReplayTest, ChangedRecordsOfTheInputsAreDiverged) {
  const std::vector<Event> sound = SampleLog();
  const std::size_t at = IndexOfLast<TrialCreated>(sound);
  const auto changed = [&](const std::function<void(SuggestionRecord&)>& change) {
    std::vector<Event> log = sound;
    for (Event& event : log) {  // The whole batch says the same.
      auto* created = std::get_if<TrialCreated>(&event.payload);
      const auto& last = std::get<TrialCreated>(sound[at].payload);
      if (created != nullptr && created->suggestion.stream == last.suggestion.stream) {
        change(created->suggestion);
      }
    }
    return ReplayLog(log).diverged();
  };
  EXPECT_FALSE(changed([](SuggestionRecord&) {}));
  EXPECT_TRUE(changed([](SuggestionRecord& why) { ++why.stream; }));
  EXPECT_TRUE(changed([](SuggestionRecord& why) { why.pending.push_back(TrialNumber(99)); }));
  EXPECT_TRUE(changed([](SuggestionRecord& why) { why.state_from = EventSeq(1); }));
  EXPECT_TRUE(changed([](SuggestionRecord& why) { why.as_of = EventSeq(100'000); }));
  EXPECT_TRUE(changed([](SuggestionRecord& why) { why.acquisition = 0.25; }));
}

TEST_F(ReplayTest, AnotherVersionOrFingerprintIsUnverifiable) {
  const std::vector<Event> sound = SampleLog();
  const auto report_of = [&](const std::function<void(SuggestionRecord&)>& change) {
    std::vector<Event> log = sound;
    change(std::get<TrialCreated>(log[1].payload).suggestion);
    return ReplayLog(log);
  };
  ReplayReport report = report_of([](SuggestionRecord& why) { why.version = "0"; });
  ASSERT_FALSE(report.problems.empty());
  EXPECT_EQ(report.problems.front().result, Result::kUnverifiable);
  EXPECT_FALSE(report.diverged());
  report = report_of([](SuggestionRecord& why) { why.fingerprint = "pdp-11"; });
  ASSERT_FALSE(report.problems.empty());
  EXPECT_EQ(report.problems.front().result, Result::kUnverifiable);
  EXPECT_THAT(report.problems.front().detail, HasSubstr("pdp-11"));
  EXPECT_FALSE(report.diverged());
}

TEST_F(ReplayTest, AVerdictThatWasNotCarriedOutIsDiverged) {
  std::vector<Event> log = SampleLog();
  const std::size_t at = IndexOfLast<StopDecided>(log);
  const auto decided = std::get<StopDecided>(log[at].payload);
  // What came after it is of no interest here.
  log.resize(at);
  const ReplayReport report = ReplayLog(log);
  ASSERT_EQ(report.problems.size(), 1);
  EXPECT_TRUE(report.diverged());
  EXPECT_EQ(report.problems.front().trial, decided.trial);
  EXPECT_EQ(report.problems.front().event, decided.stop.as_of);
}

TEST_F(ReplayTest, AVerdictThatTheRuleWouldNotGiveIsDiverged) {
  std::vector<Event> log = SampleLog();
  auto& decided = std::get<StopDecided>(log[IndexOfLast<StopDecided>(log)].payload);
  decided.stop.numbers.begin()->second += 1;
  EXPECT_TRUE(ReplayLog(log).diverged());
  decided.stop.version = "0";
  const ReplayReport report = ReplayLog(log);
  ASSERT_FALSE(report.problems.empty());
  EXPECT_EQ(report.problems.back().result, Result::kUnverifiable);
}

}  // namespace
}  // namespace vernier::study
