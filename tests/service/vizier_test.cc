#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "src/service/vizier/definition.h"
#include "src/service/vizier/names.h"
#include "src/service/vizier/trials.h"
#include "src/service/vizier/values.h"
#include "tests/support/status_matchers.h"

namespace vernier::vizier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

::vizier::StudySpec Parsed(const std::string& text) {
  ::vizier::StudySpec spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &spec)) << text;
  return spec;
}

TEST(VizierNames, AreReadAndWritten) {
  const TrialName trial{.study = {.owner = "a b", .study = "Größe"}, .number = TrialNumber(7)};
  EXPECT_EQ(ResourceName(trial), "owners/a b/studies/Größe/trials/7");
  EXPECT_EQ(ParseTrialName("name", ResourceName(trial)).value(), trial);
  EXPECT_EQ(ParseOwnerName("parent", "owners/x").value(), "x");
  for (const char* bad : {"",
                          "owners",
                          "owners/",
                          "owners/a/studies/",
                          "studies/a",
                          "owners/a/studies/b/c",
                          "owners/a/study/b"}) {
    EXPECT_THAT(ParseStudyName("name", bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("name: must be owners/OWNER/studies/STUDY, got '")))
        << bad;
  }
  for (const char* bad : {"0", "01", "-1", "x", "1x", "99999999999999999999"}) {
    EXPECT_THAT(ParseTrialName("name", std::string("owners/a/studies/b/trials/") + bad),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a number from 1")))
        << bad;
  }
}

TEST(VizierNames, StudiesKeepThemWhereTheyCan) {
  EXPECT_EQ(StoredName({"vernier", "digits-2"}), "digits-2");
  EXPECT_EQ(StoredName({"ann", "digits_2"}), "ann-digits_2");
  EXPECT_EQ(StoredName({"ann", "a b"}), StoredName({"ann", "a b"}));
  // What is made readable alike is told apart.
  const std::vector<StudyName> alike = {{"ann", "a b"},
                                        {"ann", "a-b"},
                                        {"ann", "a.b"},
                                        {"1", "a b"},
                                        {"ann-a", "b"},
                                        {"vernier", "a b"}};
  std::set<std::string> names;
  for (const StudyName& name : alike) {
    StudySpec spec;
    spec.name = StoredName(name);
    spec.foreign = ForeignDefinition{.service = "vizier", .name = ResourceName(name)};
    EXPECT_LE(spec.name.size(), 128u);
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(NameOf(spec), name);
  }
  StudySpec own;
  own.name = "digits";
  EXPECT_EQ(NameOf(own), (StudyName{"vernier", "digits"}));
  EXPECT_LE(StoredName({std::string(500, 'x'), std::string(500, 'y')}).size(), 128u);
}

TEST(VizierDefinition, ADefinitionIsKeptToTheByte) {
  const ::vizier::StudySpec definition = Parsed(R"(
    metrics { metric_id: "val loss" goal: MINIMIZE }
    metrics { metric_id: "heat" goal: MINIMIZE safety_config { safety_threshold: 50.5 } }
    parameters { parameter_id: "n" integer_value_spec { min_value: 1 max_value: 3 default_value { value: 2 } }
      conditional_parameter_specs { parent_int_values { values: 3 }
        parameter_spec { parameter_id: "rate" double_value_spec { min_value: 1e-3 max_value: 1 }
                         scale_type: UNIT_LOG_SCALE } }
      conditional_parameter_specs { parent_int_values { values: 1 }
        parameter_spec { parameter_id: "rate" double_value_spec { min_value: 1e-3 max_value: 1 }
                         scale_type: UNIT_LOG_SCALE } }
      conditional_parameter_specs { parent_int_values { values: 2 }
        parameter_spec { parameter_id: "rate" double_value_spec { min_value: 5 max_value: 6 } } } }
    algorithm: "DEFAULT" observation_noise: HIGH
    metadata { ns: ":me" key: "k" value: "v" })");
  ASSERT_OK_AND_ASSIGN(const StudySpec spec, DecodeDefinition({"ann", "s"}, definition));
  EXPECT_EQ(spec.name, "ann-s");
  EXPECT_EQ(spec.algorithm.name, "gp");
  EXPECT_THAT(spec.objectives,
              ElementsAre(Objective{.metric = "val loss", .goal = Goal::kMinimize}));
  EXPECT_THAT(spec.outcome_constraints, ElementsAre("`heat` <= 50.5"));
  ASSERT_EQ(spec.space.parameters().size(), 3u);
  EXPECT_EQ(spec.space.parameters()[1].when[0].values.size(), 2u);  // One parameter under 3 and 1.
  EXPECT_EQ(spec.space.parameters()[2].name, "rate (n=2)");
  EXPECT_THAT(Validate(spec), IsOk());
  Study study;
  study.spec = spec;
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(EncodeDefinition(study), definition));
  study.metadata[{.space = ":me", .name = "k"}] = {.type = "", .content = "new"};
  EXPECT_EQ(EncodeDefinition(study).metadata(0).value(), "new");

  // A trial's parameter has the name that the definition gives it, whichever branch it is in.
  Trial trial;
  trial.number = TrialNumber(4);
  trial.point = {{"n", std::int64_t{2}}, {"rate (n=2)", 5.5}};
  trial.state = TrialState::kFailed;
  trial.message = "no metric";
  ::vizier::Trial encoded;
  const TrialCodec codec(std::make_shared<const StudySpec>(spec));
  codec.Encode(trial, {}, &encoded);
  EXPECT_EQ(encoded.name(), "owners/ann/studies/s/trials/4");
  EXPECT_EQ(encoded.state(), ::vizier::Trial::INFEASIBLE);
  EXPECT_EQ(encoded.infeasible_reason(), "no metric");
  EXPECT_EQ(encoded.parameters(1).parameter_id(), "rate");
  ASSERT_OK_AND_ASSIGN(const TrialAddition back, codec.Decode(encoded));
  EXPECT_EQ(spec.space.InKind(back.point), trial.point);
}

