// Real training of small models on small made tables: what a study's objective looks like when nobody designed it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Eigen/Dense"
#include "benchmarks/quality/functions.h"

namespace vernier::quality {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct Table {
  Matrix x, x_held;
  Vector y, y_held;
};

// Points in `d` dimensions, the label a noisy bent surface over the first three; the scales of columns differ widely.
Table MakeTable(std::uint64_t seed, int rows, int d, bool classes) {
  Rng rng(seed);
  const auto draw = [&](Matrix& x, Vector& y) {
    x.resize(rows, d);
    y.resize(rows);
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < d; ++k) x(i, k) = rng.Normal();
      const double s =
          std::sin(2 * x(i, 0)) + 0.7 * x(i, 1) * x(i, 2) - 0.5 * x(i, 1) + 0.3 * rng.Normal();
      y[i] = classes ? (s > 0 ? 1 : -1) : s;
      for (int k = 0; k < d; ++k) x(i, k) *= 1 + 0.5 * k;
    }
  };
  Table t;
  draw(t.x, t.y);
  draw(t.x_held, t.y_held);
  return t;
}

// Squared distances between the rows.
Matrix Squares(const Matrix& a, const Matrix& b) {
  Matrix s = -2 * a * b.transpose();
  s.colwise() += a.rowwise().squaredNorm();
  s.rowwise() += b.rowwise().squaredNorm().transpose();
  return s.cwiseMax(0);
}

// Kernel ridge regression: ln of the held-out mean squared error.
double KernelRidge(const Table& t, const Point& p) {
  const std::string kernel = Choice(p, "kernel");
  const double ridge = Number(p, "ridge");
  const auto map = [&](const Matrix& a, const Matrix& b) -> Matrix {
    if (kernel == "polynomial") {
      const double degree = Number(p, "degree");
      return ((a * b.transpose()).array() / static_cast<double>(a.cols()) + Number(p, "offset"))
          .abs()
          .max(1e-9)
          .pow(degree)
          .matrix();
    }
    const double gamma = Number(p, "gamma");
    const Matrix s = Squares(a, b);
    if (kernel == "rbf") return (-gamma * s.array()).exp().matrix();
    return (-(gamma * s.array()).sqrt()).exp().matrix();
  };
  Matrix k = map(t.x, t.x);
  k.diagonal().array() += ridge;
  const Vector alpha = k.ldlt().solve(t.y);
  const double error =
      (map(t.x_held, t.x) * alpha - t.y_held).squaredNorm() / static_cast<double>(t.y.size());
  return std::log(std::isfinite(error) ? std::min(error, 1e6) : 1e6);
}

// A network of one hidden layer trained by stochastic gradient descent: the held-out logistic loss.
double Network(const Table& t, const Point& p) {
  const int hidden = static_cast<int>(Number(p, "hidden"));
  const double rate = Number(p, "rate");
  const double momentum = Number(p, "momentum");
  const double decay = Number(p, "decay");
  const int batch = static_cast<int>(Number(p, "batch"));
  const bool tanh = Choice(p, "activation") == "tanh";
  Rng rng(7);
  Matrix w(t.x.cols(), hidden);
  for (Eigen::Index i = 0; i < w.size(); ++i) w.data()[i] = rng.Normal() / std::sqrt(t.x.cols());
  Vector v(hidden);
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = rng.Normal() / std::sqrt(hidden);
  Matrix mw = Matrix::Zero(w.rows(), w.cols());
  Vector mv = Vector::Zero(v.size());
  const auto act = [tanh](const Matrix& a) -> Matrix {
    return tanh ? Matrix(a.array().tanh()) : Matrix(a.cwiseMax(0));
  };
  const int steps = 240;
  for (int step = 0; step < steps; ++step) {
    const Eigen::Index first = (static_cast<Eigen::Index>(step) * batch) % (t.x.rows() - batch + 1);
    const Matrix x = t.x.middleRows(first, batch);
    const Vector y = t.y.segment(first, batch);
    const Matrix a = x * w;
    const Matrix h = act(a);
    const Vector margin = (h * v).cwiseProduct(y);
    const Vector g = (-y.array() / (1 + margin.array().min(50).max(-50).exp())).matrix() / batch;
    const Matrix slope =
        tanh ? Matrix(1 - h.array().square()) : Matrix((a.array() > 0).cast<double>());
    const Matrix back = (g * v.transpose()).cwiseProduct(slope);
    mv = momentum * mv - rate * (h.transpose() * g + decay * v);
    mw = momentum * mw - rate * (x.transpose() * back + decay * w);
    v += mv;
    w += mw;
  }
  const Vector margin = (act(t.x_held * w) * v).cwiseProduct(t.y_held);
  const double loss = (1 + (-margin.array().min(50).max(-50)).exp()).log().mean();
  return std::isfinite(loss) ? std::min(loss, 20.0) : 20.0;
}

