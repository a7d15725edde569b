// Which local search to use where: our projected L-BFGS against three of NLopt's, on the two jobs that a suggestion has
// for one. Counters: `evaluations` of value and gradient, and `excess`, by how much the value found is above the best
// that any of the four found on that problem; both are means over the problems. docs/adr/0010 draws the conclusion.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "algorithms/numerics/minimize.h"
#include "benchmark/benchmark.h"
#include "vernier/core/rng.h"

namespace vernier::gp {
namespace {

using numerics::Box;
using numerics::Minimum;
using numerics::NloptAlgorithm;
using numerics::SmoothFunction;
using numerics::StopRule;

struct Searcher {
  std::string name;
  std::function<Minimum(SmoothFunction, std::span<const double>, const Box&, const StopRule&)> run;
};

Searcher Native(std::string name, NloptAlgorithm algorithm) {
  return {std::move(name), [algorithm](auto f, auto start, const auto& box, const auto& rule) {
            return numerics::MinimizeNlopt(algorithm, f, start, box, rule);
          }};
}

const std::array<Searcher, 4>& Searchers() {
  static const auto* const kSearchers =
      new std::array<Searcher, 4>{Searcher{"ours", numerics::MinimizeLbfgs},
                                  Native("nlopt_slsqp", NloptAlgorithm::kSlsqp),
                                  Native("nlopt_lbfgs", NloptAlgorithm::kLbfgs),
                                  Native("nlopt_mma", NloptAlgorithm::kMma)};
  return *kSearchers;
}

// A table of trials of a function with unequal axes and a ripple, values standardised.
struct Table {
  Eigen::MatrixXd points;
  Eigen::VectorXd values;
  std::vector<int> groups;
};

Table MakeTable(Eigen::Index n, Eigen::Index d, std::uint64_t seed) {
  Rng rng(seed);
  Table table{.points = Eigen::MatrixXd(n, d), .values = Eigen::VectorXd::Zero(n), .groups = {}};
  for (double& coordinate : table.points.reshaped()) coordinate = rng.Uniform();
  for (Eigen::Index k = 0; k < d; ++k) {
    table.groups.push_back(static_cast<int>(k));
    const Eigen::ArrayXd away = table.points.col(k).array() - (0.2 + 0.6 * rng.Uniform());
    table.values.array() -= away.square() / static_cast<double>(k + 1) + 0.05 * (9.0 * away).cos();
  }
  for (double& value : table.values) value += 0.01 * rng.Normal();
  table.values.array() -= table.values.mean();
  table.values /= std::sqrt(table.values.squaredNorm() / static_cast<double>(n));
  return table;
}

// One search to be made, ready to be repeated.
struct Job {
  std::function<double(std::span<const double>, std::span<double>)> f;
  std::vector<double> start;
  Box box;
  StopRule rule;
  double best = std::numeric_limits<double>::infinity();  // That any searcher finds.
};

Minimum RunJob(const Searcher& searcher, const Job& job) {
  return searcher.run(job.f, job.start, job.box, job.rule);
}

void FindBest(std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    for (const Searcher& searcher : Searchers()) {
      job.best = std::min(job.best, RunJob(searcher, job).value);
    }
  }
}

void Measure(benchmark::State& state, const Searcher& searcher, const std::vector<Job>& jobs) {
  double evaluations = 0;
  double excess = 0;
  std::int64_t runs = 0;
  for ([[maybe_unused]] auto _ : state) {
    for (const Job& job : jobs) {
      const Minimum found = RunJob(searcher, job);
      evaluations += found.evaluations;
      excess += found.value - job.best;
      ++runs;
    }
  }
  state.SetItemsProcessed(runs);
  state.counters["evaluations"] = evaluations / static_cast<double>(runs);
  state.counters["excess"] = excess / static_cast<double>(runs);
}

// Hyperparameters from the prior's mode, as in a first fit.
std::vector<Job> FitJobs(Eigen::Index n, Eigen::Index d, std::vector<Table>& tables) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) tables.push_back(MakeTable(n, d, seed));
  const Prior prior;
  std::vector<Job> jobs;
  for (const Table& table : tables) {
    const std::size_t size = Hyperparameters::PackedSize(static_cast<std::size_t>(d));
    Job job{.start = prior.Mode(static_cast<int>(d)).Pack(),
            .box = {.lower = std::vector<double>(size, std::log(prior.min_length_scale)),
                    .upper = std::vector<double>(size, std::log(prior.max_length_scale))},
            .rule = {.max_evaluations = 60, .value_tolerance = 1e-5, .gradient_tolerance = 1e-2}};
    job.box.lower[size - 3] = std::log(prior.min_signal);
    job.box.upper[size - 3] = std::log(prior.max_signal);
    job.box.lower[size - 2] = std::log(prior.min_main);
    job.box.upper[size - 2] = std::log(prior.max_main);
    job.box.lower[size - 1] = std::log(prior.min_noise);
    job.box.upper[size - 1] = std::log(prior.max_noise);
    job.f = [objective = NegativeLogPosterior(table.points, table.groups, table.values, prior)](
                auto theta, auto gradient) mutable { return objective(theta, gradient); };
    jobs.push_back(std::move(job));
  }
  FindBest(jobs);
  return jobs;
}

