// Kernel, likelihood, posterior and acquisition: gradients, identities, ill-conditioned data.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "Eigen/Eigenvalues"
#include "Eigen/LU"
#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/growing_factor.h"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/model_choice.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "gtest/gtest.h"
#include "vernier/core/rng.h"

namespace vernier::gp {
namespace {

// Four columns, of which the last two share a length scale, as those of a categorical parameter do.
const std::vector<int> kGroups = {0, 1, 2, 2};
constexpr int kGroupCount = 3;

struct Data {
  Eigen::MatrixXd points;
  Eigen::VectorXd values;
};

Data RandomData(Eigen::Index n, std::uint64_t seed) {
  Rng rng(seed);
  Data data{.points = Eigen::MatrixXd(n, 4), .values = Eigen::VectorXd(n)};
  for (double& coordinate : data.points.reshaped()) coordinate = rng.Uniform();
  for (Eigen::Index i = 0; i < n; ++i) {
    data.values[i] = std::sin(5.0 * data.points(i, 0)) - data.points(i, 2) + 0.1 * rng.Normal();
  }
  return data;
}

Hyperparameters Typical(double noise) {
  return {.log_length_scales = {std::log(0.4), std::log(1.3), std::log(0.7)},
          .log_signal = std::log(1.1),
          .log_main = std::log(0.6),
          .log_noise = std::log(noise)};
}

Posterior Conditioned(const Data& data, double noise) {
  return Posterior::Create(data.points, data.values, Typical(noise), kGroups).value();
}

// Expects f's gradient at x to agree with central differences.
void ExpectGradient(const std::function<double(std::span<const double>, std::span<double>)>& f,
                    std::vector<double> x,
                    double tolerance) {
  std::vector<double> gradient(x.size());
  std::vector<double> unused(x.size());
  f(x, gradient);
  constexpr double kStep = 1e-5;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double at = x[k];
    x[k] = at + kStep;
    const double above = f(x, unused);
    x[k] = at - kStep;
    const double below = f(x, unused);
    x[k] = at;
    const double difference = (above - below) / (2.0 * kStep);
    EXPECT_NEAR(gradient[k], difference, tolerance * (1.0 + std::abs(difference))) << "at " << k;
  }
}

double Matern(double r) {
  const double a = std::sqrt(5.0) * r;
  return (1.0 + a + a * a / 3.0) * std::exp(-a);
}

// The kernel as its header writes it.
double Written(const Hyperparameters& h, const Eigen::RowVectorXd& x, const Eigen::RowVectorXd& y) {
  std::vector<double> squares(kGroupCount, 0.0);
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const auto group = static_cast<std::size_t>(kGroups[static_cast<std::size_t>(k)]);
    squares[group] += std::pow((x[k] - y[k]) / std::exp(h.log_length_scales[group]), 2);
  }
  double all = 0;
  double effects = 0;
  for (const double square : squares) {
    all += square;
    effects += Matern(std::sqrt(square) / kMainReach) / kGroupCount;
  }
  return std::exp(h.log_signal) * Matern(std::sqrt(all)) + std::exp(h.log_main) * effects;
}

TEST(Kernel, MatchesItsFormulaAndIsPositiveDefinite) {
  const Data data = RandomData(12, 1);
  const Hyperparameters h = Typical(0.1);
  const Kernel kernel(h, kGroups);
  const Eigen::MatrixXd lower = kernel.Lower(kernel.Scaled(data.points));
  for (Eigen::Index j = 0; j < 12; ++j) {
    for (Eigen::Index i = 0; i < 12; ++i) {
      const double expected = Written(h, data.points.row(i), data.points.row(j));
      EXPECT_NEAR(lower(i, j), i >= j ? expected : 0.0, 1e-14);
    }
  }
  EXPECT_NEAR(lower(5, 5), kernel.variance(), 1e-15);
  const Eigen::MatrixXd all = lower.selfadjointView<Eigen::Lower>();
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(all).eigenvalues().minCoeff(), 0.0);
}

