#include <cmath>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/wire/cluster_proto.h"
#include "src/wire/event_proto.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "src/wire/trial_proto.h"
#include "src/wire/value_proto.h"
#include "tests/support/status_matchers.h"

namespace vernier::wire {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

const absl::Time kTime = absl::FromUnixSeconds(1'795'000'000) + absl::Nanoseconds(123'456'789);

Space EverySpace() {
  std::vector<Parameter> parameters = {
      {.name = "lr",
       .domain = FloatDomain{.lower = 1e-5, .upper = 0.1, .scale = Scale::kLog, .points = 4},
       .default_value = 1e-3},
      {.name = "dropout", .domain = FloatDomain{.lower = 0, .upper = 0.5, .step = 0.1}},
      {.name = "beta",
       .domain = FloatDomain{.lower = 0.9, .upper = 0.999, .scale = Scale::kReverseLog}},
      {.name = "width", .domain = IntDomain{.lower = 16, .upper = 256, .step = 16}},
      {.name = "batch", .domain = DiscreteDomain{.values = {16, 32, 64}}},
      {.name = "optimizer",
       .domain = CategoricalDomain{.values = {std::string("sgd"), std::string("adam")}}},
      {.name = "momentum",
       .domain = FloatDomain{.lower = 0.5, .upper = 0.99},
       .when = {{.parent = "optimizer", .values = {std::string("sgd")}}}},
      {.name = "augment", .domain = BoolDomain{}, .default_value = true}};
  return *Space::Create(parameters, {"width * batch <= 8192"});
}

StudySpec EverySpec() {
  StudySpec spec;
  spec.name = "digits";
  spec.objectives = {{.metric = "accuracy"}, {.metric = "loss", .goal = Goal::kMinimize}};
  spec.space = EverySpace();
  spec.outcome_constraints = {"latency_ms <= 20"};
  spec.algorithm = {.name = "gp", .options = {{"restarts", std::int64_t{4}}, {"noise", 0.1}}};
  spec.warm_start = {"digits-v1", "digits-v2"};
  spec.stopping = {.name = "median", .options = {{"strict", true}, {"from", std::string("x")}}};
  spec.parallel = 3;
  spec.budget = {.trials = 20, .failed_trials = 5, .time = absl::Hours(2), .gpu_hours = 2.5};
  spec.convergence = {.tolerance = 1e-3, .stop = true};
  spec.seed = std::numeric_limits<std::uint64_t>::max();
  spec.objectives.front().final = FinalValue::kMeanOfLast;
  spec.objectives.front().final_count = 5;
  spec.metrics = {{"name", {}},
                  {"after", {.kind = MetricSourceKind::kAfter, .text = "acc="}},
                  {"json", {.kind = MetricSourceKind::kJson, .text = "val.acc"}},
                  {"hypertune", {.kind = MetricSourceKind::kHypertune, .text = "acc"}},
                  {"tfevents",
                   {.kind = MetricSourceKind::kTfevents,
                    .text = "epoch_acc",
                    .folder = "logs",
                    .from = Role::kEvaluator}},
                  {"accuracy", {.kind = MetricSourceKind::kRegex, .text = "acc=([0-9.]+)"}}};
  spec.lease = {.ttl = absl::Milliseconds(1500), .on_expiry = LeaseExpiry::kFail};
  TrainingJob job;
  job.command = {"python3", "train.py"};
  job.args = {"--epochs", "5"};
  job.argument_style = ArgumentStyle::kAssignment;
  job.arguments = {{"lr", {ArgumentStyle::kVariable, "RATE"}},
                   {"augment", {ArgumentStyle::kAbsentFlag, ""}}};
  job.env = {{"OMP_NUM_THREADS", "1"}};
  job.secrets = {{"KEY", {.from_file = "/run/key"}}, {"OTHER", {.name = "other"}}};
  job.working_directory = "/src";
  job.primary_name = "master";
  job.replicas[Role::kWorker] = {.count = 2,
                                 .command = {"sh"},
                                 .args = {"-c", "true"},
                                 .env = {{"A", "b"}},
                                 .secrets = {{"B", {.name = "b"}}},
                                 .directory = "/tmp",
                                 .image = "org/worker:1",
                                 .resources = {.cpus = 0.5,
                                               .memory_bytes = 1 << 30,
                                               .gpus = 1,
                                               .gpu_type = "T4",
                                               .gpu_memory_bytes = 1 << 20}};
  job.image = "org/trainer:1";
  job.job_directory = "runs/digits";
  job.time_limit = absl::Minutes(30);
  job.trial_limit = absl::Hours(2);
  job.wait_limit = absl::Hours(24);
  job.progress_limit = absl::Minutes(10);
  job.restarts = {.reading = FailureReading::kLenient, .replica = 0, .job = 1, .internal = 0};
  job.grace = absl::Seconds(3);
  job.output_bytes = 5'000'000;
  job.pausable = true;
  job.priority = 1000;
  job.nan_limit = 3;
  job.argument_style = ArgumentStyle::kSeparate;
  job.arguments = {{"lr", {.style = ArgumentStyle::kVariable, .name = "LEARNING_RATE"}},
                   {"augment", {.style = ArgumentStyle::kFlag}}};
  spec.job = job;
  return spec;
}

Trial EveryTrial() {
  Trial trial;
  trial.number = TrialNumber(7);
  trial.state = TrialState::kFailed;
  trial.point = {{"lr", 0.1 + 0.2},
                 {"width", std::int64_t{64}},
                 {"augment", false},
                 {"o", std::string("sgd")}};
  trial.suggestion = {.algorithm = "gp",
                      .version = "3",
                      .options = "{}",
                      .fingerprint = "x86-64",
                      .as_of = EventSeq(12),
                      .state_from = EventSeq(10),
                      .stream = 9,
                      .batch_size = 2,
                      .batch_index = 1,
                      .pending = {TrialNumber(5), TrialNumber(6)},
                      .origin = "model",
                      .acquisition = -0.0,
                      .predicted_mean = 0.9,
                      .predicted_deviation = 1e-300,
                      .predicted_others = {{"latency_ms <= 20", {.mean = -1, .deviation = 2}}},
                      .expected_improvement = 2e-5,
                      .importance = {{"lr", 1.0}},
                      .note = "why"};
  trial.created = kTime;
  trial.started = kTime + absl::Seconds(1);
  trial.ended = kTime + absl::Seconds(2);
  trial.last = Measurement{.step = 3,
                           .elapsed = absl::Milliseconds(1500),
                           .time = kTime,
                           .metrics = {{"accuracy", std::numeric_limits<double>::infinity()}},
                           .source = "hypertune"};
  trial.final_metrics = {{"accuracy", 0.5}};
  trial.measurements = 4;
  trial.failure = FailureClass::kUserError;
  trial.message = "exit code 1";
  trial.stop = StopRecord{.rule = "median",
                          .version = "1",
                          .options = "{}",
                          .as_of = EventSeq(20),
                          .numbers = {{"median", 0.7}},
                          .explanation = "0.5 is below 0.7"};
  trial.lease = Lease{.holder = "w1", .token = 3, .expires = kTime + absl::Minutes(1)};
  Attempt attempt;
  attempt.number = AttemptNumber(1);
  attempt.state = AttemptState::kFailed;
  attempt.placement = {
      {.role = "chief", .index = 0, .host = "127.0.0.1", .port = 2222, .gpus = {"0", "1"}},
      {.role = "worker", .index = 0, .host = "127.0.0.1", .port = 2223}};
  attempt.directory = "/runs/1";
  attempt.defined_by = EventSeq(9);
  attempt.placed = kTime;
  attempt.started = kTime;
  attempt.failure = FailureClass::kUserError;
  attempt.transient = true;
  attempt.message = "exit code 1";
  attempt.replicas = {{.role = "chief", .index = 0, .exit_code = 1},
                      {.role = "worker",
                       .index = 0,
                       .signal = 15,
                       .restarts = 5,
                       .cpu_time = absl::Seconds(90),
                       .peak_memory_bytes = 1 << 20}};
  trial.attempts = {attempt};
  return trial;
}

TEST(RoundTrip, KeepsEveryPartOfADefinition) {
  v1::StudySpec proto;
  EncodeSpec(EverySpec(), &proto);
  ASSERT_OK_AND_ASSIGN(const StudySpec decoded, DecodeSpec("digits", proto));
  EXPECT_EQ(decoded, EverySpec());
}

TEST(RoundTrip, KeepsEveryPartOfAStudy) {
  Study study;
  study.id = StudyId(3);
  study.spec = EverySpec();
  study.state = StudyState::kStopping;
  study.reason = "asked to";
  study.created = kTime;
  study.updated = kTime + absl::Seconds(5);
  study.last_event = EventSeq(99);
  study.spec_version = 2;
  study.trials = 9;
  study.completed = 5;
  study.failed = 1;
  study.open = 3;
  study.best = TrialNumber(4);
  study.optimal = {TrialNumber(2), TrialNumber(4)};
  v1::Study proto;
  EncodeStudy(study, &proto);
  EXPECT_EQ(proto.name(), "studies/digits");
  EXPECT_EQ(proto.optimal_trials(0), "studies/digits/trials/2");
  ASSERT_OK_AND_ASSIGN(const Study decoded, DecodeStudy(proto));
  EXPECT_EQ(decoded, study);
}

TEST(RoundTrip, KeepsEveryPartOfATrialBitForBit) {
  v1::Trial proto;
  EncodeTrial("digits", EveryTrial(), &proto);
  EXPECT_EQ(proto.name(), "studies/digits/trials/7");
  v1::Trial sent;
  ASSERT_TRUE(sent.ParseFromString(proto.SerializeAsString()));
  ASSERT_OK_AND_ASSIGN(const Trial decoded, DecodeTrial(sent));
  EXPECT_EQ(decoded, EveryTrial());
  EXPECT_TRUE(std::signbit(*decoded.suggestion.acquisition));
}

TEST(RoundTrip, KeepsTrialsThatHoldNothingYet) {
  v1::Trial proto;
  const Trial empty{.number = TrialNumber(1)};
  EncodeTrial("digits", empty, &proto);
  ASSERT_OK_AND_ASSIGN(const Trial decoded, DecodeTrial(proto));
  EXPECT_EQ(decoded, empty);
}

TEST(RoundTrip, RefusesAnOptimalTrialWithoutANumber) {
  Study study;
  study.spec = EverySpec();
  v1::Study proto;
  EncodeStudy(study, &proto);
  proto.add_optimal_trials("studies/digits/trials/best");
  EXPECT_THAT(DecodeStudy(proto),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("optimal_trials")));
}

TEST(EncodeSlacks, SaysOfEachConstraintHowFarACompletedTrialKeepsIt) {
  const std::vector<OutcomeConstraint> constraints = {
      OutcomeConstraint::Parse("latency_ms <= 20", {}).value(),
      OutcomeConstraint::Parse("memory_mb < 100", {}).value()};
  Trial trial{.number = TrialNumber(1), .state = TrialState::kCompleted};
  trial.final_metrics = {{"latency_ms", 23.5}};
  v1::Trial proto;
  EncodeSlacks(constraints, trial, &proto);
  ASSERT_EQ(proto.outcome_slacks_size(), 2);
  EXPECT_EQ(proto.outcome_slacks(0).constraint(), "latency_ms <= 20");
  EXPECT_EQ(proto.outcome_slacks(0).slack(), -3.5);
  EXPECT_TRUE(std::isnan(proto.outcome_slacks(1).slack()));
}

TEST(EncodeSlacks, SaysNothingOfATrialThatDidNotComplete) {
  const std::vector<OutcomeConstraint> constraints = {
      OutcomeConstraint::Parse("latency_ms <= 20", {}).value()};
  v1::Trial proto;
  EncodeSlacks(constraints, Trial{.state = TrialState::kFailed}, &proto);
  EXPECT_EQ(proto.outcome_slacks_size(), 0);
}

TEST(RoundTrip, KeepsEvents) {
  const Event event{
      .seq = EventSeq(5),
      .time = kTime,
      .actor = "w1",
      .request_id = "r",
      .payload = MeasurementReported{.trial = TrialNumber(7), .measurement = *EveryTrial().last}};
  v1::StudyEvent proto;
  EncodeEvent(event, &proto);
  EXPECT_EQ(proto.kind(), "measurement_reported");
  EXPECT_EQ(proto.trial(), 7);
  ASSERT_OK_AND_ASSIGN(const Event decoded, DecodeEvent(proto));
  EXPECT_EQ(decoded, event);
}

TEST(RoundTrip, ShowsBytesThatAreNoTextAsReplacements) {
  EXPECT_EQ(ValidUtf8("plain"), "plain");
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(ValidUtf8("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(ValidUtf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // Cut short.
  EXPECT_EQ(ValidUtf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // Overlong.
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80").size(), 9U);               // A surrogate.
  Trial trial{.number = TrialNumber(1)};
  trial.message = "last line: \xfe";
  v1::Trial proto;
  EncodeTrial("digits", trial, &proto);
  v1::Trial sent;
  EXPECT_TRUE(sent.ParseFromString(proto.SerializeAsString()));
}

TEST(FitValue, TakesNumbersAsTheDomainHoldsThem) {
  EXPECT_EQ(FitValue(FloatDomain{}, std::int64_t{1}), ParameterValue(1.0));
  EXPECT_EQ(FitValue(IntDomain{}, 3.0), ParameterValue(std::int64_t{3}));
  EXPECT_EQ(FitValue(IntDomain{}, 3.5), ParameterValue(3.5));
  EXPECT_EQ(FitValue(IntDomain{}, 1e300), ParameterValue(1e300));
  EXPECT_EQ(FitValue(BoolDomain{}, std::int64_t{1}), ParameterValue(std::int64_t{1}));
}

// What a program printed may be cut in the middle of a character; the list would not be readable.
TEST(QueuedGangProto, RepairsTheReason) {
  v1::QueuedTrial queued;
  EncodeQueuedGang({.reason = "installing: caf\xc3"}, 1, &queued);
  EXPECT_EQ(queued.reason(), "installing: caf\xEF\xBF\xBD");
}

}  // namespace
}  // namespace vernier::wire
