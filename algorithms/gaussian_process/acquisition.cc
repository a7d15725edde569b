#include "algorithms/gaussian_process/acquisition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "algorithms/numerics/normal.h"

namespace vernier::gp {
namespace {

// Of labels that are their mean: never be surer of a failure than Phi(-1 / sqrt(0.02)), one in 10^12.
constexpr double kLabelNoise = 0.02;

double LogEi(double mean, double variance, double incumbent) {
  const double deviation = std::sqrt(variance);
  return numerics::LogExpectedImprovement((mean - incumbent) / deviation).value +
         std::log(deviation);
}

double LabelDeviation(double variance) { return std::sqrt(variance + kLabelNoise); }

}  // namespace

Acquisition::Acquisition(const Posterior& objective, double incumbent, const Posterior* success)
    : objective_(objective), incumbent_(incumbent), success_(success) {}

std::vector<double> Acquisition::OptimisticValues(const Eigen::MatrixXd& features) const {
  const Eigen::VectorXd means = objective_.Means(features);
  std::vector<double> values(static_cast<std::size_t>(means.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = LogEi(means[static_cast<Eigen::Index>(i)], objective_.signal(), incumbent_);
  }
  return values;
}

std::vector<double> Acquisition::Values(const Eigen::MatrixXd& features) const {
  const std::vector<Prediction> predictions = objective_.Predict(features);
  std::vector<double> values(predictions.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = LogEi(predictions[i].mean, predictions[i].variance, incumbent_);
  }
  if (success_ != nullptr) {
    const std::vector<Prediction> labels = success_->Predict(features);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double deviation = LabelDeviation(labels[i].variance);
      values[i] += numerics::LogNormalCdf(labels[i].mean / deviation).value;
    }
  }
  return values;
}

double Acquisition::ValueAndGradient(const Eigen::RowVectorXd& features,
                                     Eigen::RowVectorXd& gradient) const {
  const PredictionWithGradient p = objective_.PredictWithGradient(features);
  const double deviation = std::sqrt(p.value.variance);
  const numerics::LogImprovement h =
      numerics::LogExpectedImprovement((p.value.mean - incumbent_) / deviation);
  gradient = (h.cdf_ratio / deviation) * p.mean_gradient +
             (0.5 * h.density_ratio / p.value.variance) * p.variance_gradient;
  double value = h.value + std::log(deviation);
  if (success_ != nullptr) {
    const PredictionWithGradient label = success_->PredictWithGradient(features);
    const double spread = LabelDeviation(label.value.variance);
    const numerics::LogCdf ok = numerics::LogNormalCdf(label.value.mean / spread);
    value += ok.value;
    gradient += ok.slope *
                (label.mean_gradient / spread -
                 (0.5 * label.value.mean / (spread * spread * spread)) * label.variance_gradient);
  }
  return value;
}

}  // namespace vernier::gp
