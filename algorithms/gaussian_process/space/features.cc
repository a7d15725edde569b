#include "algorithms/gaussian_process/space/features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <variant>

#include "vernier/core/rng.h"

// Maps rounded configurations to the columns that features.h describes. Constant parameters have no column, so they
// cost nothing and have no length scale. The signs of projected choices depend on the index alone: they are the same in
// every process, without anything stored.
namespace vernier::gp {
namespace {

// Arc of a conditional number: a quarter of a circle, the angle rho = 1/2 of the arc kernel. The radius gives steps
// along the arc the length that they have for an unconditional number: the ends are 0.90 apart, «inactive» is 0.64 from
// all.
constexpr double kArcAngle = std::numbers::pi / 2;
constexpr double kArcRadius = 1.0 / kArcAngle;

// Largest number of choices with a column each. A choice: more than lists of optimizers, layers or data sets have, and
// few enough columns to cost little.
constexpr std::int64_t kExactChoices = 64;
// One 64-bit random number gives all signs. The relative error of D^2 is about 1 / sqrt(columns) = 0.125.
constexpr int kProjectedColumns = 64;

// Signs of a choice, a bit for each column.
std::uint64_t SignsOf(std::int64_t choice) {
  return Rng(static_cast<std::uint64_t>(choice)).NextU64();
}

// Unevenness of the gaps between ascending values: the largest gap over the mean gap.
double Unevenness(const std::vector<double>& values) {
  double largest = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    largest = std::max(largest, values[i] - values[i - 1]);
  }
  return largest * static_cast<double>(values.size() - 1) / (values.back() - values.front());
}

// Positions in [0, 1] of listed numbers: linear in the values or in their logarithms, whichever has the more even gaps.
// [16, 32, 64] are meant as doublings, [10, 20, 30] are not, and the list itself has no scale that says so.
std::vector<double> ListedPositions(const std::vector<double>& values) {
  std::vector<double> positions = values;
  if (values.front() > 0) {
    std::vector<double> logs(values.size());
    std::transform(
        values.begin(), values.end(), logs.begin(), [](double v) { return std::log(v); });
    if (Unevenness(logs) < Unevenness(values)) positions = logs;
  }
  const double first = positions.front();
  const double range = positions.back() - first;
  for (double& position : positions) position = (position - first) / range;
  return positions;
}

}  // namespace

FeatureMap::FeatureMap(const CoordinateSpace& space) : space_(space) {
  for (int k = 0; k < space.size(); ++k) {
    if (space.kind(k) == Kind::kConstant) continue;
    Embedding embedding{.parameter = k, .first_column = columns(), .positions = {}};
    int width = 1;
    if (space.kind(k) == Kind::kCategorical) {
      embedding.is_projected = space.count(k) > kExactChoices;
      has_projected_ = has_projected_ || embedding.is_projected;
      width = embedding.is_projected ? kProjectedColumns : static_cast<int>(space.count(k));
    } else if (space.is_conditional(k)) {
      embedding.on_arc = true;
      width = 2;
    }
    const Domain& domain = space.space().parameters()[static_cast<std::size_t>(k)].domain;
    if (const auto* listed = std::get_if<DiscreteDomain>(&domain)) {
      embedding.positions = ListedPositions(listed->values);
    }
    group_of_column_.insert(group_of_column_.end(), static_cast<std::size_t>(width), groups());
    parameter_of_group_.push_back(k);
    embeddings_.push_back(std::move(embedding));
  }
}

double FeatureMap::PositionOf(const Embedding& embedding, double u) const {
  if (embedding.positions.empty()) return u;
  return embedding.positions[static_cast<std::size_t>(space_.IndexAt(embedding.parameter, u))];
}

void FeatureMap::Write(std::span<const double> u,
                       const std::vector<char>& active,
                       Eigen::Ref<Eigen::RowVectorXd> row) const {
  row.setZero();
  for (const Embedding& embedding : embeddings_) {
    const int k = embedding.parameter;
    if (!active[static_cast<std::size_t>(k)]) continue;
    const double coordinate = u[static_cast<std::size_t>(k)];
    if (embedding.is_projected) {
      const std::uint64_t signs = SignsOf(space_.IndexAt(k, coordinate));
      // Two patterns differ in half the columns on average: D^2 = 32 (2 size)^2 = 1.
      const double size = std::sqrt(0.5 / kProjectedColumns);
      for (int column = 0; column < kProjectedColumns; ++column) {
        row[embedding.first_column + column] = (signs >> column & 1) != 0 ? size : -size;
      }
    } else if (space_.kind(k) == Kind::kCategorical) {
      row[embedding.first_column + space_.IndexAt(k, coordinate)] = std::numbers::sqrt2 / 2;
    } else if (embedding.on_arc) {
      const double angle = kArcAngle * PositionOf(embedding, coordinate);
      row[embedding.first_column] = kArcRadius * std::cos(angle);
      row[embedding.first_column + 1] = kArcRadius * std::sin(angle);
    } else {
      row[embedding.first_column] = PositionOf(embedding, coordinate);
    }
  }
}

void FeatureMap::PullBack(std::span<const double> u,
                          const std::vector<char>& active,
                          const Eigen::RowVectorXd& feature_gradient,
                          std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (const Embedding& embedding : embeddings_) {
    const auto k = static_cast<std::size_t>(embedding.parameter);
    if (space_.kind(embedding.parameter) != Kind::kContinuous || !active[k]) continue;
    const int column = embedding.first_column;
    if (!embedding.on_arc) {
      gradient[k] = feature_gradient[column];
      continue;
    }
    // d (radius angle) / d u = 1, so the arc's tangent is a unit vector and needs no further factor.
    const double angle = kArcAngle * u[k];
    gradient[k] = -std::sin(angle) * feature_gradient[column] +
                  std::cos(angle) * feature_gradient[column + 1];
  }
}

Eigen::MatrixXd FeatureMap::Matrix(const std::vector<Coordinates>& configurations) const {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(configurations.size()), columns());
  std::vector<char> active;
  Eigen::RowVectorXd row(columns());
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    space_.Activity(configurations[i], active);
    Write(configurations[i], active, row);
    matrix.row(static_cast<Eigen::Index>(i)) = row;
  }
  return matrix;
}

}  // namespace vernier::gp
