#include "src/launch/gang/gang_rules.h"

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::launch {
namespace {

using Phase = ReplicaObservation::Phase;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);
absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

ReplicaObservation Running(double since = 0) {
  return {.phase = Phase::kRunning, .started = At(since)};
}
ReplicaObservation Exited(int code, double at) {
  return {.phase = Phase::kEnded, .exit = {.exit_code = code}, .started = kStart, .ended = At(at)};
}
ReplicaObservation Signalled(int signal, double at) {
  return {.phase = Phase::kEnded, .exit = {.signal = signal}, .started = kStart, .ended = At(at)};
}
ReplicaObservation In(Phase phase) { return {.phase = phase}; }

// A chief, a worker, a parameter server and an evaluator; time limit 100 s, patience 10 s, spread 60 s, no settling.
GangTraits AnyGang() {
  return {.replicas = {{"chief", 0}, {"worker", 0}, {"ps", 0}, {"evaluator", 0}},
          .time_limit = absl::Seconds(100),
          .patience = absl::Seconds(10),
          .spread = absl::Seconds(60)};
}

// One that was ended by the signal at these times and started again at once.
ReplicaObservation Restarted(int signal,
                             const std::vector<double>& at,
                             ReplicaObservation now = Running()) {
  absl::Time started = kStart;
  for (const double seconds : at) {
    now.earlier.push_back({.exit = {.signal = signal}, .started = started, .ended = At(seconds)});
    started = At(seconds);
  }
  now.started = started;
  return now;
}

struct RuleCase {
  std::string name;
  std::vector<ReplicaObservation> replicas;
  double now;
  std::string gang_end;  // "STATE CLASS", and the first words of the message; empty: goes on.
};
class GangRulesTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(GangRulesTest, Decide) {
  const auto gang_end = Decide(AnyGang(), GetParam().replicas, At(GetParam().now));
  std::string text;
  if (gang_end.has_value()) {
    text = std::string(AttemptStateName(gang_end->state)) + " " +
           std::string(FailureClassName(gang_end->failure)) + " " + gang_end->message.substr(0, 21);
    EXPECT_EQ(gang_end->time, At(GetParam().now));
  }
  EXPECT_EQ(text, GetParam().gang_end);
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    GangRulesTest,
    ::testing::Values(
        RuleCase{"NothingStarted",
                 {In(Phase::kNotStarted),
                  In(Phase::kNotStarted),
                  In(Phase::kNotStarted),
                  In(Phase::kNotStarted)},
                 1000,
                 ""},
        RuleCase{"AllRun", {Running(), Running(), Running(), Running()}, 99, ""},
        RuleCase{"PrimarySucceeds",
                 {Exited(0, 5), Running(), Running(), Running()},
                 5,
                 "SUCCEEDED NONE "},
        RuleCase{"PrimarySucceedsAfterAWorkerFailed",
                 {Exited(0, 5), Exited(1, 4), Running(), Running()},
                 5,
                 "SUCCEEDED NONE "},
        RuleCase{"PrimarySucceedsBesideALostWorker",
                 {Exited(0, 5), In(Phase::kGone), Running(), Running()},
                 5,
                 "SUCCEEDED NONE "},
        RuleCase{"PrimaryFails",
                 {Exited(1, 5), Running(), Running(), Running()},
                 5,
                 "FAILED USER_ERROR The replica chief 0 e"},
        RuleCase{"PrimaryFailsAfterAWorkerWasKilled",
                 {Exited(1, 5), Signalled(SIGKILL, 4.9), Running(), Running()},
                 5,
                 "FAILED PREEMPTED The replica worker 0 "},
        RuleCase{"PrimaryFailsBeforeAWorkerDoes",
                 {Exited(1, 5), Exited(1, 5.1), Running(), Running()},
                 6,
                 "FAILED USER_ERROR The replica chief 0 e"},
        RuleCase{"PrimaryIsLost",
                 {In(Phase::kGone), Running(), Running(), Running()},
                 5,
                 "LOST NODE_LOST The replica chief 0 w"},
        RuleCase{"WorkerIsLost",
                 {Running(), In(Phase::kGone), Running(), Running()},
                 5,
                 "LOST NODE_LOST The replica worker 0 "},
        RuleCase{"WorkerSucceeds", {Running(), Exited(0, 5), Running(), Running()}, 90, ""},
        RuleCase{"WorkerJustFailed", {Running(), Exited(1, 5), Running(), Running()}, 14.9, ""},
        RuleCase{"WorkerFailedAWhileAgo",
                 {Running(), Exited(1, 5), Running(), Running()},
                 15,
                 "FAILED USER_ERROR The replica worker 0 "},
        RuleCase{"ParameterServerFailedAWhileAgo",
                 {Running(), Running(), Signalled(SIGSEGV, 5), Running()},
                 15,
                 "FAILED USER_ERROR The replica ps 0 exit"},
        RuleCase{"EvaluatorFailed", {Running(), Running(), Running(), Exited(1, 5)}, 90, ""},
        RuleCase{"EvaluatorIsLost", {Running(), Running(), Running(), In(Phase::kGone)}, 90, ""},
        RuleCase{"TimeIsUp",
                 {Running(3), Running(), Running(), Running()},
                 103,
                 "FAILED TIMEOUT ran for longer than i"},
        RuleCase{"TimeIsNotUp", {Running(3), Running(), Running(), Running()}, 102.9, ""}),
    [](const auto& test) { return test.param.name; });

// Whom to blame, and whether another attempt may do better.
struct BlameCase {
  std::string name;
  std::vector<ReplicaObservation> replicas;
  double now;
  bool lenient;
  std::string gang_end;  // "STATE CLASS again" or "… final", and the first words; empty: goes on.
};
class BlameTest : public ::testing::TestWithParam<BlameCase> {};

TEST_P(BlameTest, Decide) {
  GangTraits gang = AnyGang();
  gang.settling = absl::Seconds(1);
  gang.lenient = GetParam().lenient;
  const auto gang_end = Decide(gang, GetParam().replicas, At(GetParam().now));
  std::string text;
  if (gang_end.has_value()) {
    text = std::string(AttemptStateName(gang_end->state)) + " " +
           std::string(FailureClassName(gang_end->failure)) +
           (gang_end->transient ? " again " : " final ") + gang_end->message.substr(12, 8);
  }
  EXPECT_EQ(text, GetParam().gang_end);
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    BlameTest,
    ::testing::Values(
        BlameCase{"ARestartedWorkerAlone",
                  {Running(), Restarted(SIGKILL, {5}), Running(), Running()},
                  90,
                  false,
                  ""},
        // gloo: the chief ends within 0.2 s of a peer.
        BlameCase{"TheChiefFollowsAWorkerThatIsUpAgain",
                  {Exited(1, 5.2), Restarted(SIGKILL, {5}), Running(), Running()},
                  5.3,
                  false,
                  "FAILED PREEMPTED again worker 0"},
        // A parameter server: 19 s.
        BlameCase{"TheChiefFollowsLate",
                  {Exited(1, 24), Running(), Restarted(SIGTERM, {5}), Running()},
                  25,
                  false,
                  "FAILED PREEMPTED again ps 0 exi"},
        BlameCase{"TheChiefFailsLongAfterARestart",
                  {Exited(1, 66), Restarted(SIGKILL, {5}), Running(), Running()},
                  67,
                  false,
                  "FAILED USER_ERROR final chief 0 "},
        BlameCase{"APrimaryThatFailedIsHeardToTheEnd",
                  {Exited(1, 5), Running(), Running(), Running()},
                  5.9,
                  false,
                  ""},
        BlameCase{"AndThenFinal",
                  {Exited(1, 5), Running(), Running(), Running()},
                  6,
                  false,
                  "FAILED USER_ERROR final chief 0 "},
        BlameCase{"AtOnceIfNobodyElseIsLeft",
                  {Exited(1, 5), Exited(0, 1), Exited(1, 5.1), Exited(0, 1)},
                  5.1,
                  false,
                  "FAILED USER_ERROR final chief 0 "},
        // A collective: workers follow the chief, who is up again and waits for nobody.
        BlameCase{"WorkersFollowTheChief",
                  {Restarted(SIGKILL, {5}), Exited(1, 5.2), Running(), Running()},
                  5.3,
                  false,
                  "FAILED PREEMPTED again chief 0 "},
        BlameCase{"AWorkerThatFindsNobodyAfterItsRestart",
                  {Running(), Restarted(SIGKILL, {5}, Exited(1, 6)), Running(), Running()},
                  16,
                  false,
                  "FAILED PREEMPTED again worker 0"},
        BlameCase{"AWorkerThatFailsLongAfterItsRestart",
                  {Running(), Restarted(SIGKILL, {5}, Exited(1, 70)), Running(), Running()},
                  80,
                  false,
                  "FAILED USER_ERROR final worker 0"},
        BlameCase{"ACrashOfThePrimary",
                  {Signalled(SIGABRT, 5), Running(), Running(), Running()},
                  5,
                  false,
                  "FAILED USER_ERROR again chief 0 "},
        BlameCase{"ACrashInAContainer",
                  {Exited(139, 5), Running(), Running(), Running()},
                  5,
                  false,
                  "FAILED USER_ERROR again chief 0 "},
        BlameCase{
            "AnOwnStatusReadLeniently",
            {Restarted(SIGKILL, {1, 2, 3, 4, 5}, Exited(1, 90)), Running(), Running(), Running()},
            90,
            true,
            "FAILED USER_ERROR again chief 0 "},
        BlameCase{"TheSixthEndFromOutside",
                  {Restarted(SIGKILL, {1, 2, 3, 4, 5}, Signalled(SIGKILL, 6)),
                   Running(),
                   Running(),
                   Running()},
                  6,
                  false,
                  "FAILED PREEMPTED again chief 0 "},
        BlameCase{"ALostWorker",
                  {Running(), In(Phase::kGone), Running(), Running()},
                  5,
                  false,
                  "LOST NODE_LOST again worker 0"},
        BlameCase{"TimeCountsFromTheFirstStart",
                  {Restarted(SIGKILL, {60}), Running(), Running(), Running()},
                  100,
                  false,
                  "FAILED TIMEOUT final er than "},
        BlameCase{"AnEvaluatorMayFailAsItLikes",
                  {Running(), Running(), Running(), Restarted(SIGKILL, {1, 2}, Exited(1, 3))},
                  90,
                  false,
                  ""}),
    [](const auto& test) { return test.param.name; });

TEST(GangRules, SayHowOftenTheOneToBlameWasRestarted) {
  const std::vector<ReplicaObservation> replicas = {
      Restarted(SIGKILL, {1, 2}, Signalled(SIGKILL, 3)), Running(), Running(), Running()};
  EXPECT_EQ(Decide(AnyGang(), replicas, At(3))->message,
            "The replica chief 0 exited with a non-zero status of 9(SIGKILL). Termination reason: "
            "ended from outside. It was restarted 2 times.");
  EXPECT_EQ(Describe(AnyGang(), replicas, std::nullopt).replicas[0].restarts, 2);
}

TEST(GangRules, SumUpWhatTheRunsOfAReplicaUsed) {
  std::vector<ReplicaObservation> replicas = {
      Restarted(SIGKILL, {1, 2}, Signalled(SIGKILL, 3)), Running(), Running(), Running()};
  replicas[0].cpu_time = absl::Seconds(1);
  replicas[0].peak_memory_bytes = 10;
  replicas[0].earlier[0].cpu_time = absl::Seconds(2);
  replicas[0].earlier[1].peak_memory_bytes = 30;
  const GangStatus status = Describe(AnyGang(), replicas, std::nullopt);
  EXPECT_EQ(status.replicas[0].cpu_time, absl::Seconds(3));
  EXPECT_EQ(status.replicas[0].peak_memory_bytes, 30);
  EXPECT_EQ(status.replicas[1].cpu_time, absl::ZeroDuration());
}

struct StateCase {
  std::string name;
  std::vector<ReplicaObservation> replicas;
  bool decided;
  AttemptState state;
};
class GangStateTest : public ::testing::TestWithParam<StateCase> {};

TEST_P(GangStateTest, FollowsFromTheReplicas) {
  GangTraits gang = AnyGang();
  gang.replicas.resize(2);
  std::optional<GangEnd> gang_end;
  if (GetParam().decided) gang_end = GangEnd{.state = AttemptState::kFailed, .message = "why"};
  const GangStatus status = Describe(gang, GetParam().replicas, gang_end);
  EXPECT_EQ(AttemptStateName(status.state), AttemptStateName(GetParam().state));
  EXPECT_EQ(status.message, IsEnded(GetParam().state) ? "why" : "");
  EXPECT_EQ(status.replicas.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    GangStateTest,
    ::testing::Values(
        StateCase{
            "PrimaryNotUp", {In(Phase::kStarting), Running()}, false, AttemptState::kStarting},
        StateCase{"WorkerHasNoSupervisor",
                  {Running(), In(Phase::kNotStarted)},
                  false,
                  AttemptState::kStarting},
        StateCase{"WorkerNotUp", {Running(), In(Phase::kStarting)}, false, AttemptState::kRunning},
        StateCase{"ComesDown", {Exited(1, 1), Running()}, true, AttemptState::kRunning},
        StateCase{"IsDown", {Exited(1, 1), Exited(0, 1)}, true, AttemptState::kFailed},
        StateCase{
            "IsDownWithALostOne", {Exited(1, 1), In(Phase::kGone)}, true, AttemptState::kFailed}),
    [](const auto& test) { return test.param.name; });

ReplicaObservation Saying(std::string cause, ReplicaObservation replica, bool lost_peer = false) {
  replica.words = LastWords{.cause = std::move(cause), .last_line = "", .lost_peer = lost_peer};
  return replica;
}
ReplicaObservation LostPeer(double at) {
  return Saying("Connection reset by peer", Exited(1, at), true);
}

struct PeerCase {
  std::string name;
  std::vector<ReplicaObservation> replicas;
  double now;
  std::string message;  // Its first words; empty: goes on.
};
class LostPeerTest : public ::testing::TestWithParam<PeerCase> {};

TEST_P(LostPeerTest, Blame) {
  GangTraits gang = AnyGang();
  gang.settling = absl::Seconds(1);
  const auto gang_end = Decide(gang, GetParam().replicas, At(GetParam().now));
  const std::string message = gang_end.has_value() ? gang_end->message : "";
  EXPECT_EQ(message.substr(0, GetParam().message.size()), GetParam().message);
  EXPECT_EQ(message.empty(), GetParam().message.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    LostPeerTest,
    ::testing::Values(
        // The worker raises, and takes its time to end: the chief is gone before it.
        PeerCase{"WhoEndedLaterByItsOwnError",
                 {LostPeer(5), Saying("ValueError: bad", Exited(1, 5.8)), Running(), Running()},
                 6,
                 "ValueError: bad. The replica worker 0 "},
        PeerCase{"ThePrimaryThatEndedLaterByItsOwnError",
                 {Saying("ValueError: bad", Exited(1, 5.8)), LostPeer(5), Running(), Running()},
                 7,
                 "ValueError: bad. The replica chief 0 "},
        PeerCase{"AKilledOneThatEndedLater",
                 {LostPeer(5), Signalled(SIGKILL, 5.1), Running(), Running()},
                 6,
                 "The replica worker 0 "},
        PeerCase{"IsPutOffWhileAPeerMayStillEnd",
                 {LostPeer(5), Running(), Running(), Running()},
                 14.9,
                 ""},
        PeerCase{"WhoLostItIfNobodyElseFails",
                 {LostPeer(5), Running(), Running(), Running()},
                 15,
                 "Connection reset by peer. The replica chief 0 "},
        PeerCase{"TheFirstOfThoseThatLostOne",
                 {LostPeer(5), LostPeer(4.9), LostPeer(5.1), Exited(0, 4)},
                 5.2,
                 "Connection reset by peer. The replica worker 0 "},
        PeerCase{"NobodyWhoFailedMuchLater",
                 {LostPeer(5), Saying("ValueError: bad", Exited(1, 70)), Running(), Running()},
                 71,
                 "Connection reset by peer. The replica chief 0 "}),
    [](const auto& test) { return test.param.name; });

TEST(GangRules, BeginWithTheLastWordsOfTheOneToBlame) {
  const auto message = [](const LastWords& words) {
    ReplicaObservation worker = Exited(1, 5);
    worker.words = words;
    const ReplicaObservation chief = Saying("RuntimeError: worker is gone", Exited(1, 6));
    return Decide(AnyGang(), std::vector{chief, worker, Running(), Running()}, At(6))->message;
  };
  const std::string worker =
      "The replica worker 0 exited with a non-zero status of 1. Termination reason: Error.";
  const std::string chief =
      " The replica chief 0 exited with a non-zero status of 1. Termination reason: Error.";
  EXPECT_EQ(message({.cause = "ValueError: bad"}), "ValueError: bad. " + worker + chief);
  EXPECT_EQ(message({.cause = "Bad value!"}), "Bad value! " + worker + chief);
  EXPECT_EQ(message({.cause = "", .last_line = "epoch 7"}),
            worker + " It printed no error message; its last line was 'epoch 7'." + chief);
  EXPECT_EQ(message({}), worker + " It printed no error message." + chief);
  EXPECT_LE(message({.cause = std::string(kLongestWords, 'x')}).size(), 600U);
}

TEST(GangRules, OfAPrimaryAloneTheOthersMeanNothing) {
  GangTraits gang = AnyGang();
  gang.primary_alone = true;
  gang.settling = absl::Seconds(1);
  const std::vector<ReplicaObservation> others = {Exited(1, 1), In(Phase::kGone), Signalled(9, 2)};
  const auto decide = [&](const ReplicaObservation& primary) {
    return Decide(
        gang, std::vector<ReplicaObservation>{primary, others[0], others[1], others[2]}, At(50));
  };
  EXPECT_FALSE(decide(Running()).has_value());
  EXPECT_EQ(decide(Exited(0, 50))->state, AttemptState::kSucceeded);
  ReplicaObservation failed = Exited(4, 50);
  failed.words = LastWords{.cause = "ConnectionError", .lost_peer = true};
  const auto gang_end = decide(failed);
  ASSERT_TRUE(gang_end.has_value());
  EXPECT_THAT(gang_end->message,
              ::testing::StartsWith("ConnectionError. The replica chief 0 exited with a non-zero "
                                    "status of 4."));
}

TEST(GangRules, NameAtMostThreeThatFailed) {
  GangTraits gang{
      .replicas = {{"chief", 0}}, .patience = absl::Seconds(1), .spread = absl::Seconds(60)};
  std::vector<ReplicaObservation> replicas = {Exited(1, 9)};
  for (int i = 0; i < 5; ++i) {
    gang.replicas.push_back({"worker", i});
    replicas.push_back(Exited(1, 5 - i));
  }
  const std::string message = Decide(gang, replicas, At(10))->message;
  EXPECT_THAT(message, ::testing::StartsWith("The replica worker 4"));
  EXPECT_THAT(message, ::testing::HasSubstr(". The replica worker 2"));
  EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr("worker 1")));
}

TEST(BoundTimes, LeavesWhatIsPlausible) {
  ReplicaObservation now = Restarted(9, {50}, Exited(1, 60));
  const ReplicaObservation seen = now;
  BoundTimes(Running(), At(40), At(61), now);
  EXPECT_EQ(now.earlier[0].started, seen.earlier[0].started);
  EXPECT_EQ(now.earlier[0].ended, seen.earlier[0].ended);
  EXPECT_EQ(now.started, seen.started);
  EXPECT_EQ(now.ended, seen.ended);
}

TEST(BoundTimes, OfAClockThatJumpedAreWhenItWasLookedAt) {
  for (const double jump : {3600.0, -3600.0}) {
    ReplicaObservation now = Running(jump + 5);
    BoundTimes(In(Phase::kStarting), At(4), At(6), now);
    EXPECT_NEAR(absl::ToDoubleSeconds(now.started - At(5)), 0, 31) << jump;
    // What was found out once stays, whatever the record says.
    ReplicaObservation later = Exited(0, jump + 20);
    later.started = At(jump + 5);
    BoundTimes(now, At(19), At(21), later);
    EXPECT_EQ(later.started, now.started) << jump;
    EXPECT_NEAR(absl::ToDoubleSeconds(later.ended - At(20)), 0, 31) << jump;
  }
}

TEST(BoundTimes, OfWhatRanBeforeThisProcessAreTaken) {
  ReplicaObservation now = Running(-5000);
  BoundTimes({}, absl::InfinitePast(), At(10), now);
  EXPECT_EQ(now.started, At(-5000));
}

}  // namespace
}  // namespace vernier::launch
