#include "algorithms/gaussian_process/gp_optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "algorithms/gaussian_process/acquisition.h"
#include "algorithms/gaussian_process/acquisition_search.h"
#include "algorithms/gaussian_process/border_prior.h"
#include "algorithms/gaussian_process/coordinates.h"
#include "algorithms/gaussian_process/features.h"
#include "algorithms/gaussian_process/gp_state.h"
#include "algorithms/gaussian_process/history.h"
#include "algorithms/gaussian_process/initial_design.h"
#include "algorithms/gaussian_process/surrogate.h"
#include "algorithms/options.h"
#include "algorithms/sampling/draw.h"
#include "algorithms/sampling/taken_points.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

// Successes without which there is nothing to model.
constexpr std::size_t kLeastForModel = 2;
// Points nearer than this to a trial, in length scales, are repeats of it.
constexpr double kRepeatDistance = 1e-6;

struct Settings {
  std::size_t initial_points = 5;
  std::size_t max_points = 1000;
};

// What an optimiser knows of its problem before any trial.
struct Frame {
  explicit Frame(const Space& space) : coordinates(space), features(coordinates) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  gp::CoordinateSpace coordinates;
  gp::FeatureMap features;  // Refers to `coordinates`.
};

absl::Status WasCancelled() { return Cancelled("the suggestion was cancelled"); }

// A prediction of the model in the user's units. The warp is monotone, so that the deviation is that of its ends' images.
PredictedValue InUserUnits(const gp::Prediction& prediction,
                           const gp::TargetScale& scale,
                           Goal goal) {
  const double deviation = std::sqrt(prediction.variance);
  const double mean = scale.Backward(prediction.mean);
  return {.mean = goal == Goal::kMaximize ? mean : -mean,
          .deviation = 0.5 * (scale.Backward(prediction.mean + deviation) -
                              scale.Backward(prediction.mean - deviation))};
}

// One call of Suggest.
class Session {
 public:
  Session(const Frame& frame,
          const Settings& settings,
          Goal goal,
          std::span<const Observation> finished,
          std::span<const PendingPoint> pending,
          std::string_view state,
          Rng stream,
          std::shared_ptr<const gp::Remembered> known,
          std::stop_token stop)
      : frame_(frame),
        settings_(settings),
        goal_(goal),
        history_(gp::ReadHistory(frame.coordinates, goal, finished, pending)),
        state_(gp::ParseState(state, frame.features.groups())),
        taken_(frame.coordinates.space(), finished, pending),
        out_(finished.size() + pending.size()),
        rng_(stream),
        known_(std::move(known)),
        stop_(std::move(stop)) {
    if (!state_.design_seed) state_.design_seed = rng_.Fork(0).NextU64();
  }

  absl::StatusOr<Suggestions> Run(std::size_t count) {
    Suggestions suggestions;
    while (suggestions.points.size() < count) {
      if (stop_.stop_requested()) return WasCancelled();
      absl::StatusOr<Suggestion> next = IsDesignDue() ? Design() : Model();
      if (!next.ok()) {
        if (absl::IsOutOfRange(next.status()) && !suggestions.points.empty()) break;
        return std::move(next).status();
      }
      HandOut(next->point);
      suggestions.points.push_back(*std::move(next));
    }
    suggestions.state = gp::FormatState(state_);
    return suggestions;
  }

  // What the next call may use; null if nothing was modelled.
  std::shared_ptr<const gp::Remembered> remembered() const {
    return surrogate_ ? surrogate_->remembered() : nullptr;
  }

 private:
  const Space& space() const { return frame_.coordinates.space(); }

  bool IsDesignDue() const {
    return out_ < settings_.initial_points ||
           history_.points.size() < std::min(settings_.initial_points, kLeastForModel);
  }

  // From now on the point is pending.
  void HandOut(const Point& point) {
    const gp::Coordinates u = frame_.coordinates.Encode(point);
    if (surrogate_) {
      surrogate_->Believe(frame_.features.Matrix({u}).row(0));
    } else {
      history_.pending.push_back(u);
    }
    taken_.Insert(point);
    ++out_;
  }

