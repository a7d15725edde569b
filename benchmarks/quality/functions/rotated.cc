// Functions after the definitions of the BBOB 2009 test bed (Hansen, Finck, Ros and Auger, RR-6829), with rotations and
// optima of our own, on [-5, 5]^d.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "Eigen/Dense"
#include "benchmarks/quality/functions.h"

namespace vernier::quality {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
constexpr double kPi = std::numbers::pi;

Matrix Rotation(Rng& rng, int d) {
  Matrix m(d, d);
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) m(i, j) = rng.Normal();
  }
  return Eigen::HouseholderQR<Matrix>(m).householderQ();
}

Vector Uniform(Rng& rng, int d, double lower, double upper) {
  Vector v(d);
  for (int i = 0; i < d; ++i) v[i] = lower + (upper - lower) * rng.Uniform();
  return v;
}

double Share(int i, int d) { return d > 1 ? static_cast<double>(i) / (d - 1) : 0.0; }

double Oscillate(double x) {
  if (x == 0) return 0;
  const double h = std::log(std::abs(x));
  const double a = x > 0 ? 10 : 5.5;
  const double b = x > 0 ? 7.9 : 3.1;
  return std::copysign(std::exp(h + 0.049 * (std::sin(a * h) + std::sin(b * h))), x);
}

struct Instance {
  int d;
  Matrix r;
  Matrix q;
  Vector optimum;
  Vector signs;
};

Instance Make(std::uint64_t seed, int d) {
  Rng rng(seed);
  Instance in{.d = d,
              .r = Rotation(rng, d),
              .q = Rotation(rng, d),
              .optimum = Uniform(rng, d, -4, 4),
              .signs = Vector(d)};
  for (int i = 0; i < d; ++i) in.signs[i] = rng.Uniform() < 0.5 ? -1 : 1;
  return in;
}

using Raw = double (*)(const Instance&, const Vector&);

double AttractiveSector(const Instance& in, const Vector& x) {
  Vector z = in.r * (x - in.optimum);
  for (int i = 0; i < in.d; ++i) z[i] *= std::pow(10, 0.5 * Share(i, in.d));
  z = in.q * z;
  double sum = 0;
  for (int i = 0; i < in.d; ++i) {
    const double s = z[i] * in.optimum[i] > 0 ? 100 : 1;
    sum += std::pow(s * z[i], 2);
  }
  return std::pow(Oscillate(sum), 0.9);
}

double StepEllipsoid(const Instance& in, const Vector& x) {
  Vector z = in.r * (x - in.optimum);
  for (int i = 0; i < in.d; ++i) z[i] *= std::pow(10, 0.5 * Share(i, in.d));
  const double first = std::abs(z[0]) / 1e4;
  for (int i = 0; i < in.d; ++i) {
    z[i] = std::abs(z[i]) > 0.5 ? std::floor(0.5 + z[i]) : std::floor(0.5 + 10 * z[i]) / 10;
  }
  z = in.q * z;
  double sum = 0;
  for (int i = 0; i < in.d; ++i) sum += std::pow(100, Share(i, in.d)) * z[i] * z[i];
  return 0.1 * std::max(first, sum);
}

double RosenbrockRotated(const Instance& in, const Vector& x) {
  const Vector z =
      std::max(1.0, std::sqrt(in.d) / 8) * (in.r * (x - in.optimum)) + Vector::Ones(in.d);
  double sum = 0;
  for (int i = 0; i + 1 < in.d; ++i) {
    sum += 100 * std::pow(z[i] * z[i] - z[i + 1], 2) + std::pow(z[i] - 1, 2);
  }
  return sum;
}

double Discus(const Instance& in, const Vector& x) {
  const Vector z = in.r * (x - in.optimum);
  double sum = 1e4 * std::pow(Oscillate(z[0]), 2);
  for (int i = 1; i < in.d; ++i) sum += std::pow(Oscillate(z[i]), 2);
  return sum;
}

double SharpRidge(const Instance& in, const Vector& x) {
  Vector z = in.r * (x - in.optimum);
  for (int i = 0; i < in.d; ++i) z[i] *= std::pow(10, 0.5 * Share(i, in.d));
  z = in.q * z;
  return z[0] * z[0] + 100 * z.tail(in.d - 1).norm();
}

double DifferentPowers(const Instance& in, const Vector& x) {
  const Vector z = in.r * (x - in.optimum);
  double sum = 0;
  for (int i = 0; i < in.d; ++i) sum += std::pow(std::abs(z[i]), 2 + 4 * Share(i, in.d));
  return std::sqrt(sum);
}

double RastriginRotated(const Instance& in, const Vector& x) {
  Vector z = in.r * (x - in.optimum);
  for (int i = 0; i < in.d; ++i) z[i] = Oscillate(z[i]);
  z = in.q * z;
  for (int i = 0; i < in.d; ++i) z[i] *= std::pow(10, 0.5 * Share(i, in.d));
  z = in.r * z;
  double sum = 10.0 * in.d + z.squaredNorm();
  for (int i = 0; i < in.d; ++i) sum -= 10 * std::cos(2 * kPi * z[i]);
  return sum;
}

