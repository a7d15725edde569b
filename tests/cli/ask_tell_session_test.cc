#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/cli/ask_tell/session.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kCreate =
    R"({"op":"create","seed":1,"goal":"minimize","algorithm":"random","space":[
      {"name":"x","type":"float","min":0.5,"max":2,"log":true},
      {"name":"n","type":"int","min":1,"max":3},
      {"name":"k","type":"categorical","values":[1,2,"three"]},
      {"name":"d","type":"discrete","values":[1,2.5]},
      {"name":"c","type":"int","min":0,"max":9,"parent":{"name":"k","values":["three"]}}]})";

class AskTellSessionTest : public ::testing::Test {
 protected:
  ordered_json Send(const std::string& line) {
    const auto answer = session_.Handle(line);
    EXPECT_TRUE(answer.has_value()) << line;
    return answer ? ordered_json::parse(*answer) : ordered_json();
  }
  std::string Error(const std::string& line) { return Send(line).value("error", "no error"); }

  AskTellSession session_;
};

TEST_F(AskTellSessionTest, SpeaksTheProtocol) {
  EXPECT_EQ(Send(kCreate).dump(), R"({"ok":true,"version":"vernier 0.1.0"})");
  const ordered_json trials = Send(R"({"op":"ask","n":20})")["trials"];
  ASSERT_EQ(trials.size(), 20U);
  for (const ordered_json& trial : trials) {
    const ordered_json& params = trial["params"];
    EXPECT_TRUE(params["x"].is_number_float());
    EXPECT_TRUE(params["n"].is_number_integer());
    EXPECT_EQ(params.contains("c"), params["k"] == "three");
    EXPECT_TRUE(params["k"].dump() == "1" || params["k"].dump() == "2" || params["k"] == "three");
    EXPECT_TRUE(params["d"].dump() == "1" || params["d"].dump() == "2.5") << params["d"];
  }
  EXPECT_EQ(Send(R"({"op":"tell","id":1,"value":0.5})").dump(), R"({"ok":true})");
  EXPECT_EQ(Send(R"({"op":"tell","id":2,"value":null,"status":"failed"})").dump(),
            R"({"ok":true})");
  EXPECT_EQ(session_.Handle(R"({"op":"close"})"), std::nullopt);
}

TEST_F(AskTellSessionTest, EqualSeedsGiveEqualRuns) {
  AskTellSession other;
  for (const std::string line : {kCreate,
                                 R"({"op":"ask","n":5})",
                                 R"({"op":"tell","id":1,"value":1})",
                                 R"({"op":"ask","n":2})"}) {
    EXPECT_EQ(session_.Handle(line), other.Handle(line));
  }
}

TEST_F(AskTellSessionTest, StopsTrialsByTheirReports) {
  ordered_json create = ordered_json::parse(kCreate);
  create["stopping"] = {{"rule", "median"}, {"min_trials", 1}, {"warm_up", 0}};
  EXPECT_TRUE(Send(create.dump())["ok"]);
  Send(R"({"op":"ask","n":2})");
  EXPECT_EQ(Send(R"({"op":"report","id":1,"step":1,"value":0.5})").dump(),
            R"({"ok":true,"stop":false})");
  EXPECT_TRUE(Send(R"({"op":"tell","id":1,"value":0.5})")["ok"]);
  const ordered_json worse = Send(R"({"op":"report","id":2,"step":1,"value":0.7})");
  EXPECT_TRUE(worse["stop"]);
  EXPECT_EQ(
      worse["reason"],
      "best value 0.7 up to step 1 is worse than 0.5, the median of the running averages of 1 "
      "finished trials");
  EXPECT_EQ(Send(R"({"op":"tell","id":2,"value":0.7,"status":"stoped"})")["error"],
            R"(status: must be "completed", "stopped", "failed", got "stoped")");
  EXPECT_TRUE(Send(R"({"op":"tell","id":2,"value":0.7,"status":"stopped"})")["ok"]);
  EXPECT_EQ(Error(R"({"op":"report","id":2,"step":2,"value":0.7})"), "trial 2 was told already");
  EXPECT_EQ(Error(R"({"op":"report","id":9,"step":2,"value":0.7})"), "trial 9 was never asked for");
  EXPECT_EQ(Error(R"({"op":"report","id":1,"step":-1,"value":0.7})"),
            "step: must be a whole number of at least 0, got -1");
  EXPECT_EQ(Error(R"({"op":"report","id":1,"step":18446744073709551615,"value":0.7})"),
            "step: must be at most 9223372036854775807, got 18446744073709551615");
  EXPECT_EQ(Error(R"({"op":"report","id":1,"step":1})"), "value: is missing");
}

