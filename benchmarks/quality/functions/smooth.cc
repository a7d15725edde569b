// Classical test functions of few dimensions, moved so that no optimum lies at the middle.

#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/quality/functions.h"

namespace vernier::quality {
namespace {

constexpr double kPi = std::numbers::pi;

// Branin and Hoo (1972), on [-5, 10] x [0, 15], turned by a tenth of the first range.
double Branin(const std::vector<double>& u) {
  const double x = 15.0 * std::fmod(u[0] + 0.1, 1.0) - 5.0;
  const double y = 15.0 * u[1];
  const double t = y - 5.1 / (4 * kPi * kPi) * x * x + 5 / kPi * x - 6;
  return t * t + 10 * (1 - 1 / (8 * kPi)) * std::cos(x) + 10 - 0.39788735772973816;
}

// The six-hump camel function (Dixon and Szego, 1978).
double Camel(const std::vector<double>& v) {
  const double x = v[0];
  const double y = v[1] / 2;
  return (4 - 2.1 * x * x + x * x * x * x / 3) * x * x + x * y + (-4 + 4 * y * y) * y * y +
         1.0316284534898774;
}

// Hartmann's functions in three and six dimensions (Dixon and Szego, 1978).
constexpr double kHartmannHeight[4] = {1.0, 1.2, 3.0, 3.2};

double Hartmann3(const std::vector<double>& x) {
  constexpr double kA[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
  constexpr double kP[4][3] = {{0.3689, 0.1170, 0.2673},
                               {0.4699, 0.4387, 0.7470},
                               {0.1091, 0.8732, 0.5547},
                               {0.0381, 0.5743, 0.8828}};
  double value = 3.86278214782076;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int k = 0; k < 3; ++k) exponent += kA[i][k] * std::pow(x[k] - kP[i][k], 2);
    value -= kHartmannHeight[i] * std::exp(-exponent);
  }
  return value;
}

double Hartmann6(const std::vector<double>& x) {
  constexpr double kA[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                               {0.05, 10, 17, 0.1, 8, 14},
                               {3, 3.5, 1.7, 10, 17, 8},
                               {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kP[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                               {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                               {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                               {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double value = 3.322368011415515;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int k = 0; k < 6; ++k) exponent += kA[i][k] * std::pow(x[k] - kP[i][k], 2);
    value -= kHartmannHeight[i] * std::exp(-exponent);
  }
  return value;
}

// Shekel's foxholes with five terms (Dixon and Szego, 1978).
double Shekel5(const std::vector<double>& x) {
  constexpr double kC[5][4] = {
      {4, 4, 4, 4}, {1, 1, 1, 1}, {8, 8, 8, 8}, {6, 6, 6, 6}, {3, 7, 3, 7}};
  constexpr double kB[5] = {0.1, 0.2, 0.2, 0.4, 0.4};
  double value = 10.153199679058231;
  for (int i = 0; i < 5; ++i) {
    double distance = kB[i];
    for (int k = 0; k < 4; ++k) distance += std::pow(x[k] - kC[i][k], 2);
    value -= 1 / distance;
  }
  return value;
}

// Levy's function (1973), moved by 1.7 in every coordinate.
double Levy(const std::vector<double>& x) {
  const auto w = [&x](std::size_t i) { return 1 + (x[i] - 2.7) / 4; };
  const std::size_t last = x.size() - 1;
  double value = std::pow(std::sin(kPi * w(0)), 2);
  for (std::size_t i = 0; i < last; ++i) {
    value += std::pow(w(i) - 1, 2) * (1 + 10 * std::pow(std::sin(kPi * w(i) + 1), 2));
  }
  return value + std::pow(w(last) - 1, 2) * (1 + std::pow(std::sin(2 * kPi * w(last)), 2));
}

double StyblinskiTang(const std::vector<double>& x) {
  double value = 0;
  for (const double v : x) value += 0.5 * (std::pow(v, 4) - 16 * v * v + 5 * v) + 39.16616570377142;
  return value;
}

// Griewank's function (1981) around a point off the middle.
double Griewank(const std::vector<double>& x) {
  double squares = 0;
  double product = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double z = x[i] - 7.0 + 3.0 * static_cast<double>(i);
    squares += z * z / 4000;
    product *= std::cos(z / std::sqrt(static_cast<double>(i + 1)));
  }
  return squares - product + 1;
}

double AckleyAt(const std::vector<double>& z) {
  double squares = 0;
  double cosines = 0;
  for (const double v : z) {
    squares += v * v / static_cast<double>(z.size());
    cosines += std::cos(2 * kPi * v) / static_cast<double>(z.size());
  }
  return 20 + std::numbers::e - 20 * std::exp(-0.2 * std::sqrt(squares)) - std::exp(cosines);
}

// Loss of a training run as a learning rate (log), a decay (log), a momentum and a width change it: a valley that bends,
// and a cliff beyond which training diverges.
double Valley(const Point& p) {
  const double rate = std::log10(Number(p, "rate"));
  const double momentum = Number(p, "momentum");
  const double effective = rate - std::log10(1.01 - momentum);
  const double decay = std::log10(Number(p, "decay"));
  const double width = std::log2(Number(p, "width"));
  const double low = std::pow((effective + 1.7) / 1.5, 2);
  const double cliff = effective > -1.0 ? 3.0 * (effective + 1.0) : 0.0;
  const double regular = 0.15 * std::pow((decay + 4.0 - 0.3 * (width - 8)) / 2, 2);
  return std::log1p(low + cliff + regular + 0.1 * std::pow((width - 8.3) / 3, 2));
}

}  // namespace

void AddSmooth(std::vector<Function>& functions) {
  const auto add = [&](const char* name, int d, double lower, double upper, auto f) {
    functions.push_back({name, "smooth", Box(d, lower, upper), [f, d](const Point& p) {
                           return f(Coordinates(p, d));
                         }});
  };
  add("branin", 2, 0, 1, Branin);
  add("camel", 2, -2, 2, Camel);
  add("hartmann3", 3, 0, 1, Hartmann3);
  add("hartmann6", 6, 0, 1, Hartmann6);
  add("shekel5", 4, 0, 10, Shekel5);
  add("levy6", 6, -10, 10, Levy);
  add("styblinski5", 5, -5, 5, StyblinskiTang);
  add("griewank4", 4, -60, 40, Griewank);
  add("ackley6", 6, -20, 30, [](std::vector<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 3.1 * static_cast<double>(i) - 11.0;
    return AckleyAt(x);
  });
  std::vector<Parameter> logs;
  for (int k = 0; k < 4; ++k) {
    logs.push_back({.name = "x" + std::to_string(k),
                    .domain = FloatDomain{.lower = 1e-5, .upper = 1, .scale = Scale::kLog}});
  }
  functions.push_back({"ackley_log4", "smooth", Space::Create(logs).value(), [](const Point& p) {
                         std::vector<double> x = Coordinates(p, 4);
                         for (double& v : x) v = 2.0 * (std::log10(v) + 2.3);
                         return AckleyAt(x);
                       }});
  functions.push_back(
      {"valley4",
       "smooth",
       Space::Create({{.name = "rate",
                       .domain = FloatDomain{.lower = 1e-5, .upper = 1, .scale = Scale::kLog}},
                      {.name = "momentum", .domain = FloatDomain{.lower = 0, .upper = 1}},
                      {.name = "decay",
                       .domain = FloatDomain{.lower = 1e-7, .upper = 1e-1, .scale = Scale::kLog}},
                      {.name = "width",
                       .domain = IntDomain{.lower = 16, .upper = 2048, .scale = Scale::kLog}}})
           .value(),
       Valley});
}

}  // namespace vernier::quality
