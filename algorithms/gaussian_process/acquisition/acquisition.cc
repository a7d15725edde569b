#include "algorithms/gaussian_process/acquisition/acquisition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "algorithms/gaussian_process/acquisition/expected_hypervolume.h"
#include "algorithms/numerics/normal.h"

// acquisition(x) = ln E[gain(x)] + sum_i ln P(requirement i is met at x). In logarithms, so that there is a gradient
// also where both are tiny (Ament et al., 2023); the models are taken as independent of each other.
namespace vernier::gp {
namespace {

// Below this ln probability a firm requirement is rather not met than met.
const double kDoubtful = std::log(0.5);
// Weight of the ln probability below kDoubtful. Without it 37.6 of the last 40 trials failed where the optimum lies at
// a wall, with it 13 (docs/adr/0027). The size is a choice: larger than any ln of an expected improvement can make up
// for.
constexpr double kFirmness = 1e3;

double Deviation(const Requirement& requirement, const Prediction& prediction) {
  return std::sqrt(prediction.variance + requirement.extra_variance);
}

// Term of the acquisition for a requirement that is met with this ln probability. Continuous at kDoubtful.
numerics::LogCdf Worth(const Requirement& requirement, numerics::LogCdf log) {
  if (requirement.is_firm && log.value < kDoubtful) {
    log.value = kDoubtful + kFirmness * (log.value - kDoubtful);
    log.slope *= kFirmness;
  }
  return log;
}

// Distance of the predicted mean from the least value, in deviations.
double Margin(const Requirement& requirement, const Prediction& prediction) {
  return (prediction.mean - requirement.least) / Deviation(requirement, prediction);
}

}  // namespace

double LogProbability(const Requirement& requirement, const Prediction& prediction) {
  return numerics::LogNormalCdf(Margin(requirement, prediction)).value;
}

Acquisition::Acquisition(std::vector<const Posterior*> objectives,
                         BoxDecomposition improvement,
                         std::vector<Requirement> requirements)
    : objectives_(std::move(objectives)),
      improvement_(std::move(improvement)),
      requirements_(std::move(requirements)) {}

std::vector<double> Acquisition::LogLengthScales() const {
  std::vector<double> smallest = objectives_.front()->hyperparameters().log_length_scales;
  for (const Posterior* objective : objectives_) {
    const std::vector<double>& scales = objective->hyperparameters().log_length_scales;
    for (std::size_t g = 0; g < smallest.size(); ++g) {
      smallest[g] = std::min(smallest[g], scales[g]);
    }
  }
  return smallest;
}

std::vector<double> Acquisition::Gains(
    const std::vector<std::vector<Prediction>>& predictions) const {
  std::vector<double> gains(predictions.front().size());
  std::vector<Prediction> at_point(predictions.size());
  for (std::size_t i = 0; i < gains.size(); ++i) {
    for (std::size_t j = 0; j < predictions.size(); ++j) at_point[j] = predictions[j][i];
    gains[i] = LogExpectedHypervolumeGain(improvement_, at_point);
  }
  return gains;
}

std::vector<double> Acquisition::OptimisticValues(const Eigen::MatrixXd& features) const {
  std::vector<std::vector<Prediction>> predictions;
  for (const Posterior* objective : objectives_) {
    std::vector<Prediction>& optimistic = predictions.emplace_back();
    optimistic.reserve(static_cast<std::size_t>(features.rows()));
    for (const double mean : objective->Means(features)) {
      // The expected gain grows with the variance, and the prior variance is the largest that there is. Requirements
      // are left out: their logarithms are at most 0.
      optimistic.push_back({.mean = mean, .variance = objective->signal()});
    }
  }
  return Gains(predictions);
}

std::vector<double> Acquisition::Values(const Eigen::MatrixXd& features) const {
  std::vector<std::vector<Prediction>> predictions;
  predictions.reserve(objectives_.size());
  for (const Posterior* objective : objectives_) {
    predictions.push_back(objective->Predict(features));
  }
  std::vector<double> values = Gains(predictions);
  for (const Requirement& requirement : requirements_) {
    const std::vector<Prediction> required = requirement.model->Predict(features);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double margin = Margin(requirement, required[i]);
      values[i] += Worth(requirement, numerics::LogNormalCdf(margin)).value;
    }
  }
  return values;
}

double Acquisition::ValueAndGradient(const Eigen::RowVectorXd& features,
                                     Eigen::RowVectorXd& gradient) const {
  std::vector<PredictionWithGradient> predicted;
  std::vector<Prediction> predictions;
  for (const Posterior* objective : objectives_) {
    predicted.push_back(objective->PredictWithGradient(features));
    predictions.push_back(predicted.back().value);
  }
  const LogHypervolumeGain gain = LogExpectedHypervolumeGainWithGradient(improvement_, predictions);
  gradient.setZero(features.size());
  for (std::size_t j = 0; j < predicted.size(); ++j) {
    gradient += gain.by_mean[j] * predicted[j].mean_gradient +
                gain.by_variance[j] * predicted[j].variance_gradient;
  }
  double value = gain.value;
  for (const Requirement& requirement : requirements_) {
    const PredictionWithGradient p = requirement.model->PredictWithGradient(features);
    const double deviation = Deviation(requirement, p.value);
    const double distance = p.value.mean - requirement.least;
    const numerics::LogCdf met = Worth(requirement, numerics::LogNormalCdf(distance / deviation));
    value += met.value;
    // The argument is distance / sqrt(variance): chain rule through both.
    gradient +=
        met.slope * (p.mean_gradient / deviation -
                     (0.5 * distance / (deviation * deviation * deviation)) * p.variance_gradient);
  }
  return value;
}

}  // namespace vernier::gp