TEST(Kernel, BlocksAgreeWithTheSquareMatrixAtAnyScale) {
  const Data data = RandomData(9, 2);
  for (const double scale :
       {1.0, 0.02, 1e-3, 1e-6}) {  // The shortest are beyond what exponentials of sums can hold.
    Hyperparameters h = Typical(0.1);
    for (double& log_length_scale : h.log_length_scales) log_length_scale = std::log(scale);
    const Kernel kernel(h, kGroups);
    const Eigen::MatrixXd z = kernel.Scaled(data.points);
    const Eigen::MatrixXd lower = kernel.Lower(z);
    const Eigen::MatrixXd block = kernel.Between(z, z);
    for (Eigen::Index j = 0; j < 9; ++j) {
      const Kernel::Sloped one = kernel.BetweenWithSlopes(z, kernel.EffectsOf(z), z.row(j));
      EXPECT_LE((one.covariance - block.col(j)).norm(), 1e-14);
      for (Eigen::Index i = j; i < 9; ++i) EXPECT_NEAR(lower(i, j), block(i, j), 1e-15);
    }
  }
}

TEST(Likelihood, GradientAgreesWithDifferences) {
  const Data data = RandomData(25, 3);
  NegativeLogPosterior objective(data.points, kGroups, data.values, Prior());
  Rng rng(4);
  for (int i = 0; i < 10; ++i) {
    std::vector<double> theta;
    for (int k = 0; k < kGroupCount; ++k) theta.push_back(std::log(0.2 + 2.0 * rng.Uniform()));
    theta.push_back(std::log(0.3 + rng.Uniform()));
    theta.push_back(std::log(0.1 + rng.Uniform()));
    theta.push_back(std::log(1e-3 + 0.2 * rng.Uniform()));
    ExpectGradient([&](auto x, auto gradient) { return objective(x, gradient); }, theta, 1e-6);
  }
}

// Far from the origin main effects are not made of exponentials of coordinates, but of distances.
TEST(Likelihood, DoesNotDependOnTheOrigin) {
  const Data data = RandomData(25, 3);
  const Eigen::MatrixXd far = data.points.array() + 128.0;
  NegativeLogPosterior here(data.points, kGroups, data.values, Prior());
  NegativeLogPosterior there(far, kGroups, data.values, Prior());
  const std::vector<double> theta = Typical(0.05).Pack();
  std::vector<double> gradient_here(theta.size());
  std::vector<double> gradient_there(theta.size());
  EXPECT_NEAR(here(theta, gradient_here), there(theta, gradient_there), 1e-9);
  for (std::size_t k = 0; k < theta.size(); ++k) {
    EXPECT_NEAR(gradient_here[k], gradient_there[k], 1e-9) << "at " << k;
  }
}

TEST(Likelihood, MatchesTheTextbookFormula) {
  const Data data = RandomData(3, 5);
  const Hyperparameters h = Typical(0.05);
  const Kernel kernel(h, kGroups);
  const Eigen::MatrixXd z = kernel.Scaled(data.points);
  const Eigen::MatrixXd k = kernel.Between(z, z) + 0.05 * Eigen::MatrixXd::Identity(3, 3);
  const double expected =
      0.5 * data.values.dot(k.inverse() * data.values) + 0.5 * std::log(k.determinant());
  NegativeLogPosterior objective(data.points, kGroups, data.values, Prior());
  const std::vector<double> theta = h.Pack();
  std::vector<double> gradient(theta.size());
  std::vector<double> prior_gradient(theta.size());
  const double value = objective(theta, gradient) - Prior().NegativeLog(theta, prior_gradient);
  EXPECT_NEAR(value, expected, 1e-12);
}

