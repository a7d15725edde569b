// The mean function, and what earlier studies do to it.

#include "algorithms/gaussian_process/earlier_studies.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "Eigen/LU"
#include "algorithms/gaussian_process/model/mean_function.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/gaussian_process/bowl.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/ask_tell.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using gp::Hyperparameters;
using gp::KernelExpansion;
using gp::MeanFunction;
using gp::Posterior;
using ::testing::HasSubstr;
using ::vernier::testing::Completed;
using ::vernier::testing::Float;
using ::vernier::testing::IsOk;
using ::vernier::testing::Log;
using ::vernier::testing::MakeProblem;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::Square;
using ::vernier::testing::StatusIs;

const std::vector<int> kTwoGroups = {0, 1};

Hyperparameters TypicalOfTwo() {
  return {.log_length_scales = {std::log(0.4), std::log(0.9)},
          .log_signal = std::log(1.1),
          .log_main = std::log(0.6),
          .log_noise = std::log(0.01)};
}

Eigen::MatrixXd RandomPoints(Eigen::Index n, std::uint64_t seed) {
  Rng rng(seed);
  Eigen::MatrixXd points(n, 2);
  for (double& coordinate : points.reshaped()) coordinate = rng.Uniform();
  return points;
}

Eigen::VectorXd Hill(const Eigen::MatrixXd& points) {
  Eigen::VectorXd values(points.rows());
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    values[i] = std::sin(4 * points(i, 0)) - std::pow(points(i, 1) - 0.4, 2);
  }
  return values;
}

KernelExpansion Learned(std::uint64_t seed, double sign = 1) {
  const Eigen::MatrixXd points = RandomPoints(30, seed);
  const Posterior posterior =
      Posterior::Create(points, sign * Hill(points), TypicalOfTwo(), kTwoGroups).value();
  return {posterior.kernel(), posterior.scaled_points(), posterior.coefficients()};
}

Eigen::VectorXd Standardised(Eigen::VectorXd values) {
  values.array() -= values.mean();
  return values / std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
}

TEST(MeanFunction, IsTheWeightedSumOfWhatItIsMadeOfAndItsGradientAgreesWithDifferences) {
  const KernelExpansion f = Learned(1);
  const KernelExpansion g = Learned(2, -1);
  MeanFunction mean;
  EXPECT_TRUE(mean.is_zero());
  EXPECT_EQ(mean.At(RandomPoints(3, 3)), Eigen::VectorXd::Zero(3));
  mean.Add(f, 0.7, 0.2);
  mean.Add(g, 2.0, -0.1);
  const Eigen::MatrixXd at = RandomPoints(20, 4);
  const Eigen::VectorXd expected = 0.7 * (f.At(at).array() - 0.2) + 2.0 * (g.At(at).array() + 0.1);
  EXPECT_LT((mean.At(at) - expected).norm(), 1e-13);
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    Eigen::RowVectorXd gradient = Eigen::RowVectorXd::Constant(2, 5.0);  // It is added to.
    EXPECT_NEAR(mean.AtWithGradient(at.row(i), gradient), expected[i], 1e-13);
    for (Eigen::Index k = 0; k < 2; ++k) {
      constexpr double kStep = 1e-5;
      Eigen::MatrixXd around = at.row(i).replicate(2, 1);
      around(0, k) += kStep;
      around(1, k) -= kStep;
      const Eigen::VectorXd values = mean.At(around);
      EXPECT_NEAR(gradient[k] - 5.0, (values[0] - values[1]) / (2 * kStep), 1e-6);
    }
  }
}

