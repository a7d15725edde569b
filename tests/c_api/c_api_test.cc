// The C interface, as a program in C uses it.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/app/server.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"
#include "vernier/vernier.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

struct Free {
  void operator()(vn_error* error) const { vn_error_free(error); }
  void operator()(vn_trials* trials) const { vn_trials_free(trials); }
  void operator()(vn_ask_tell* study) const { vn_ask_tell_free(study); }
  void operator()(vn_client* client) const { vn_client_free(client); }
};
using Error = std::unique_ptr<vn_error, Free>;
using Trials = std::unique_ptr<vn_trials, Free>;
using Loop = std::unique_ptr<vn_ask_tell, Free>;
using Worker = std::unique_ptr<vn_client, Free>;

// What `call` gives by its second to last argument; it must succeed.
template <typename Handle, typename Call>
std::unique_ptr<Handle, Free> Get(Call call) {
  Handle* result = nullptr;
  vn_error* error = nullptr;
  EXPECT_EQ(call(&result, &error), VN_OK) << vn_error_message(error);
  EXPECT_EQ(error, nullptr);
  vn_error_free(error);
  return std::unique_ptr<Handle, Free>(result);
}

// The error of a call that must fail.
template <typename Call>
Error Refusal(Call call) {
  vn_error* error = nullptr;
  const vn_code code = call(&error);
  EXPECT_NE(code, VN_OK);
  EXPECT_NE(error, nullptr);
  EXPECT_EQ(vn_error_code(error), code);
  return Error(error);
}

constexpr char kStudyFile[] = R"(
study: s
objective: {minimize: loss}
parameters:
  lr: {float: [0.001, 1], scale: log}
  layers: {int: [1, 4]}
  optimizer: {categorical: [adam, sgd]}
  nesterov: {bool: {}}
algorithm: random
budget: {trials: 5}
parallel: 5
seed: 3
)";

Loop NewLoop(const std::string& file = kStudyFile) {
  return Get<vn_ask_tell>(
      [&](auto** result, auto** error) { return vn_ask_tell_new(file.c_str(), result, error); });
}
Trials Ask(vn_ask_tell* loop, std::size_t count = 1) {
  return Get<vn_trials>(
      [&](auto** result, auto** error) { return vn_ask_tell_ask(loop, count, result, error); });
}

TEST(CApiAskTell, ProposesTheSamePointsForTheSameFile) {
  const Loop one = NewLoop();
  const Loop other = NewLoop();
  const Trials asked = Ask(one.get(), 3);
  const Trials again = Ask(other.get(), 3);
  ASSERT_EQ(vn_trials_count(asked.get()), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(vn_trials_number(asked.get(), i), static_cast<std::int64_t>(i) + 1);
    EXPECT_THAT(vn_trials_state(asked.get(), i), StrEq("RUNNING"));
    EXPECT_THAT(vn_trials_parameters(asked.get(), i), StrEq(vn_trials_parameters(again.get(), i)));
    EXPECT_THAT(vn_trials_metrics(asked.get(), i), StrEq("{}"));
  }
}

TEST(CApiAskTell, ReadsAParameterOfEachType) {
  const Loop loop = NewLoop();
  const Trials asked = Ask(loop.get());
  double lr = 0;
  EXPECT_EQ(vn_trials_double(asked.get(), 0, "lr", &lr, nullptr), VN_OK);
  EXPECT_TRUE(lr >= 0.001 && lr <= 1) << lr;
  double layers = 0;
  EXPECT_EQ(vn_trials_double(asked.get(), 0, "layers", &layers, nullptr), VN_OK);
  std::int64_t whole = 0;
  EXPECT_EQ(vn_trials_int(asked.get(), 0, "layers", &whole, nullptr), VN_OK);
  EXPECT_EQ(layers, static_cast<double>(whole));
  const char* optimizer = nullptr;
  EXPECT_EQ(vn_trials_string(asked.get(), 0, "optimizer", &optimizer, nullptr), VN_OK);
  EXPECT_THAT(optimizer, ::testing::AnyOf(StrEq("adam"), StrEq("sgd")));
  int nesterov = -1;
  EXPECT_EQ(vn_trials_bool(asked.get(), 0, "nesterov", &nesterov, nullptr), VN_OK);
  EXPECT_TRUE(nesterov == 0 || nesterov == 1);
  const Error type = Refusal(
      [&](auto** error) { return vn_trials_int(asked.get(), 0, "optimizer", &whole, error); });
  EXPECT_EQ(vn_error_code(type.get()), VN_INVALID_ARGUMENT);
  EXPECT_THAT(vn_error_field(type.get()), StrEq("optimizer"));
  EXPECT_EQ(vn_trials_double(asked.get(), 0, "momentum", &lr, nullptr), VN_NOT_FOUND);
  EXPECT_EQ(vn_trials_double(asked.get(), 1, "lr", &lr, nullptr), VN_NOT_FOUND);
  EXPECT_EQ(vn_trials_double(asked.get(), 0, "lr", nullptr, nullptr), VN_INVALID_ARGUMENT);
  EXPECT_EQ(vn_trials_string(asked.get(), 0, "lr", nullptr, nullptr), VN_INVALID_ARGUMENT);
}