// The variances that some points have of their own are on the diagonal, in the likelihood as in the posterior.
TEST(Posterior, TrustsPointsByTheirOwnVariances) {
  const Data data = RandomData(12, 41);
  Eigen::VectorXd own = Eigen::VectorXd::Zero(12);
  own[3] = 0.5;
  own[7] = 4;
  const Hyperparameters h = Typical(0.01);
  const Kernel kernel(h, kGroups);
  Eigen::MatrixXd k = kernel.Lower(kernel.Scaled(data.points)).selfadjointView<Eigen::Lower>();
  const Eigen::MatrixXd without_noise = k;
  k.diagonal() += own + Eigen::VectorXd::Constant(12, 0.01);

  const Posterior posterior =
      Posterior::Create(data.points, data.values, h, kGroups, {}, own).value();
  const Eigen::VectorXd expected = without_noise * k.inverse() * data.values;
  EXPECT_LE((posterior.fitted() - expected).norm(), 1e-9);
  const Posterior first =
      Posterior::Create(data.points.topRows(5), data.values.head(5), h, kGroups, {}, own.head(5))
          .value();
  const Posterior grown =
      Posterior::Extend(first.factor(), data.points, data.values, h, kGroups, {}, own);
  EXPECT_LE((grown.fitted() - expected).norm(), 1e-9);
  EXPECT_EQ(grown.factor().own_variances(), own);

  std::vector<double> gradient(h.Pack().size());
  std::vector<double> unused(gradient.size());
  const auto likelihood = [&](const std::vector<double>& theta, std::vector<double>& slope) {
    NegativeLogPosterior objective(data.points, kGroups, data.values, Prior(), own);
    return objective(theta, slope);
  };
  std::vector<double> theta = h.Pack();
  const double value = likelihood(theta, gradient) - Prior().NegativeLog(theta, unused);
  EXPECT_NEAR(value,
              0.5 * data.values.dot(k.inverse() * data.values) + 0.5 * std::log(k.determinant()),
              1e-9);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    std::vector<double> above = theta;
    std::vector<double> below = theta;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    EXPECT_NEAR(gradient[i], (likelihood(above, unused) - likelihood(below, unused)) / 2e-5, 1e-4);
  }
}

TEST(GrowingFactor, IsTheCholeskyFactorAndKeepsItsBitsWhenExtended) {
  const Data data = RandomData(60, 40);
  const Kernel kernel(Typical(0.01), kGroups);
  const Eigen::MatrixXd z = kernel.Scaled(data.points);
  const auto at_once = [&] {
    GrowingFactor factor = GrowingFactor::Create(kernel, 0.01, z, 20).value();
    factor.Append(kernel, z, 20);
    return factor;
  }();
  GrowingFactor extended = GrowingFactor::Create(kernel, 0.01, z, 20).value();
  for (const Eigen::Index n : {21, 22, 37, 60})
    extended.Append(kernel, z.topRows(n), extended.size());
  EXPECT_EQ(Eigen::MatrixXd(extended.lower()), Eigen::MatrixXd(at_once.lower()));
  EXPECT_EQ(extended.points(), z);

  Eigen::MatrixXd covariance = kernel.Lower(z);
  covariance.diagonal().array() += 0.01;
  const Eigen::MatrixXd product = at_once.lower() * at_once.lower().transpose();
  const Eigen::MatrixXd difference = (product - covariance).triangularView<Eigen::Lower>();
  EXPECT_LE(difference.norm(), 1e-12);
}

TEST(Posterior, InterpolatesWithoutNoise) {
  const Data data = RandomData(15, 6);
  const std::vector<Prediction> predictions = Conditioned(data, 1e-10).Predict(data.points);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    EXPECT_NEAR(predictions[i].mean, data.values[static_cast<Eigen::Index>(i)], 1e-6);
    EXPECT_NEAR(predictions[i].variance, 0.0, 1e-8);
  }
}

TEST(Posterior, FittedValuesAreTheMeansAtTheData) {
  const Data data = RandomData(15, 7);
  const Posterior posterior = Conditioned(data, 0.1);
  EXPECT_LE((posterior.fitted() - posterior.Means(data.points)).norm(), 1e-12);
}