// Rasmussen and Williams (2006), eq. 2.38, with dense matrices.
TEST(Posterior, WithAMeanFunctionAgreesWithADenseReference) {
  MeanFunction mean;
  mean.Add(Learned(1), 0.7, 0.2);
  const Eigen::MatrixXd points = RandomPoints(15, 5);
  const Eigen::VectorXd values = 2 * Hill(points);
  const Hyperparameters h = TypicalOfTwo();
  const Posterior posterior = Posterior::Create(points, values, h, kTwoGroups, mean).value();
  const gp::Kernel kernel(h, kTwoGroups);
  const Eigen::MatrixXd z = kernel.Scaled(points);
  Eigen::MatrixXd k = kernel.Between(z, z);
  k.diagonal().array() += 0.01;
  const Eigen::MatrixXd at = RandomPoints(10, 6);
  const Eigen::MatrixXd cross = kernel.Between(kernel.Scaled(at), z);
  const Eigen::VectorXd expected = mean.At(at) + cross * k.inverse() * (values - mean.At(points));
  EXPECT_LT((posterior.Means(at) - expected).norm(), 1e-9);
  const std::vector<gp::Prediction> predicted = posterior.Predict(at);
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    const gp::PredictionWithGradient one = posterior.PredictWithGradient(at.row(i));
    EXPECT_NEAR(one.value.mean, expected[i], 1e-9);
    EXPECT_NEAR(predicted[static_cast<std::size_t>(i)].mean, expected[i], 1e-9);
  }
  EXPECT_LT((posterior.fitted() - posterior.Means(points)).norm(), 1e-9);
  // Leaving one out and predicting it.
  const Eigen::VectorXd left_out = posterior.LeaveOneOutMeans(values);
  const Posterior rest =
      Posterior::Create(points.topRows(14), values.head(14), h, kTwoGroups, mean).value();
  EXPECT_NEAR(left_out[14], rest.Means(points.bottomRows(1))[0], 1e-9);
  // Appended to, it is the same.
  const Posterior grown = Posterior::Extend(rest.factor(), points, values, h, kTwoGroups, mean);
  EXPECT_LT((grown.Means(at) - expected).norm(), 1e-9);
}

double Correlation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const Eigen::VectorXd x = a.array() - a.mean();
  const Eigen::VectorXd y = b.array() - b.mean();
  return x.dot(y) / (x.norm() * y.norm());
}

TEST(FitMean, TrustsABeliefAsFarAsTrialsBearItOut) {
  const Eigen::MatrixXd rows = RandomPoints(40, 7);
  const Eigen::VectorXd targets = Standardised(Hill(rows));
  const auto match = [&](const std::vector<gp::PriorMean>& priors) {
    return gp::FitMean(priors, rows, targets);
  };
  EXPECT_TRUE(match({}).is_zero());
  const MeanFunction right = match({{Learned(1)}});
  EXPECT_GT(Correlation(right.At(rows), targets), 0.98);
  EXPECT_NEAR(right.At(rows).mean(), 0, 1e-12);
  // One that says the opposite counts for nothing, beside another or alone; as does one that is known to be noise.
  EXPECT_TRUE(match({{Learned(1, -1)}}).is_zero());
  EXPECT_GT(Correlation(match({{Learned(1, -1)}, {Learned(2)}}).At(rows), targets), 0.95);
  EXPECT_TRUE(match({{.f = Learned(1), .reliability = 0}}).is_zero());
  EXPECT_LT(match({{.f = Learned(1), .reliability = 0.1}}).At(rows).norm(),
            0.2 * right.At(rows).norm());
  // Whatever range of values the earlier study had.
  const Posterior posterior =
      Posterior::Create(rows, 100 * targets, TypicalOfTwo(), kTwoGroups).value();
  const KernelExpansion large(
      posterior.kernel(), posterior.scaled_points(), posterior.coefficients());
  EXPECT_NEAR(match({{large}}).At(rows).norm(), right.At(rows).norm(), 0.3 * right.At(rows).norm());
}

TEST(FitMean, FadesAsTrialsComeIn) {
  const Eigen::MatrixXd rows = RandomPoints(80, 7);
  const Eigen::VectorXd targets = Standardised(Hill(rows));
  const auto spread = [&](Eigen::Index n) {
    const Eigen::VectorXd some = Standardised(targets.head(n));
    const MeanFunction mean = gp::FitMean({{Learned(1)}}, rows.topRows(n), some);
    return mean.At(rows.topRows(n)).norm() / std::sqrt(static_cast<double>(n));
  };
  EXPECT_GT(spread(5), 0.4);
  EXPECT_LT(spread(80), 0.15);
}

TEST(FitMean, OfOneTrialExpectsWhatIsBelieved) {
  const Eigen::MatrixXd row = RandomPoints(1, 8);
  const MeanFunction mean = gp::FitMean({{Learned(1)}}, row, Eigen::VectorXd::Zero(1));
  EXPECT_FALSE(mean.is_zero());
  EXPECT_NEAR(mean.At(row)[0], 0, 1e-12);
}

// --- the optimiser ---

double Peak(const Point& point) {
  double sum = 0;
  for (const auto& [name, value] : point) sum += std::pow(std::get<double>(value) - 0.7, 2);
  return -sum;
}