// Gradient boosting of stumps and small trees, held-out error on a made table.
double Boosting(const Table& t, const Point& p) {
  const int rounds = static_cast<int>(Number(p, "rounds"));
  const double rate = Number(p, "rate");
  const auto leaf = static_cast<Eigen::Index>(Number(p, "leaf"));
  const double columns = Number(p, "columns");
  Rng rng(11);
  Vector f = Vector::Zero(t.y.size());
  Vector g = Vector::Zero(t.y.size());
  std::vector<std::vector<Eigen::Index>> order(static_cast<std::size_t>(t.x.cols()));
  for (Eigen::Index k = 0; k < t.x.cols(); ++k) {
    auto& o = order[static_cast<std::size_t>(k)];
    o.resize(static_cast<std::size_t>(t.x.rows()));
    for (std::size_t i = 0; i < o.size(); ++i) o[i] = static_cast<Eigen::Index>(i);
    std::sort(o.begin(), o.end(), [&](auto a, auto b) { return t.x(a, k) < t.x(b, k); });
  }
  const auto n = t.y.size();
  for (int round = 0; round < rounds; ++round) {
    const Vector residual = t.y - f;
    const double total = residual.sum();
    double best = -1, cut = 0, low = 0, high = 0;
    Eigen::Index column = 0;
    for (Eigen::Index k = 0; k < t.x.cols(); ++k) {
      if (rng.Uniform() > columns && k + 1 < t.x.cols()) continue;
      double left = 0;
      const auto& o = order[static_cast<std::size_t>(k)];
      for (Eigen::Index i = 0; i + 1 < n; ++i) {
        left += residual[o[static_cast<std::size_t>(i)]];
        if (i + 1 < leaf || n - i - 1 < leaf) continue;
        const double a = left / static_cast<double>(i + 1);
        const double b = (total - left) / static_cast<double>(n - i - 1);
        const double gain = a * left + b * (total - left);
        if (gain > best) {
          best = gain;
          column = k;
          low = a;
          high = b;
          cut = 0.5 * (t.x(o[static_cast<std::size_t>(i)], k) +
                       t.x(o[static_cast<std::size_t>(i + 1)], k));
        }
      }
    }
    if (best < 0) break;
    for (Eigen::Index i = 0; i < n; ++i) {
      f[i] += rate * (t.x(i, column) < cut ? low : high);
      g[i] += rate * (t.x_held(i, column) < cut ? low : high);
    }
  }
  return (g - t.y_held).squaredNorm() / static_cast<double>(n);
}

}  // namespace

void AddTraining(std::vector<Function>& functions) {
  const auto text = [](const char* s) { return ParameterValue(std::string(s)); };
  // `least`: just below the least value that thousands of runs found.
  const auto add = [&](const char* name,
                       double least,
                       const std::shared_ptr<const Table>& table,
                       double (*f)(const Table&, const Point&),
                       std::vector<Parameter> parameters) {
    functions.push_back({name,
                         "training",
                         Space::Create(std::move(parameters)).value(),
                         [table, f, least](const Point& p) { return f(*table, p) - least; }});
  };
  add("kernel_ridge",
      -0.6300,
      std::make_shared<const Table>(MakeTable(31, 60, 5, false)),
      KernelRidge,
      {{.name = "kernel",
        .domain = CategoricalDomain{{text("polynomial"), text("laplace"), text("rbf")}}},
       {.name = "ridge", .domain = FloatDomain{.lower = 1e-6, .upper = 1e3, .scale = Scale::kLog}},
       {.name = "gamma",
        .domain = FloatDomain{.lower = 1e-5, .upper = 1e2, .scale = Scale::kLog},
        .when = {{.parent = "kernel", .values = {text("laplace"), text("rbf")}}}},
       {.name = "degree",
        .domain = IntDomain{.lower = 1, .upper = 6},
        .when = {{.parent = "kernel", .values = {text("polynomial")}}}},
       {.name = "offset",
        .domain = FloatDomain{.lower = 0, .upper = 3},
        .when = {{.parent = "kernel", .values = {text("polynomial")}}}}});
  add("network",
      0.4840,
      std::make_shared<const Table>(MakeTable(32, 160, 6, true)),
      Network,
      {{.name = "rate", .domain = FloatDomain{.lower = 1e-5, .upper = 10, .scale = Scale::kLog}},
       {.name = "momentum", .domain = FloatDomain{.lower = 0, .upper = 0.99}},
       {.name = "decay", .domain = FloatDomain{.lower = 1e-6, .upper = 1, .scale = Scale::kLog}},
       {.name = "hidden", .domain = IntDomain{.lower = 2, .upper = 32, .scale = Scale::kLog}},
       {.name = "batch", .domain = DiscreteDomain{{4, 8, 16, 32}}},
       {.name = "activation", .domain = CategoricalDomain{{text("relu"), text("tanh")}}}});
  add("boosting",
      0.8750,
      std::make_shared<const Table>(MakeTable(33, 80, 5, false)),
      Boosting,
      {{.name = "rounds", .domain = IntDomain{.lower = 1, .upper = 150, .scale = Scale::kLog}},
       {.name = "rate", .domain = FloatDomain{.lower = 5e-3, .upper = 2, .scale = Scale::kLog}},
       {.name = "leaf", .domain = IntDomain{.lower = 1, .upper = 40}},
       {.name = "columns", .domain = FloatDomain{.lower = 0.05, .upper = 1}}});
}

}  // namespace vernier::quality