TEST(Posterior, LeavingOneOutEqualsConditioningOnTheOthers) {
  const Data data = RandomData(10, 30);
  const Eigen::VectorXd means = Conditioned(data, 0.05).LeaveOneOutMeans(data.values);
  for (Eigen::Index i = 0; i < 10; ++i) {
    Data others{.points = Eigen::MatrixXd(9, 4), .values = Eigen::VectorXd(9)};
    others.points << data.points.topRows(i), data.points.bottomRows(9 - i);
    others.values << data.values.head(i), data.values.tail(9 - i);
    EXPECT_NEAR(Conditioned(others, 0.05).Means(data.points.row(i))[0], means[i], 1e-11);
  }
}

TEST(Posterior, VarianceIsBetweenZeroAndThePriorOne) {
  const Data data = RandomData(30, 8);
  const Posterior posterior = Conditioned(data, 1e-6);
  for (const Prediction& p : posterior.Predict(RandomData(200, 9).points)) {
    EXPECT_GT(p.variance, 0.0);
    EXPECT_LE(p.variance, 1.7 * (1 + 1e-12));
  }
}

TEST(Posterior, DoesNotDependOnTheOrderOfTheData) {
  const Data data = RandomData(20, 10);
  const Data reversed{.points = data.points.colwise().reverse(), .values = data.values.reverse()};
  const Eigen::MatrixXd at = RandomData(10, 11).points;
  const auto a = Conditioned(data, 0.01).Predict(at);
  const auto b = Conditioned(reversed, 0.01).Predict(at);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i].mean, b[i].mean, 1e-11);
    EXPECT_NEAR(a[i].variance, b[i].variance, 1e-11);
  }
}

TEST(Posterior, BelievingEqualsConditioningOnTheMean) {
  const Data data = RandomData(12, 12);
  const Eigen::RowVectorXd extra = RandomData(1, 13).points.row(0);
  const Eigen::MatrixXd at = RandomData(10, 14).points;
  Posterior believed = Conditioned(data, 0.01);
  Data all{.points = Eigen::MatrixXd(13, 4), .values = Eigen::VectorXd(13)};
  all.points << data.points, extra;
  all.values << data.values, believed.Means(extra)[0];
  believed.AddPending(extra);
  const auto a = believed.Predict(at);
  const auto b = Conditioned(all, 0.01).Predict(at);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i].mean, b[i].mean, 1e-11);
    EXPECT_NEAR(a[i].variance, b[i].variance, 1e-11);
  }
}

// Known answers: GaussianProcessRegressor of scikit-learn 1.2.1, alpha = 0.01, no optimizer, kernel
// C(1.7) Matern([0.3, 0.8]) + C(0.3) Matern([0.15, 1e12]) + C(0.3) Matern([1e12, 0.4]), each with nu = 2.5.
TEST(Posterior, AgreesWithAnotherLibrary) {
  Eigen::MatrixXd points(6, 2);
  points << 0.1, 0.2, 0.4, 0.9, 0.8, 0.3, 0.5, 0.5, 0.95, 0.85, 0.05, 0.7;
  Eigen::VectorXd values(6);
  values << 1.5, -0.3, 0.7, -1.1, 0.2, -0.9;
  const std::vector<int> groups = {0, 1};
  const Hyperparameters h{.log_length_scales = {std::log(0.3), std::log(0.8)},
                          .log_signal = std::log(1.7),
                          .log_main = std::log(0.6),
                          .log_noise = std::log(0.01)};
  Eigen::MatrixXd at(3, 2);
  at << 0.45, 0.55, 0.0, 0.0, 0.7, 0.7;
  const auto predicted = Posterior::Create(points, values, h, groups).value().Predict(at);
  const double means[] = {-0.9256305523335127, 1.4618211258531582, -0.44062742079966455};
  const double variances[] = {0.07464224894104587, 0.6209492147217544, 0.6294537782127066};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(predicted[i].mean, means[i], 1e-12);
    EXPECT_NEAR(predicted[i].variance, variances[i], 1e-12);
  }
  // The likelihood: without the prior's part, with the constant that the posterior leaves out.
  const Prior prior;
  const std::vector<double> theta = h.Pack();
  std::vector<double> unused(theta.size());
  std::vector<double> unused_too(theta.size());
  const double log_likelihood =
      prior.NegativeLog(theta, unused) -
      NegativeLogPosterior(points, groups, values, prior)(theta, unused_too);
  const double constant = 3.0 * std::log(2.0 * M_PI);
  EXPECT_NEAR(log_likelihood - constant, -10.352287961945233, 1e-11);
}