struct Bad {
  const char* text;
  const char* error;
};

TEST(VizierDefinition, BadOnesAreRefusedWithTheirField) {
  const std::string metric = "metrics { metric_id: 'm' goal: MAXIMIZE } ";
  const std::vector<Bad> cases = {
      {"parameters { parameter_id: 'x' }",
       "study_spec.parameters[0]: needs one of double_value_spec, integer_value_spec, "
       "categorical_value_spec and discrete_value_spec"},
      {"parameters { parameter_id: 'x' double_value_spec { max_value: 1 } } "
       "parameters { parameter_id: 'x' double_value_spec { max_value: 1 } }",
       "study_spec.parameters[1]: 'x' is there twice"},
      {"parameters { parameter_id: 'x' double_value_spec { min_value: 2 max_value: 1 } }",
       "parameters.x.float[1]: must not be below the lower bound 2, got 1"},
      {"parameters { parameter_id: '' double_value_spec { max_value: 1 } }",
       "parameters[0].name: must have 1 to 128 bytes"},
      {"parameters { parameter_id: 'c' categorical_value_spec { } }", "parameters.c.categorical"},
      {"algorithm: 'EMUKIT_GP_EI'",
       "study_spec.algorithm: must be one of ALGORITHM_UNSPECIFIED, BOCS, CMA_ES, DEFAULT, "
       "EAGLE_STRATEGY, GAUSSIAN_PROCESS_BANDIT, GP_UCB_PE, GRID_SEARCH, HARMONICA, NSGA2, "
       "QUASI_RANDOM_SEARCH, RANDOM_SEARCH, SHUFFLED_GRID_SEARCH, got 'EMUKIT_GP_EI'"},
      {"metrics { metric_id: 'n' }",
       "study_spec.metrics[1].goal: must be MAXIMIZE or MINIMIZE, got 0"},
      {"metrics { metric_id: 'a`b' goal: MAXIMIZE safety_config { } }",
       "study_spec.metrics[1].metric_id: a metric with a threshold must not hold '`'"}};
  for (const Bad& bad : cases) {
    EXPECT_THAT(DecodeDefinition({"ann", "s"}, Parsed(metric + bad.text)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.error)))
        << bad.text;
  }
}