TEST_F(AskTellSessionTest, RefusesStoppingRulesThatItDoesNotKnow) {
  const auto with = [&](const ordered_json& stopping) {
    ordered_json create = ordered_json::parse(kCreate);
    create["stopping"] = stopping;
    return Error(create.dump());
  };
  EXPECT_EQ(with("medan").rfind("stopping: unknown stopping rule 'medan'", 0), 0U);
  EXPECT_EQ(with(7), "stopping: must be text or an object, got 7");
  EXPECT_EQ(with({{"p", 0.1}}), "stopping.rule: is missing");
  EXPECT_EQ(with({{"rule", "decay"}, {"p", nullptr}}),
            "stopping.p: must be a number, text, true or false, got null");
  EXPECT_EQ(with({{"rule", "decay"}, {"q", 1}}).rfind("stopping.q: ", 0), 0U);
}

TEST_F(AskTellSessionTest, LoadsTrialsMadeElsewhere) {
  Send(kCreate);
  EXPECT_EQ(Send(R"({"op":"load","trials":[{"params":{"x":1,"n":2,"k":2,"d":1,"c":5},"value":3}]})")
                .dump(),
            R"({"ok":true})");
}

TEST_F(AskTellSessionTest, TakesSeveralObjectivesAndHowFarConstraintsAreKept) {
  const std::string space = R"("space":[{"name":"x","type":"float","min":0,"max":1}]})";
  Send(
      R"({"op":"create","seed":1,"goal":["minimize","maximize"],"outcome_constraints":["a","b"],)" +
      space);
  Send(R"({"op":"ask","n":3})");
  const std::string ok = R"({"ok":true})";
  EXPECT_EQ(Send(R"({"op":"tell","id":1,"value":[1,2],"slacks":[0.5,null]})").dump(), ok);
  EXPECT_EQ(Send(R"({"op":"tell","id":2,"value":[1,3]})").dump(), ok);
  EXPECT_EQ(
      Send(R"({"op":"load","trials":[{"params":{"x":1},"value":[1,2],"slacks":[1,1]}]})").dump(),
      ok);
  EXPECT_EQ(Error(R"({"op":"tell","id":3,"value":1})"), "value: needs 2 numbers, got 1");
  EXPECT_EQ(Error(R"({"op":"tell","id":3,"value":[1,"2"]})"),
            "value: must be a number or null, got \"2\"");
  EXPECT_EQ(Error(R"({"op":"tell","id":3,"value":[1,2],"slacks":[1]})"),
            "slacks: needs 2 numbers, got 1");
  EXPECT_EQ(Error(R"({"op":"tell","id":3,"value":[1,2],"slacks":[1,true]})"),
            "slacks: must be numbers or null, got true");
  EXPECT_EQ(Error(R"({"op":"tell","id":3,"value":[1,2],"slacks":1})"),
            "slacks: must be a list, got 1");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"goal":[],)" + space),
            "goal: must name at least one goal");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"goal":["least"],)" + space),
            "goal: must be minimize or maximize, got \"least\"");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"outcome_constraints":"a",)" + space),
            "outcome_constraints: must be a list, got \"a\"");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"outcome_constraints":[1],)" + space),
            "outcome_constraints: must be texts, got 1");
  // The session before goes on.
  EXPECT_EQ(Send(R"({"op":"tell","id":3,"value":[1,2],"slacks":[1,2]})").dump(), ok);
}

TEST_F(AskTellSessionTest, StartsFromEarlierStudies) {
  const std::string space = R"("space":[{"name":"n","type":"int","min":1,"max":3}]})";
  for (const std::string algorithm : {"gp", "random"}) {
    Send(R"({"op":"create","seed":1,"algorithm":")" + algorithm +
         R"(","earlier":[{"name":"a","trials":[{"params":{"n":1},"value":1},)"
         R"({"params":{"n":2},"value":2}]}],)" +
         space);
    EXPECT_EQ(Send(R"({"op":"ask","n":1})")["trials"][0]["params"]["n"], 3);
  }
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"earlier":{},)" + space),
            "earlier: must be a list, got {}");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"earlier":[1],)" + space),
            "earlier: must hold objects, got 1");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"earlier":[{"name":1}],)" + space),
            "earlier: a name must be text, got 1");
  EXPECT_EQ(Error(R"({"op":"create","seed":1,"earlier":[{}],)" + space), "trials: is missing");
}

TEST_F(AskTellSessionTest, KeepsThePointsOfAnAskThatWantedTooMany) {
  Send(
      R"({"op":"create","seed":0,"algorithm":"grid","space":[{"name":"n","type":"int","min":1,"max":3}]})");
  EXPECT_EQ(Error(R"({"op":"ask","n":5})"), "n: points that the space has left: 3, asked for 5");
  EXPECT_EQ(Send(R"({"op":"ask","n":3})")["trials"].size(), 3U);
}