// The acquisition's maximum from points drawn at random.
std::vector<Job> AcquisitionJobs(const std::vector<Posterior>& posteriors, Eigen::Index d) {
  Rng rng(99);
  std::vector<Job> jobs;
  for (const Posterior& posterior : posteriors) {
    for (int i = 0; i < 4; ++i) {
      Job job{.start = std::vector<double>(static_cast<std::size_t>(d)),
              .box = {.lower = std::vector<double>(static_cast<std::size_t>(d), 0.0),
                      .upper = std::vector<double>(static_cast<std::size_t>(d), 1.0)},
              .rule = {.max_evaluations = 60}};
      for (double& coordinate : job.start) coordinate = rng.Uniform();
      job.f = [&posterior](std::span<const double> x, std::span<double> gradient) {
        const Acquisition acquisition(
            {&posterior}, Decompose({}, {posterior.fitted().maxCoeff()}), {});
        const auto size = static_cast<Eigen::Index>(x.size());
        Eigen::RowVectorXd slope;
        const double value = acquisition.ValueAndGradient(
            Eigen::Map<const Eigen::RowVectorXd>(x.data(), size), slope);
        for (std::size_t k = 0; k < x.size(); ++k)
          gradient[k] = -slope[static_cast<Eigen::Index>(k)];
        return -value;
      };
      jobs.push_back(std::move(job));
    }
  }
  FindBest(jobs);
  return jobs;
}

std::vector<Posterior> FittedPosteriors(Eigen::Index n, Eigen::Index d) {
  std::vector<Posterior> posteriors;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Table table = MakeTable(n, d, seed);
    Hyperparameters h{.log_length_scales = {}, .log_noise = std::log(1e-4)};
    for (Eigen::Index k = 0; k < d; ++k) {
      h.log_length_scales.push_back(std::log(0.4 + 0.1 * static_cast<double>(k)));
    }
    posteriors.push_back(Posterior::Create(table.points, table.values, h, table.groups).value());
  }
  return posteriors;
}

void Fit(benchmark::State& state, const Searcher& searcher) {
  std::vector<Table> tables;
  const std::vector<Job> jobs = FitJobs(state.range(0), state.range(1), tables);
  Measure(state, searcher, jobs);
}

void Acquire(benchmark::State& state, const Searcher& searcher) {
  const std::vector<Posterior> posteriors = FittedPosteriors(state.range(0), state.range(1));
  Measure(state, searcher, AcquisitionJobs(posteriors, state.range(1)));
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Searcher& searcher : Searchers()) {
    const auto fit = [&searcher](benchmark::State& state) { Fit(state, searcher); };
    benchmark::RegisterBenchmark(("Fit/" + searcher.name).c_str(), fit)
        ->ArgNames({"n", "d"})
        ->Args({20, 4})
        ->Args({50, 10})
        ->Args({100, 10})
        ->Unit(benchmark::kMillisecond);
    const auto acquire = [&searcher](benchmark::State& state) { Acquire(state, searcher); };
    benchmark::RegisterBenchmark(("Acquire/" + searcher.name).c_str(), acquire)
        ->ArgNames({"n", "d"})
        ->Args({20, 4})
        ->Args({50, 10})
        ->Args({100, 10})
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace vernier::gp