EarlierStudy Earlier(double sign) {
  EarlierStudy study{.name = "before", .trials = {}};
  Rng rng(11);
  for (int i = 1; i <= 25; ++i) {
    Point point = {{"x", rng.Uniform()}, {"y", rng.Uniform()}};
    const double value = sign * 50 * Peak(point) + 3;
    study.trials.push_back(Completed(i, std::move(point), value));
  }
  return study;
}

// The best of `trials` trials.
double BestAfter(int trials, std::vector<EarlierStudy> earlier, std::uint64_t seed) {
  Problem problem = MakeProblem(Square());
  problem.earlier = std::move(earlier);
  AskTell study = AskTell::Create(problem, {.name = "gp"}, seed).value();
  for (int i = 0; i < trials; ++i) {
    const AskTell::Asked asked = study.Ask().value().front();
    EXPECT_THAT(study.Tell(asked.trial, {Peak(asked.suggestion.point)}), IsOk());
  }
  return study.Best()->values.front();
}

TEST(WarmStart, FindsTheOptimumInFewTrialsIfTheEarlierStudyIsRight) {
  double warm = 0;
  double cold = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const double best = BestAfter(4, {Earlier(1)}, seed);
    EXPECT_GT(best, -1e-2) << seed;
    warm += best;
    cold += BestAfter(4, {}, seed);
  }
  EXPECT_GT(warm, cold / 5);
}

TEST(WarmStart, RecoversFromAnEarlierStudyThatSaysTheOpposite) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_GT(BestAfter(20, {Earlier(-1)}, seed), -1e-3) << seed;
  }
}

TEST(WarmStart, TriesTheDefaultPointFirst) {
  Parameter x = Float("x", 0, 1);
  x.default_value = 0.1;
  Problem problem = MakeProblem(MakeSpace({x}));
  problem.earlier = {{.name = "before", .trials = {Completed(1, {{"x", 0.6}}, 1)}}};
  AskTell study =
      AskTell::Create(problem, {.name = "gp", .options = {{"repeat_best", true}}}, 1).value();
  const std::vector<AskTell::Asked> asked = study.Ask(3).value();
  EXPECT_EQ(asked[0].suggestion.origin, "default point");
  EXPECT_EQ(asked[1].suggestion.origin, "earlier study");
  EXPECT_EQ(asked[1].suggestion.point, (Point{{"x", 0.6}}));
  EXPECT_EQ(asked[2].suggestion.origin, "initial design");
}

TEST(WarmStart, TriesTheDefaultPointUnlessAnEarlierStudyDid) {
  Parameter x = Float("x", 0, 1);
  x.default_value = 0.1;
  Problem problem = MakeProblem(MakeSpace({x}));
  EarlierStudy before{.name = "before", .trials = {}};
  for (int i = 1; i <= 6; ++i) before.trials.push_back(Completed(i, {{"x", 0.15 * i}}, i));
  problem.earlier = {before};
  const auto origin = [&problem] {
    AskTell study = AskTell::Create(problem, {.name = "gp"}, 1).value();
    return study.Ask().value().front().suggestion.origin;
  };
  EXPECT_EQ(origin(), "default point");
  problem.earlier[0].tried = {{{"x", 0.1}}};
  EXPECT_EQ(origin(), "earlier study");
}

// The points of a study's trials, the values of which are `scale` times Peak.
std::vector<Observation> Search(const Problem& problem, int trials, double scale) {
  AskTell study = AskTell::Create(problem, {.name = "gp"}, 1).value();
  std::vector<Observation> done;
  for (int i = 1; i <= trials; ++i) {
    const AskTell::Asked asked = study.Ask().value().front();
    const double value = scale * Peak(asked.suggestion.point);
    EXPECT_THAT(study.Tell(asked.trial, {value}), IsOk());
    done.push_back(Completed(i, asked.suggestion.point, value));
  }
  return done;
}