struct Runs {
  const char* algorithm;
  // What runs, and what the metadata says of it: of a metric and a parameter, of a parameter, of nothing.
  const char* all;
  const char* all_note;
  const char* no_metric;
  const char* no_metric_note;
  const char* nothing;
};

TEST(VizierDefinition, EveryAlgorithmRunsAndWhatStandsInForItIsSaid) {
  const std::vector<Runs> cases = {
      {"", "gp", "", "random", "", "random"},
      {"DEFAULT", "gp", "", "random", "", "random"},
      {"ALGORITHM_UNSPECIFIED", "gp", "", "random", "", "random"},
      {"GP_UCB_PE",
       "gp",
       "",
       "random",
       "random search, in place of GP_UCB_PE: the study names no metric to optimize",
       "random"},
      {"GAUSSIAN_PROCESS_BANDIT",
       "gp",
       "",
       "random",
       "random search, in place of GAUSSIAN_PROCESS_BANDIT: the study names no metric to optimize",
       "random"},
      {"NSGA2",
       "gp",
       "the Gaussian process, in place of NSGA2",
       "random",
       "random search, in place of NSGA2: the study names no metric to optimize",
       "random"},
      {"CMA_ES",
       "gp",
       "the Gaussian process, in place of CMA_ES",
       "random",
       "random search, in place of CMA_ES: the study names no metric to optimize",
       "random"},
      {"EAGLE_STRATEGY",
       "gp",
       "the Gaussian process, in place of EAGLE_STRATEGY",
       "random",
       "random search, in place of EAGLE_STRATEGY: the study names no metric to optimize",
       "random"},
      {"BOCS",
       "gp",
       "the Gaussian process, in place of BOCS",
       "random",
       "random search, in place of BOCS: the study names no metric to optimize",
       "random"},
      {"HARMONICA",
       "gp",
       "the Gaussian process, in place of HARMONICA",
       "random",
       "random search, in place of HARMONICA: the study names no metric to optimize",
       "random"},
      {"RANDOM_SEARCH", "random", "", "random", "", "random"},
      {"QUASI_RANDOM_SEARCH", "quasi-random", "", "quasi-random", "", "random"},
      {"GRID_SEARCH", "grid", "", "grid", "", "random"},
      {"SHUFFLED_GRID_SEARCH", "grid", "", "grid", "", "random"}};
  const auto check = [](const std::string& text, const char* runs, const char* note) {
    SCOPED_TRACE(text);
    const ::vizier::StudySpec definition = Parsed(text);
    ASSERT_OK_AND_ASSIGN(const StudySpec spec, DecodeDefinition({"ann", "s"}, definition));
    EXPECT_THAT(Validate(spec), IsOk());
    EXPECT_EQ(spec.algorithm.name, runs);
    Study study;
    study.spec = spec;
    const ::vizier::StudySpec shown = EncodeDefinition(study);
    if (*note == 0) {
      EXPECT_EQ(shown.metadata_size(), 0);
    } else {
      ASSERT_EQ(shown.metadata_size(), 1);
      EXPECT_EQ(shown.metadata(0).ns(), ":vernier");
      EXPECT_EQ(shown.metadata(0).key(), "algorithm");
      EXPECT_EQ(shown.metadata(0).value(), note);
    }
  };
  for (const Runs& c : cases) {
    const std::string name = std::string("algorithm: '") + c.algorithm + "' ";
    const std::string x = "parameters { parameter_id: 'x' double_value_spec { max_value: 1 } } ";
    const std::string metric = "metrics { metric_id: 'm' goal: MAXIMIZE } ";
    check(name + x + metric, c.all, c.all_note);
    check(name + x, c.no_metric, c.no_metric_note);
    const bool is_open = std::string(c.all) == c.nothing || c.no_metric_note[0] == 0;
    const bool is_left_out =
        is_open && std::string(c.all) != "quasi-random" && std::string(c.all) != "grid";
    const std::string note =
        std::string("random search, in place of ") + c.algorithm + ": the study names no parameter";
    check(name, c.nothing, is_left_out ? "" : note.c_str());
  }
}