TEST_F(AskTellSessionTest, AnswersRubbishWithAnError) {
  Send(kCreate);
  for (const char* line :
       {"",
        "rubbish",
        "[]",
        "null",
        "{}",
        "\xff\xfe",
        R"({"op":7})",
        R"({"op":"dance"})",
        R"({"op":"ask"})",
        R"({"op":"ask","n":0})",
        R"({"op":"ask","n":-1})",
        R"({"op":"ask","n":1.5})",
        R"({"op":"ask","n":"1"})",
        R"({"op":"ask","n":1e99})",
        R"({"op":"tell"})",
        R"({"op":"tell","id":99,"value":1})",
        R"({"op":"tell","id":"1","value":1})",
        R"({"op":"tell","id":1,"value":"x"})",
        R"({"op":"tell","id":1,"value":null})",
        R"({"op":"load"})",
        R"({"op":"load","trials":7})",
        R"({"op":"load","trials":[7]})",
        R"({"op":"load","trials":[{"params":{"y":1},"value":1}]})",
        R"({"op":"load","trials":[{"params":{"x":9,"n":2,"k":2,"d":1},"value":1}]})",
        R"({"op":"load","trials":[{"params":{"x":1},"value":1}]})"}) {
    EXPECT_TRUE(Send(line).contains("error")) << line;
  }
  EXPECT_EQ(Send(R"({"op":"ask","n":1})")["trials"].size(), 1U);
}

TEST_F(AskTellSessionTest, SaysThatNumbersMustBeFinite) {
  Send(kCreate);
  Send(R"({"op":"ask","n":1})");
  const std::string rest = ": numbers must be finite, send null for a value that is not";
  for (const std::string word :
       {"NaN", "nan", "-nan", "inf", "-inf", "Infinity", "-Infinity", "+Infinity", "INF"}) {
    std::string request = R"({"op":"report","id":1,"step":1,"value":)";
    request += word;
    EXPECT_EQ(Error(request + "}"), "request: JSON has no " + word + rest);
  }
  for (const std::string number : {"1e400", "-1e400"}) {
    EXPECT_EQ(Error(R"({"op":"tell","id":1,"value":)" + number + "}"),
              "request: a number is too large for a double" + rest);
  }
  EXPECT_EQ(Error(R"({"op":"tell","id":1,"value":None})"), "request: is no valid JSON");
  EXPECT_TRUE(Send(R"({"op":"report","id":1,"step":1,"value":null})")["ok"]);
}

TEST_F(AskTellSessionTest, RefusesToAskBeforeCreate) {
  EXPECT_EQ(Error(R"({"op":"ask","n":1})"), "op: 'ask' before create");
}

struct SpaceCase {
  std::string space;
  std::string error;
};
class SpaceErrorTest : public ::testing::TestWithParam<SpaceCase> {};
TEST_P(SpaceErrorTest, NamesFieldAndValue) {
  AskTellSession session;
  const auto answer =
      session.Handle(R"({"op":"create","seed":0,"space":)" + GetParam().space + "}");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(ordered_json::parse(*answer).value("error", "no error"), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Table,
    SpaceErrorTest,
    ::testing::ValuesIn(std::vector<SpaceCase>{
        {"7", "space: must be a list of parameters"},
        {"[7]", "space[0]: must be an object, got 7"},
        {R"([{"name":1}])", "space[0].name: must be text"},
        {R"([{"name":"x"}])", "space[0].type: is missing"},
        {R"([{"name":"x","type":"real"}])",
         R"(space[0].type: must be float, int, categorical or discrete, got "real")"},
        {R"([{"name":"x","type":"float","min":0}])", "space[0].max: is missing"},
        {R"([{"name":"x","type":"float","min":"0","max":1}])",
         R"(space[0].min: must be a number, got "0")"},
        {R"([{"name":"x","type":"int","min":0.5,"max":1}])",
         "space[0].min: must be an integer, got 0.5"},
        {R"([{"name":"x","type":"int","min":0,"max":1,"log":1}])",
         "space[0].log: must be true or false, got 1"},
        {R"([{"name":"x","type":"categorical","values":[]}])",
         "space[0].values: must be a list of at least one value, got []"},
        {R"([{"name":"x","type":"discrete","values":["a"]}])",
         R"(space[0].values: must be numbers, got "a")"},
        {R"([{"name":"x","type":"int","min":0,"max":1,"parent":{"name":"y","values":[1]}}])",
         "space[0].parent.name: no parameter 'y' comes before this one"},
    }));

}  // namespace
}  // namespace vernier::cli