TEST(CApiAskTell, LearnsFromWhatItIsToldAndKnowsTheBest) {
  const Loop loop = NewLoop();
  EXPECT_EQ(vn_trials_count(Get<vn_trials>([&](auto** result, auto** error) {
                              return vn_ask_tell_best(loop.get(), result, error);
                            }).get()),
            0U);
  const Trials asked = Ask(loop.get(), 4);
  const std::vector<double> losses = {0.5, std::nan(""), 0.25};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_EQ(
        vn_ask_tell_tell(loop.get(), vn_trials_number(asked.get(), i), &losses[i], 1, nullptr),
        VN_OK);
  }
  EXPECT_EQ(vn_ask_tell_fail(loop.get(), vn_trials_number(asked.get(), 3), nullptr), VN_OK);
  const Trials best = Get<vn_trials>(
      [&](auto** result, auto** error) { return vn_ask_tell_best(loop.get(), result, error); });
  ASSERT_EQ(vn_trials_count(best.get()), 1U);
  EXPECT_EQ(vn_trials_number(best.get(), 0), 3);
  EXPECT_THAT(vn_trials_metrics(best.get(), 0), StrEq(R"({"loss":0.25})"));
  EXPECT_EQ(vn_ask_tell_tell(loop.get(), 1, losses.data(), 1, nullptr), VN_FAILED_PRECONDITION);
  EXPECT_EQ(vn_ask_tell_tell(loop.get(), 99, losses.data(), 1, nullptr), VN_NOT_FOUND);
}

TEST(CApiAskTell, TakesHowFarConstraintsAreKeptBehindTheObjectives) {
  const Loop loop = NewLoop(R"(
objective: {maximize: accuracy}
outcome_constraints: ["latency <= 10"]
parameters: {x: {float: [0, 1]}}
algorithm: random
)");
  const Trials asked = Ask(loop.get(), 2);
  const double good[] = {0.5, 2};
  const double slow[] = {0.9, -3};
  EXPECT_EQ(vn_ask_tell_tell(loop.get(), 1, good, 2, nullptr), VN_OK);
  EXPECT_EQ(vn_ask_tell_tell(loop.get(), 2, slow, 1, nullptr), VN_INVALID_ARGUMENT);
  EXPECT_EQ(vn_ask_tell_tell(loop.get(), 2, slow, 2, nullptr), VN_OK);
  const Trials best = Get<vn_trials>(
      [&](auto** result, auto** error) { return vn_ask_tell_best(loop.get(), result, error); });
  ASSERT_EQ(vn_trials_count(best.get()), 1U);
  EXPECT_EQ(vn_trials_number(best.get(), 0), 1);
}

TEST(CApiAskTell, SaysWhatIsWrongWithAFile) {
  vn_ask_tell* loop = nullptr;
  const Error unknown = Refusal([&](auto** error) {
    return vn_ask_tell_new("objective: {minimize: loss}\nparameter: {}\n", &loop, error);
  });
  EXPECT_EQ(loop, nullptr);
  EXPECT_EQ(vn_error_code(unknown.get()), VN_INVALID_ARGUMENT);
  EXPECT_THAT(vn_error_message(unknown.get()), HasSubstr("did you mean 'parameters'?"));
  EXPECT_EQ(vn_ask_tell_new(nullptr, &loop, nullptr), VN_INVALID_ARGUMENT);
  EXPECT_EQ(vn_ask_tell_new(kStudyFile, nullptr, nullptr), VN_INVALID_ARGUMENT);
}

TEST(CApi, TakesNullForAHandle) {
  vn_error_free(nullptr);
  vn_trials_free(nullptr);
  vn_ask_tell_free(nullptr);
  vn_client_free(nullptr);
  EXPECT_EQ(vn_error_code(nullptr), VN_OK);
  EXPECT_THAT(vn_error_message(nullptr), StrEq(""));
  EXPECT_EQ(vn_trials_count(nullptr), 0U);
  vn_trials* trials = nullptr;
  EXPECT_EQ(vn_ask_tell_ask(nullptr, 1, &trials, nullptr), VN_INVALID_ARGUMENT);
  EXPECT_EQ(vn_client_suggest(nullptr, "s", 1, &trials, nullptr), VN_INVALID_ARGUMENT);
  EXPECT_EQ(vn_client_heartbeat(nullptr, nullptr, 0, nullptr), VN_INVALID_ARGUMENT);
  EXPECT_THAT(vn_version(), HasSubstr("."));
}