TEST(WarmStart, TheInitialDesignGoesOnWhereTheEarlierOneStopped) {
  Problem problem = MakeProblem(Square());
  const auto first = [&problem](std::string_view state) {
    const auto gp =
        AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "gp", .options = {}}, problem).value();
    return gp->Suggest({}, {}, state, Rng(5), 6, {}).value();
  };
  const Suggestions whole = first("");
  const auto gp =
      AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "gp", .options = {}}, problem).value();
  const std::string state = gp->Continuation(whole.state);
  for (std::size_t known : {std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
    EarlierStudy before{.name = "before", .trials = {}};
    for (std::size_t i = 0; i < known; ++i) {
      const Point& point = whole.points[i].point;
      before.trials.push_back(Completed(static_cast<std::int64_t>(i) + 1, point, Peak(point)));
    }
    problem.earlier = {before};
    const Suggestions rest = first(state);
    for (std::size_t i = 0; i < 6; ++i) {
      if (known + i < 5) {
        EXPECT_EQ(rest.points[i].point, whole.points[known + i].point);
      } else if (known >= 2) {
        EXPECT_EQ(rest.points[i].origin, "earlier study");
      }
    }
  }
}

TEST(WarmStart, AModelDecidesFromTheFirstTrialAndRepeatsNoEarlierPoint) {
  Problem problem = MakeProblem(MakeSpace({Float("x", 0, 0.7), Float("y", 0.7, 1)}));
  // The optimum is a corner, which the earlier study has found.
  problem.earlier = {{.name = "before", .trials = Search(problem, 12, 30)}};
  problem.earlier[0].trials.push_back(Completed(13, {{"x", 0.7}, {"y", 0.7}}, 0));
  const std::vector<Observation> after = Search(problem, 10, 1);
  for (const Observation& trial : after) {
    for (const Observation& before : problem.earlier[0].trials) {
      EXPECT_NE(trial.point, before.point);
    }
  }
  AskTell study = AskTell::Create(problem, {.name = "gp"}, 1).value();
  const std::vector<AskTell::Asked> asked = study.Ask(2).value();
  EXPECT_EQ(asked[0].suggestion.origin, "earlier study");
  EXPECT_EQ(asked[0].suggestion.note, "from the model of study 'before'");
  EXPECT_FALSE(asked[0].suggestion.predicted_mean.has_value());  // The units may differ.
  EXPECT_EQ(asked[1].suggestion.origin, "initial design");       // Should the study be wrong.
}

TEST(WarmStart, EarlierStudiesTakeTurns) {
  Problem problem = MakeProblem(Square());
  problem.earlier = {Earlier(1), Earlier(-1), Earlier(1)};
  problem.earlier[1].name = "other";
  AskTell study = AskTell::Create(problem, {.name = "gp"}, 1).value();
  const std::vector<AskTell::Asked> asked = study.Ask(3).value();
  EXPECT_EQ(asked[0].suggestion.note, "from the model of study 'before'");
  EXPECT_EQ(asked[1].suggestion.note, "from the model of study 'other'");
  EXPECT_EQ(asked[2].suggestion.origin, "initial design");
  EXPECT_GT(Peak(asked[0].suggestion.point), -0.02);
  EXPECT_LT(Peak(asked[1].suggestion.point), -0.2);
  // Failures say nothing of the values: what follows is theirs to choose.
  for (const AskTell::Asked& trial : asked) EXPECT_THAT(study.TellFailed(trial.trial), IsOk());
  EXPECT_EQ(study.Ask().value().front().suggestion.origin, "earlier study");
}

TEST(WarmStart, OnlyKnowledgeThatIsThereCounts) {
  Problem problem = MakeProblem(Square());
  const auto first = [&problem] {
    return AskTell::Create(problem, {.name = "gp"}, 1).value().Ask(8).value();
  };
  const std::vector<AskTell::Asked> cold = first();
  problem.earlier = {{.name = "empty", .trials = {}}};
  const std::vector<AskTell::Asked> empty = first();
  ASSERT_EQ(cold.size(), empty.size());
  for (std::size_t i = 0; i < cold.size(); ++i) {
    EXPECT_EQ(cold[i].suggestion.point, empty[i].suggestion.point);
  }
}

TEST(WarmStart, RefusesTrialsOutsideTheSpace) {
  Problem problem = MakeProblem(Square());
  problem.earlier = {{.name = "before", .trials = {Completed(1, {{"x", 0.6}}, 1)}}};
  for (const char* algorithm : {"gp", "random", "quasi-random"}) {
    EXPECT_THAT(AskTell::Create(problem, {.name = algorithm}, 1).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("warm_start[0]")));
  }
  EXPECT_THAT(
      AskTell::Create(MakeProblem(Square()), {.name = "gp", .options = {{"repeat_best", true}}}, 1)
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "algorithm.repeat_best: needs warm_start"));
}

}  // namespace
}  // namespace vernier