  absl::StatusOr<Suggestion> Design() {
    const auto admits = [this](const Point& point) {
      return sampling::IsFresh(space(), taken_, point);
    };
    std::optional<gp::DesignPoint> design =
        gp::NextDesignPoint(frame_.coordinates, *state_.design_seed, out_, admits);
    if (design) {
      return Suggestion{.point = std::move(design->point),
                        .origin = design->is_default ? "default point" : "initial design"};
    }
    VERNIER_ASSIGN_OR_RETURN(Point point, sampling::DrawUntaken(space(), taken_, rng_, stop_));
    return Suggestion{.point = std::move(point), .origin = "initial design"};
  }

  absl::StatusOr<Suggestion> Model() {
    if (!surrogate_) {
      VERNIER_ASSIGN_OR_RETURN(
          surrogate_,
          gp::Surrogate::Fit(
              frame_.features, history_, settings_.max_points, state_, known_.get(), stop_));
      if (stop_.stop_requested()) return WasCancelled();
    }
    const gp::Acquisition acquisition(
        surrogate_->objective(), surrogate_->incumbent(), surrogate_->success());
    const std::function<bool(const gp::Coordinates&)> admits = Admission();
    const auto trials = static_cast<int>(surrogate_->objective().scaled_points().rows());
    const gp::BorderPrior prior(frame_.coordinates, history_.points.size());
    const gp::AcquisitionSearch search(frame_.coordinates,
                                       frame_.features,
                                       acquisition,
                                       prior,
                                       admits,
                                       gp::SearchEffort::For(trials));
    for (const gp::Scored& scored : search.Run(surrogate_->centres(), rng_, stop_)) {
      const Eigen::RowVectorXd row = frame_.features.Matrix({scored.u}).row(0);
      Point point = frame_.coordinates.Decode(scored.u);
      if (IsRepeat(row) || !sampling::IsFresh(space(), taken_, point)) continue;
      return Explained(std::move(point), row, scored.value);
    }
    if (stop_.stop_requested()) return WasCancelled();
    VERNIER_ASSIGN_OR_RETURN(Point point, sampling::DrawUntaken(space(), taken_, rng_, stop_));
    return Suggestion{.point = std::move(point),
                      .origin = "random",
                      .note = "the model's candidates are all taken or break a constraint"};
  }

  // Where points run out, the search is kept off those that are taken; elsewhere it only minds the constraints.
  std::function<bool(const gp::Coordinates&)> Admission() const {
    const bool finite = space().Cardinality().has_value();
    const bool constrained = !space().constraints().empty();
    return [this, finite, constrained](const gp::Coordinates& u) {
      if (!finite && !constrained) return true;
      const Point point = frame_.coordinates.Decode(u);
      return finite ? sampling::IsFresh(space(), taken_, point) : space().Satisfies(point);
    };
  }

  bool IsRepeat(const Eigen::RowVectorXd& features) const {
    const gp::Posterior& objective = surrogate_->objective();
    const Eigen::RowVectorXd z = features.cwiseProduct(objective.kernel().inverse_scales());
    return (objective.scaled_points().rowwise() - z).rowwise().squaredNorm().minCoeff() <
           kRepeatDistance * kRepeatDistance;
  }

  Suggestion Explained(Point point, const Eigen::RowVectorXd& features, double value) const {
    const PredictedValue predicted =
        InUserUnits(surrogate_->objective().Predict(features).front(), surrogate_->scale(), goal_);
    return {.point = std::move(point),
            .origin = "model",
            .acquisition = value,
            .predicted_mean = predicted.mean,
            .predicted_deviation = predicted.deviation,
            .importance = Importance(),
            .note = surrogate_->note()};
  }

  // The inverse length scales, as shares of their sum.
  std::map<std::string, double> Importance() const {
    const std::vector<double>& logs = surrogate_->objective().hyperparameters().log_length_scales;
    double sum = 0;
    for (const double log_length_scale : logs) sum += std::exp(-log_length_scale);
    std::map<std::string, double> importance;
    for (std::size_t group = 0; group < logs.size(); ++group) {
      const auto k = static_cast<std::size_t>(frame_.features.parameter_of_group()[group]);
      importance[space().parameters()[k].name] = std::exp(-logs[group]) / sum;
    }
    return importance;
  }