TEST(VizierDefinition, AMetricWithAThresholdIsNoneToOptimize) {
  ASSERT_OK_AND_ASSIGN(
      const StudySpec spec,
      DecodeDefinition(
          {"ann", "s"},
          Parsed("metrics { metric_id: 'm' goal: MINIMIZE safety_config { } } "
                 "parameters { parameter_id: 'x' double_value_spec { max_value: 1 } }")));
  EXPECT_EQ(spec.algorithm.name, "random");
  EXPECT_THAT(spec.outcome_constraints, ElementsAre("`m` <= 0"));
  EXPECT_THAT(Validate(spec), IsOk());
}

TEST(VizierDefinition, OwnStudiesAreSaidInVizierWords) {
  Study study;
  study.spec.name = "own";
  study.spec.objectives = {{.metric = "loss", .goal = Goal::kMinimize}};
  study.spec.space =
      Space::Create(
          {{.name = "deep", .domain = BoolDomain{}, .default_value = true},
           {.name = "width",
            .domain = IntDomain{.lower = 16, .upper = 64, .step = 16},
            .when = {{.parent = "deep", .values = {true}}}},
           {.name = "kind",
            .domain = CategoricalDomain{{std::string("a"), std::int64_t{2}, true}},
            .when = {{.parent = "width", .values = {std::int64_t{32}}}}},
           {.name = "share", .domain = FloatDomain{.lower = 0, .upper = 0.2, .step = 0.1}}})
          .value();
  study.spec.algorithm = {.name = "grid", .options = {{"shuffle", true}}};
  const ::vizier::StudySpec expected = Parsed(R"(
    metrics { metric_id: "loss" goal: MINIMIZE }
    parameters { parameter_id: "deep" external_type: AS_BOOLEAN
      categorical_value_spec { values: "False" values: "True" default_value { value: "True" } }
      conditional_parameter_specs { parent_categorical_values { values: "True" }
        parameter_spec { parameter_id: "width" external_type: AS_INTEGER
          discrete_value_spec { values: [16, 32, 48, 64] }
          conditional_parameter_specs { parent_discrete_values { values: 32 }
            parameter_spec { parameter_id: "kind" categorical_value_spec { values: ["a", "2", "True"] } } } } } }
    parameters { parameter_id: "share" discrete_value_spec { values: [0, 0.1, 0.2] } }
    algorithm: "SHUFFLED_GRID_SEARCH")");
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(EncodeDefinition(study), expected))
      << EncodeDefinition(study).DebugString();
  Trial trial;
  trial.point = {
      {"deep", true}, {"width", std::int64_t{32}}, {"kind", std::int64_t{2}}, {"share", 0.1}};
  ::vizier::Trial encoded;
  const TrialCodec codec(std::make_shared<const StudySpec>(study.spec));
  codec.Encode(trial, {}, &encoded);
  ASSERT_OK_AND_ASSIGN(const TrialAddition back, codec.Decode(encoded));
  EXPECT_EQ(study.spec.space.InKind(back.point), trial.point);
}