TEST(OrderingSkill, CountsPairsByTheirBetterTrial) {
  const Eigen::Vector4d targets(4, 3, 2, 1);
  EXPECT_EQ(OrderingSkill(targets, targets), 1.0);
  EXPECT_EQ(OrderingSkill(-targets, targets), 0.0);
  // Of weights 3 x 1, 2 x 1/2 and 1/3, the last pair is lost, then one of the first three.
  EXPECT_NEAR(
      OrderingSkill(Eigen::Vector4d(9, 8, 1, 2), targets), 1 - (1.0 / 3) / (4 + 1.0 / 3), 1e-15);
  EXPECT_NEAR(OrderingSkill(Eigen::Vector4d(8, 9, 2, 1), targets), 1 - 1 / (4 + 1.0 / 3), 1e-15);
  EXPECT_EQ(OrderingSkill(targets, Eigen::Vector4d::Ones()), 0.5);
  EXPECT_EQ(OrderingSkill(targets.array().exp(), targets), 1.0);
  EXPECT_EQ(OrderingSkill(Eigen::Vector4d::Zero(), targets), 0.0);  // Says nothing of any pair.
}

TEST(Acquisition, GradientAgreesWithDifferences) {
  const Data data = RandomData(20, 15);
  const Posterior objective = Conditioned(data, 1e-3);
  Data labels = RandomData(20, 16);
  labels.values = labels.values.array().sign();
  const Posterior success = Conditioned(labels, 0.1);
  Rng rng(17);
  for (const double incumbent : {0.0, 1.2, 30.0}) {  // The last is far in the tail.
    for (const Posterior* model : {static_cast<const Posterior*>(nullptr), &success}) {
      std::vector<Requirement> required;
      if (model != nullptr)
        required.push_back({.model = model, .least = 0.3, .extra_variance = 0.02});
      const Acquisition acquisition({&objective}, Decompose({}, {incumbent}), required);
      std::vector<double> x(4);
      for (double& coordinate : x) coordinate = rng.Uniform();
      const auto f = [&](std::span<const double> at, std::span<double> gradient) {
        Eigen::RowVectorXd slope;
        const double value =
            acquisition.ValueAndGradient(Eigen::Map<const Eigen::RowVectorXd>(at.data(), 4), slope);
        for (Eigen::Index k = 0; k < 4; ++k) gradient[static_cast<std::size_t>(k)] = slope[k];
        return value;
      };
      ExpectGradient(f, x, 1e-5);
      const Eigen::MatrixXd row = Eigen::Map<const Eigen::RowVectorXd>(x.data(), 4);
      std::vector<double> unused(4);
      EXPECT_NEAR(acquisition.Values(row)[0], f(x, unused), 1e-9 * std::abs(f(x, unused)));
      if (model == nullptr) {
        EXPECT_GE(acquisition.OptimisticValues(row)[0], acquisition.Values(row)[0]);
      }
    }
  }
}

struct HardCase {
  std::string name;
  Data data;
};

Data Repeated(Eigen::Index n, double value) {
  return {.points = Eigen::MatrixXd::Constant(n, 4, 0.5),
          .values = Eigen::VectorXd::Constant(n, value)};
}
Data Disagreeing() {
  Data data = Repeated(6, 1.0);
  data.values[0] = -1.0;
  return data;
}
Data NearlyEqual() {
  Data data = RandomData(10, 18);
  for (Eigen::Index i = 1; i < 10; ++i) {
    data.points.row(i) = data.points.row(0).array() + 1e-14 * static_cast<double>(i);
  }
  return data;
}
Data Constant() {
  Data data = RandomData(10, 19);
  data.values.setZero();
  return data;
}