class CApiClientTest : public ::testing::Test {
 protected:
  CApiClientTest() {
    const std::string address = "unix:" + (folder_ / "s.sock");
    auto server =
        app::Server::Start({.store = ":memory:", .listen = {address}, .run_engine = false});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    worker_ = Get<vn_client>([&](auto** result, auto** error) {
      return vn_client_new(address.c_str(), "w", result, error);
    });
  }
  Trials Suggest(int count = 1) {
    return Get<vn_trials>([&](auto** result, auto** error) {
      return vn_client_suggest(worker_.get(), "s", count, result, error);
    });
  }

  app::TemporaryFolder folder_;
  std::unique_ptr<app::Server> server_;
  Worker worker_;
};

TEST_F(CApiClientTest, DrivesAStudyToItsEnd) {
  ASSERT_EQ(vn_client_create_study(worker_.get(), kStudyFile, nullptr), VN_OK);
  const char* const names[] = {"loss"};
  const Trials trials = Suggest(5);
  ASSERT_EQ(vn_trials_count(trials.get()), 5U);
  for (std::size_t i = 0; i < 3; ++i) {
    const double loss = 0.5 / static_cast<double>(i + 1);
    int should_stop = -1;
    EXPECT_EQ(
        vn_client_report(worker_.get(), trials.get(), i, 1, names, &loss, 1, &should_stop, nullptr),
        VN_OK);
    EXPECT_EQ(should_stop, 0);
    EXPECT_EQ(vn_client_heartbeat(worker_.get(), trials.get(), i, nullptr), VN_OK);
    EXPECT_EQ(vn_client_complete(worker_.get(), trials.get(), i, nullptr, nullptr, 0, nullptr),
              VN_OK);
  }
  EXPECT_EQ(vn_client_fail(worker_.get(), trials.get(), 3, "broke", nullptr), VN_OK);
  EXPECT_EQ(vn_client_mark_infeasible(worker_.get(), trials.get(), 4, "cannot be", nullptr), VN_OK);
  const char* state = nullptr;
  EXPECT_EQ(vn_client_study_state(worker_.get(), "s", &state, nullptr), VN_OK);
  EXPECT_THAT(state, StrEq("COMPLETED"));
  const Trials best = Get<vn_trials>([&](auto** result, auto** error) {
    return vn_client_list_trials(
        worker_.get(), "s", "state = COMPLETED", "metrics.loss", 1, result, error);
  });
  ASSERT_EQ(vn_trials_count(best.get()), 1U);
  EXPECT_EQ(vn_trials_number(best.get(), 0), 3);
  EXPECT_EQ(vn_client_delete_study(worker_.get(), "s", 0, nullptr), VN_OK);
  EXPECT_EQ(vn_client_study_state(worker_.get(), "s", &state, nullptr), VN_NOT_FOUND);
}

TEST_F(CApiClientTest, TellsErrorsOfTheServer) {
  ASSERT_EQ(vn_client_create_study(worker_.get(), kStudyFile, nullptr), VN_OK);
  const Error exists = Refusal(
      [&](auto** error) { return vn_client_create_study(worker_.get(), kStudyFile, error); });
  EXPECT_EQ(vn_error_code(exists.get()), VN_ALREADY_EXISTS);
  EXPECT_THAT(vn_error_reason(exists.get()), StrEq("STUDY_EXISTS"));
  const Trials trials = Suggest();
  const double loss = 1;
  const char* const names[] = {"loss"};
  EXPECT_EQ(vn_client_complete(worker_.get(), trials.get(), 0, names, &loss, 1, nullptr), VN_OK);
  const Error ended = Refusal([&](auto** error) {
    return vn_client_report(worker_.get(), trials.get(), 0, 2, names, &loss, 1, nullptr, error);
  });
  EXPECT_THAT(vn_error_reason(ended.get()), StrEq("TRIAL_FINISHED"));
  EXPECT_EQ(vn_client_stop_study(worker_.get(), "s", nullptr, nullptr), VN_OK);
  vn_trials* none = nullptr;
  const Error stopped =
      Refusal([&](auto** error) { return vn_client_suggest(worker_.get(), "s", 1, &none, error); });
  EXPECT_THAT(vn_error_reason(stopped.get()), StrEq("STUDY_NOT_ACTIVE"));
}

TEST_F(CApiClientTest, TakesNoTrialsOfAnAskTellLoop) {
  const Loop loop = NewLoop();
  const Trials asked = Ask(loop.get());
  const Error foreign = Refusal(
      [&](auto** error) { return vn_client_heartbeat(worker_.get(), asked.get(), 0, error); });
  EXPECT_THAT(vn_error_field(foreign.get()), StrEq("trials"));
}

}  // namespace
}  // namespace vernier