TEST(VizierTrials, AdditionsAreReadWholeOrRefused) {
  StudySpec spec;
  spec.space = Space::Create({{.name = "x", .domain = FloatDomain{}}}).value();
  const auto decode = [&](const std::string& text) {
    ::vizier::Trial trial;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &trial)) << text;
    return TrialCodec(std::make_shared<const StudySpec>(spec)).Decode(trial);
  };
  const std::string x = "parameters { parameter_id: 'x' value { number_value: 0.5 } } ";
  EXPECT_EQ(decode(x)->last, std::nullopt);
  EXPECT_EQ(
      decode(x +
             "state: SUCCEEDED measurements { step_count: 3 metrics { metric_id: 'm' value: 2 } }")
          ->last->step,
      3);
  EXPECT_EQ(decode(x + "state: INFEASIBLE infeasible_reason: 'hot'")->infeasible, "hot");
  EXPECT_EQ(
      decode(x + "state: INFEASIBLE final_measurement { metrics { metric_id: 'm' value: 2 } }")
          ->last->metrics.at("m"),
      2);
  EXPECT_THAT(decode(x + "state: SUCCEEDED"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("trial.final_measurement")));
  EXPECT_THAT(decode(x + x),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("trial.parameters[1]: 'x' is there twice")));
  EXPECT_THAT(decode("parameters { parameter_id: 'x' }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("trial.parameters[0].value: must be a number or text")));
  const auto stranger = decode("parameters { parameter_id: 'y' value { number_value: 1 } }");
  ASSERT_THAT(stranger, IsOk());
  EXPECT_THAT(spec.space.Check(stranger->point), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(VizierTrials, OfAStudyOfAVizierClientAdditionsAreTakenAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(
      StudySpec spec,
      DecodeDefinition(
          {"ann", "s"},
          Parsed("parameters { parameter_id: 'x' double_value_spec { max_value: 1 } }")));
  ::vizier::Trial trial;
  trial.set_state(::vizier::Trial::SUCCEEDED);
  const TrialCodec codec(std::make_shared<const StudySpec>(spec));
  ASSERT_OK_AND_ASSIGN(const TrialAddition addition, codec.Decode(trial));
  EXPECT_TRUE(addition.as_is);
  EXPECT_TRUE(addition.point.empty());
  ASSERT_TRUE(addition.last.has_value());
  EXPECT_TRUE(addition.last->metrics.empty());
  spec.foreign.reset();
  trial.set_state(::vizier::Trial::REQUESTED);
  EXPECT_FALSE(TrialCodec(std::make_shared<const StudySpec>(spec)).Decode(trial)->as_is);
}

struct Ended {
  std::map<std::string, double> metrics;
  TrialState state = TrialState::kCompleted;
};

TEST(VizierTrials, OptimalAreAllThatTie) {
  const auto tied = [](std::vector<Objective> objectives,
                       std::optional<std::int64_t> best,
                       const std::vector<Ended>& ends) {
    Study study;
    study.spec.objectives = std::move(objectives);
    study.spec.outcome_constraints = {"heat <= 5"};
    if (best) study.best = TrialNumber(*best);
    std::vector<Trial> trials;
    for (const Ended& end : ends) {
      Trial trial;
      trial.number = TrialNumber(std::ssize(trials) + 1);
      trial.state = end.state;
      trial.final_metrics = end.metrics;
      trials.push_back(std::move(trial));
    }
    return TiedWithBest(study, trials).value();
  };
  const Objective loss = {.metric = "loss", .goal = Goal::kMinimize};
  const std::vector<Ended> ends = {{{{"loss", 1}, {"heat", 1}}},
                                   {{{"loss", 1}, {"heat", 9}}},
                                   {{{"loss", 2}, {"heat", 1}}},
                                   {{{"loss", 1}, {"heat", 1}}, TrialState::kInfeasible},
                                   {{{"heat", 1}}},
                                   {{{"loss", 1}, {"heat", 5}}}};
  EXPECT_THAT(tied({loss}, 1, ends), ElementsAre(TrialNumber(1), TrialNumber(6)));
  EXPECT_THAT(tied({}, std::nullopt, ends),
              ElementsAre(TrialNumber(1), TrialNumber(3), TrialNumber(5), TrialNumber(6)));
  EXPECT_THAT(tied({loss}, std::nullopt, ends), ElementsAre());
  EXPECT_THAT(tied({loss}, 9, ends), ElementsAre());
}

}  // namespace
}  // namespace vernier::vizier