double Weierstrass(const Instance& in, const Vector& x) {
  const Vector z = in.r * (x - in.optimum);
  double sum = 0;
  double least = 0;
  for (int k = 0; k < 12; ++k) {
    const double a = std::pow(0.5, k);
    const double b = std::pow(3.0, k);
    least += a * std::cos(kPi * b);
    for (int i = 0; i < in.d; ++i) sum += a * std::cos(2 * kPi * b * (z[i] / 10 + 0.5));
  }
  return 10 * std::pow(sum / in.d - least, 3);
}

// Schwefel's function, its best optimum near a corner that the signs choose.
double Schwefel(const Instance& in, const Vector& x) {
  double sum = 0;
  double outside = 0;
  for (int i = 0; i < in.d; ++i) {
    const double z = 100 * in.signs[i] * x[i];
    const double inside = std::clamp(z, -500.0, 500.0);
    sum += inside * std::sin(std::sqrt(std::abs(inside)));
    outside += std::pow(z - inside, 2);
  }
  return 418.98288727243369 - sum / in.d + outside;
}

double Lunacek(const Instance& in, const Vector& x) {
  constexpr double kMu = 2.5;
  const double s = 1 - 1 / (2 * std::sqrt(in.d + 20.0) - 8.2);
  const double other = -std::sqrt((kMu * kMu - 1) / s);
  double first = 0;
  double second = 0;
  Vector centred(in.d);
  for (int i = 0; i < in.d; ++i) {
    const double at = 2 * in.signs[i] * x[i];
    first += std::pow(at - kMu, 2);
    second += std::pow(at - other, 2);
    centred[i] = at - kMu;
  }
  Vector z = in.q * (in.r * centred);
  double ripple = in.d;
  for (int i = 0; i < in.d; ++i) ripple -= std::cos(2 * kPi * z[i]);
  return std::min(first, in.d + s * second) + 10 * ripple;
}

// Gallagher's peaks: of `count` Gaussian bumps, the highest is 10 high.
std::function<double(const Vector&)> Gallagher(std::uint64_t seed, int d, int count) {
  Rng rng(seed);
  const Matrix r = Rotation(rng, d);
  std::vector<Vector> centres;
  std::vector<Vector> scales;
  std::vector<double> heights;
  for (int k = 0; k < count; ++k) {
    centres.push_back(Uniform(rng, d, -4.5, 4.5));
    const double a = k == 0 ? 1000 : std::pow(1000.0, 2.0 * rng.Uniform());
    Vector c(d);
    for (int i = 0; i < d; ++i) c[i] = std::pow(a, 0.5 * rng.Uniform()) / std::pow(a, 0.25);
    scales.push_back(c);
    heights.push_back(k == 0 ? 10 : 1.1 + 8.0 * (k - 1) / (count - 2));
  }
  return [=](const Vector& x) {
    double best = 0;
    for (int k = 0; k < count; ++k) {
      const Vector z = r * (x - centres[k]);
      best = std::max(best, heights[k] * std::exp(-(z.cwiseAbs2().dot(scales[k])) / (2 * d)));
    }
    return std::pow(10 - best, 2);
  };
}

}  // namespace

void AddRotated(std::vector<Function>& functions) {
  const auto add = [&](const char* name, int d, std::uint64_t seed, Raw f) {
    auto instance = std::make_shared<const Instance>(Make(seed, d));
    functions.push_back({name, "rotated", Box(d, -5, 5), [instance, f, d](const Point& p) {
                           const std::vector<double> x = Coordinates(p, d);
                           return f(*instance, Eigen::Map<const Vector>(x.data(), d));
                         }});
  };
  add("attractive_sector5", 5, 101, AttractiveSector);
  add("step_ellipsoid6", 6, 102, StepEllipsoid);
  add("rosenbrock_rotated8", 8, 103, RosenbrockRotated);
  add("discus5", 5, 104, Discus);
  add("sharp_ridge7", 7, 105, SharpRidge);
  add("different_powers12", 12, 106, DifferentPowers);
  add("rastrigin_rotated4", 4, 107, RastriginRotated);
  add("weierstrass3", 3, 108, Weierstrass);
  add("schwefel4", 4, 109, Schwefel);
  add("lunacek5", 5, 110, Lunacek);
  add("powers_sphere20", 20, 111, [](const Instance& in, const Vector& x) {
    return std::pow((x - in.optimum).squaredNorm(), 0.8);
  });
  for (const int d : {2, 4}) {
    auto f = Gallagher(std::uint64_t{120} + static_cast<std::uint64_t>(d), d, 21);
    functions.push_back(
        {"gallagher" + std::to_string(d), "rotated", Box(d, -5, 5), [f, d](const Point& p) {
           const std::vector<double> x = Coordinates(p, d);
           return f(Eigen::Map<const Vector>(x.data(), d));
         }});
  }
}

}  // namespace vernier::quality