class HardData : public ::testing::TestWithParam<HardCase> {};

TEST_P(HardData, IsFittedAndPredictsFiniteValues) {
  const Data& data = GetParam().data;
  const Hyperparameters h = FitHyperparameters(
      data.points, kGroups, kGroupCount, data.values, Prior(), FitStarts(), std::stop_token());
  for (const double log_parameter : h.Pack()) EXPECT_TRUE(std::isfinite(log_parameter));
  const auto posterior = Posterior::Create(data.points, data.values, h, kGroups);
  ASSERT_TRUE(posterior.has_value());
  for (const Prediction& p : posterior->Predict(RandomData(20, 20).points)) {
    EXPECT_TRUE(std::isfinite(p.mean));
    EXPECT_GT(p.variance, 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Table,
                         HardData,
                         ::testing::Values(HardCase{"One", RandomData(1, 21)},
                                           HardCase{"Two", RandomData(2, 22)},
                                           HardCase{"Repeated", Repeated(8, 0.7)},
                                           HardCase{"Disagreeing", Disagreeing()},
                                           HardCase{"NearlyEqual", NearlyEqual()},
                                           HardCase{"Constant", Constant()}),
                         [](const auto& row) { return row.param.name; });

TEST(HardData, ShortestLengthScalesStillFactorise) {
  const Data data = RandomData(10, 23);
  Hyperparameters h = Typical(1e-6);
  for (double& log_length_scale : h.log_length_scales) log_length_scale = std::log(1e-6);
  const auto posterior = Posterior::Create(data.points, data.values, h, kGroups);
  ASSERT_TRUE(posterior.has_value());
  EXPECT_NEAR(posterior->Predict(RandomData(1, 24).points)[0].mean, 0.0, 1e-12);
}

TEST(Fit, WarmStartReachesTheColdOptimum) {
  const Data data = RandomData(40, 25);
  const auto fit = [&](const std::optional<Hyperparameters>& warm) {
    return FitHyperparameters(
        data.points, kGroups, kGroupCount, data.values, Prior(), {.warm = warm}, {});
  };
  NegativeLogPosterior objective(data.points, kGroups, data.values, Prior());
  std::vector<double> gradient(Hyperparameters::PackedSize(kGroupCount));
  const Hyperparameters cold = fit(std::nullopt);
  const double value = objective(cold.Pack(), gradient);
  EXPECT_NEAR(objective(fit(cold).Pack(), gradient), value, 0.05);
  EXPECT_LT(value, objective(Prior().Mode(kGroupCount).Pack(), gradient));
}

// A wave along one axis: noise explains it, too.
TEST(Fit, StandardStartsBesidesTheWarmOneLeaveALesserMode) {
  Data data = RandomData(25, 26);
  for (Eigen::Index i = 0; i < data.values.size(); ++i) {
    data.values[i] = std::sin(6 * std::numbers::pi * data.points(i, 0));
  }
  NegativeLogPosterior objective(data.points, kGroups, data.values, Prior());
  std::vector<double> gradient(Hyperparameters::PackedSize(kGroupCount));
  const auto value = [&](const FitStarts& starts) {
    const Hyperparameters found =
        FitHyperparameters(data.points, kGroups, kGroupCount, data.values, Prior(), starts, {});
    return objective(found.Pack(), gradient);
  };
  Hyperparameters all_noise = Prior().Mode(kGroupCount);
  for (double& log_length_scale : all_noise.log_length_scales) log_length_scale = std::log(10.0);
  all_noise.log_noise = std::log(0.5);
  const double warm = value({.warm = all_noise});
  double least = warm;
  for (std::int64_t start = 0; start < 3; ++start) {
    const double both = value({.warm = all_noise, .standard_start = start});
    EXPECT_LE(both, warm);
    EXPECT_EQ(both, value({.warm = all_noise, .standard_start = start + 3}));
    least = std::min(least, both);
  }
  EXPECT_LT(least, warm - 1.0);
}

}  // namespace
}  // namespace vernier::gp