  const Frame& frame_;
  const Settings& settings_;
  const Goal goal_;
  gp::History history_;
  gp::GpState state_;
  sampling::TakenPoints taken_;
  std::uint64_t out_;  // Trials handed out so far, finished or not.
  Rng rng_;
  const std::shared_ptr<const gp::Remembered> known_;
  const std::stop_token stop_;
  std::optional<gp::Surrogate> surrogate_;
};

class GpOptimizer final : public Optimizer {
 public:
  GpOptimizer(const Problem& problem, const Settings& settings, std::string options)
      : frame_(problem.space),
        goal_(problem.objectives.front().goal),
        settings_(settings),
        options_(std::move(options)) {}

  std::string_view name() const override { return "gp"; }
  std::string_view version() const override { return "2"; }
  std::string options() const override { return options_; }

  absl::StatusOr<Suggestions> Suggest(std::span<const Observation> finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view state,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    VERNIER_RETURN_IF_ERROR(sampling::CheckTrials(frame_.coordinates.space(), finished, pending));
    Session session(
        frame_, settings_, goal_, finished, pending, state, stream, Known(), std::move(stop));
    VERNIER_ASSIGN_OR_RETURN(Suggestions suggestions, session.Run(count));
    if (std::shared_ptr<const gp::Remembered> remembered = session.remembered()) {
      const absl::MutexLock lock(&mutex_);
      remembered_ = std::move(remembered);
    }
    return suggestions;
  }

  absl::StatusOr<std::vector<PredictedValue>> Predict(std::span<const Observation> finished,
                                                      std::string_view state,
                                                      std::span<const Point> points,
                                                      const std::stop_token& stop) const override {
    const Space& space = frame_.coordinates.space();
    VERNIER_RETURN_IF_ERROR(sampling::CheckTrials(space, finished, {}));
    for (const Point& point : points) VERNIER_RETURN_IF_ERROR(space.Check(point));
    const gp::History history = gp::ReadHistory(frame_.coordinates, goal_, finished, {});
    if (history.points.size() < kLeastForModel) {
      return FailedPrecondition("gp predicts from {} trials with a value on, there are {}",
                                kLeastForModel,
                                history.points.size());
    }
    gp::GpState parsed = gp::ParseState(state, frame_.features.groups());
    const std::shared_ptr<const gp::Remembered> known = Known();
    VERNIER_ASSIGN_OR_RETURN(
        const gp::Surrogate surrogate,
        gp::Surrogate::Fit(
            frame_.features, history, settings_.max_points, parsed, known.get(), stop));
    if (stop.stop_requested()) return WasCancelled();
    std::vector<PredictedValue> predicted;
    for (const Point& point : points) {
      const Eigen::MatrixXd row = frame_.features.Matrix({frame_.coordinates.Encode(point)});
      predicted.push_back(
          InUserUnits(surrogate.objective().Predict(row).front(), surrogate.scale(), goal_));
    }
    return predicted;
  }

 private:
  std::shared_ptr<const gp::Remembered> Known() const {
    const absl::MutexLock lock(&mutex_);
    return remembered_;
  }

  const Frame frame_;
  const Goal goal_;
  const Settings settings_;
  const std::string options_;
  mutable absl::Mutex mutex_;
  mutable std::shared_ptr<const gp::Remembered> remembered_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> NewGpOptimizer(const Problem& problem,
                                                          const Choice& choice) {
  if (problem.objectives.size() != 1) {
    return FieldError("objective",
                      fmt::format("gp optimises one metric, got {}; random, quasi-random and grid "
                                  "take several",
                                  problem.objectives.size()));
  }
  OptionReader reader("algorithm", choice);
  Settings settings;
  settings.initial_points = static_cast<std::size_t>(reader.Int("initial_points", 5, 1, 100000));
  settings.max_points = static_cast<std::size_t>(reader.Int("max_points", 1000, 10, 5000));
  VERNIER_RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<GpOptimizer>(problem, settings, reader.Json());
}

}  // namespace vernier
