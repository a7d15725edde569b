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
#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/acquisition/border_prior.h"
#include "algorithms/gaussian_process/earlier_studies.h"
#include "algorithms/gaussian_process/explanation.h"
#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/model_size.h"
#include "algorithms/gaussian_process/note.h"
#include "algorithms/gaussian_process/search/acquisition_search.h"
#include "algorithms/gaussian_process/search/basins.h"
#include "algorithms/gaussian_process/search/candidates.h"
#include "algorithms/gaussian_process/search/initial_design.h"
#include "algorithms/gaussian_process/space/branches.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/encoded_trials.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/surrogate.h"
#include "algorithms/gaussian_process/surrogate_set.h"
#include "algorithms/gaussian_process/training_set.h"
#include "algorithms/options.h"
#include "algorithms/sampling/draw.h"
#include "algorithms/sampling/earlier_points.h"
#include "algorithms/sampling/taken_points.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

// Each suggestion goes through these steps:
//   1. without a model (too many metrics or parameters): the next point of the design;
//   2. first trials: the best new points by earlier studies, then the initial design;
//   3. from the model: fit or update the surrogates, maximise the acquisition; if next to nothing is expected, every other
//      trial searches the least tried branch (docs/adr/0017);
//   4. the suggestion becomes pending, and the next of the call starts again at 1.
//
// A suggestion is a function of the trials, the pending trials, the state and the random stream. Caches hold only
// results that would be computed to the same bits, so a restarted process replays (docs/adr/0013).
namespace vernier {
namespace {

// Fewest trials with values for a model. With eight workers, 2 and 4 differ by less than noise (docs/adr/0020).
constexpr std::size_t kLeastForModel = 2;
// Distance to a trial, in length scales, below which a point repeats it. A choice: the model could not tell the two
// apart, and the covariance would be singular without noise.
constexpr double kRepeatDistance = 1e-6;
// Largest number of objectives: up to four, the improvement has few enough boxes to be summed exactly (docs/adr/0014).
constexpr std::size_t kMostObjectives = 4;
// Acquisition below which next to nothing is expected: ln of an expected improvement of a thousandth of a standard
// deviation of the warped values. -5 for all choices gained less, and loses at 25 trials within noise (docs/adr/0017).
constexpr double kSpent = -7.0;
// Number of candidates in the search of a basin, which is small. A choice.
constexpr int kNearby = 128;
// Number of candidates in a search of the whole space, where basins are left. Half of the default: the other half makes no
// difference beyond noise (docs/adr/0028, 0041). Where trials fail or a region is searched, few of them are of use.
constexpr int kFewCandidates = 256;
// Evaluations of a fit from an earlier optimum, there: a third fewer. The difference is less than noise (docs/adr/0018).
constexpr int kFewEvaluations = 8;
constexpr char kWhyBasin[] =
    "searches near another local optimum, as the latest trials near the best one gained next to "
    "nothing";
// Number of random points to try when the search yields no admissible candidate. A choice.
constexpr int kDrawn = 64;
// Largest number of trials of an earlier study in its model: as many as are copied into a new study (docs/adr/0016).
constexpr std::size_t kMostOfEarlier = 1000;
// Largest number of first trials chosen by earlier studies, one each (docs/adr/0016).
constexpr std::size_t kMostStarters = 2;

struct Settings {
  std::size_t initial_points = 5;
  std::size_t max_points = gp::ModelSize().points;
  bool repeat_best = false;
};

// Coordinates and features of the space, which do not depend on trials.
struct Frame {
  explicit Frame(const Space& space) : coordinates(space), features(coordinates) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  gp::CoordinateSpace coordinates;
  gp::FeatureMap features;  // Refers to `coordinates`.
};

gp::StateShape ShapeOf(const Problem& problem, const Frame& frame) {
  return {.metrics = problem.objectives.size() + problem.outcome_constraints.size(),
          .groups = frame.features.groups(),
          .coordinates = static_cast<std::size_t>(frame.coordinates.size())};
}

// Sizes of the models within the budget of a suggestion. Nullopt: useful models would cost too much.
struct Sizes {
  gp::ModelShape shape;
  std::optional<gp::ModelSize> own;
  std::optional<gp::ModelSize> earlier;  // Of each earlier study.
  bool are_cut = false;  // The budget makes some model smaller than the options say.
};

// Whether the search leaves a local optimum that it has found, and needs few candidates (docs/adr/0041). A small space is
// searched as a whole, and without repetitions. With constraints or several objectives, the best trials need not lie in one
// place.
bool LeavesSpentBasins(const Problem& problem) {
  const std::optional<std::int64_t> points = problem.space.Cardinality();
  return problem.objectives.size() == 1 && problem.outcome_constraints.empty() &&
         (!points || *points > gp::kMostEnumerated);
}

Sizes SizesOf(const Problem& problem, const Frame& frame, const Settings& settings) {
  gp::ModelSize most = {.points = settings.max_points};
  if (LeavesSpentBasins(problem)) most.warm_evaluations = kFewEvaluations;
  const gp::ModelSize most_of_earlier = {.points = kMostOfEarlier};
  const gp::ModelShape shape = {
      .models = problem.objectives.size() + problem.outcome_constraints.size() + 1,
      .groups = static_cast<std::size_t>(std::max(frame.features.groups(), 1)),
      .columns = static_cast<std::size_t>(std::max(frame.features.columns(), 1))};
  // Earlier studies are modelled together, in the first call: they share one budget.
  gp::ModelShape of_all_earlier = shape;
  of_all_earlier.models *= std::max<std::size_t>(problem.earlier.size(), 1);
  const std::optional<gp::ModelSize> own = gp::Affordable(shape, most);
  const std::optional<gp::ModelSize> earlier = gp::Affordable(of_all_earlier, most_of_earlier);
  return {.shape = shape,
          .own = own,
          .earlier = earlier,
          .are_cut = own != most || (!problem.earlier.empty() && earlier != most_of_earlier)};
}

std::string WhyNoModel(const Sizes& sizes) {
  return fmt::format(
      "a quasi-random point: models of {} metrics over {} parameters would cost more than a "
      "suggestion may",
      sizes.shape.models - 1,
      sizes.shape.groups);
}

absl::Status WasCancelled() { return Cancelled("the suggestion was cancelled"); }

// Results cached from one call to the next. They save work and never change a suggestion.
struct CallCache {
  gp::EncodedTrials trials;
  gp::FitCaches fits;
};

// One call of Suggest.
class Session {
 public:
  Session(const Problem& problem,
          const Frame& frame,
          const Settings& settings,
          const Sizes& sizes,
          const gp::EarlierPriors& earlier,
          const sampling::EarlierPoints& tried,
          const TrialLog::View& finished,
          std::span<const PendingPoint> pending,
          std::string_view state,
          Rng stream,
          CallCache& cache,
          std::stop_token stop)
      : problem_(problem),
        frame_(frame),
        settings_(settings),
        sizes_(sizes),
        earlier_(earlier),
        cache_(cache),
        state_(gp::ParseState(state, ShapeOf(problem, frame))),
        taken_(frame.coordinates.space(), finished, pending, tried),
        out_(finished.size() + pending.size()),
        before_(tried.trials()),
        rng_(stream),
        stop_(std::move(stop)),
        surrogates_(frame.features,
                    earlier.metrics,
                    cache.trials,
                    cache.fits,
                    sizes.own.value_or(gp::ModelSize()),
                    state_) {
    gp::Update(frame.coordinates, problem, finished, cache.trials);
    for (const PendingPoint& trial : pending) {
      pending_.push_back(frame.coordinates.Encode(trial.point));
    }
    if (!state_.design_seed) state_.design_seed = rng_.Fork(0).NextU64();
  }

  absl::StatusOr<Suggestions> Run(std::size_t count) {
    Suggestions suggestions;
    while (suggestions.points.size() < count) {
      if (stop_.stop_requested()) return WasCancelled();
      absl::StatusOr<Suggestion> next = Next();
      if (!next.ok()) {
        if (absl::IsOutOfRange(next.status()) && !suggestions.points.empty()) break;
        return std::move(next).status();
      }
      AddSuggested(next->point);
      suggestions.points.push_back(*std::move(next));
    }
    suggestions.state = gp::FormatState(state_);
    if (std::optional<gp::FitCaches> fits = surrogates_.caches()) {
      cache_.fits = *std::move(fits);
    }
    return suggestions;
  }

 private:
  const Space& space() const { return frame_.coordinates.space(); }
  const gp::EncodedTrials& trials() const { return cache_.trials; }

  absl::StatusOr<Suggestion> Next() {
    if (!sizes_.own) return WithoutModel();
    if (const std::optional<std::size_t> starter = StarterDue()) return Starter(*starter);
    if (out_ < DesignSize()) return Design();
    if (!HasTooFewOfItsOwn()) return FromModel();
    return earlier_.known < kLeastForModel ? Design() : FromEarlierModel(out_);
  }

  // Length of the initial design. Trials of earlier studies count, as they have seen the space. If they replace the
  // design and choose the first trials, one more trial of the design guards against a misleading study (docs/adr/0016).
  std::size_t DesignSize() const {
    if (earlier_.models.empty()) return settings_.initial_points;
    return std::max(DesignLeft(), std::min(settings_.initial_points, Starters() + 1));
  }
  std::size_t DesignLeft() const {
    return settings_.initial_points - std::min(settings_.initial_points, earlier_.known);
  }
  std::size_t Starters() const {
    if (DesignLeft() > 0 && !settings_.repeat_best) return 0;
    return std::min(kMostStarters, earlier_.best.size());
  }
  // Index of the earlier study that chooses the next trial; nullopt: none does. They choose the first trials of the
  // design, after the default point if that is new.
  std::optional<std::size_t> StarterDue() const {
    const std::size_t before = IsDefaultNew() ? 1 : 0;
    if (out_ < before || out_ - before >= Starters() || out_ >= DesignSize()) return std::nullopt;
    return out_ - before;
  }
  // Whether there is a default point that no earlier study tried.
  bool IsDefaultNew() const {
    const std::optional<Point> point = space().DefaultPoint();
    return point.has_value() && !taken_.IsEarlier(*point);
  }

  bool HasTooFewOfItsOwn() const {
    return trials().points.size() < std::min(settings_.initial_points, kLeastForModel);
  }

  // Makes the point pending for the following suggestions of this call.
  void AddSuggested(const Point& point) {
    const gp::Coordinates u = frame_.coordinates.Encode(point);
    surrogates_.AddPending(frame_.features.Matrix({u}).row(0));
    pending_.push_back(u);
    taken_.Insert(point);
    ++out_;
  }

  absl::StatusOr<Suggestion> Design() {
    VERNIER_ASSIGN_OR_RETURN(Suggestion suggestion, DesignPoint());
    if (out_ >= DesignSize()) {
      gp::AddNote(fmt::format("only {} of {} trials that ended have a value of every objective",
                              trials().points.size(),
                              trials().trials()),
                  suggestion.note);
    }
    return suggestion;
  }

  // Continues the design.
  absl::StatusOr<Suggestion> WithoutModel() {
    VERNIER_ASSIGN_OR_RETURN(Suggestion suggestion, DesignPoint());
    suggestion.origin = "sequence";
    suggestion.note = WhyNoModel(sizes_);
    return suggestion;
  }

  absl::StatusOr<Suggestion> DesignPoint() {
    const auto admits = [this](const Point& point) {
      return sampling::IsFresh(space(), taken_, point);
    };
    // The sequence continues where earlier studies stopped, after the default point: their points are not repeated.
    const std::uint64_t place = out_ == 0 && IsDefaultNew() ? 0 : before_ + out_;
    std::optional<gp::DesignPoint> design =
        gp::NextDesignPoint(frame_.coordinates, *state_.design_seed, place, admits);
    if (design) {
      return Suggestion{.point = std::move(design->point),
                        .origin = design->is_default ? "default point" : "initial design"};
    }
    VERNIER_ASSIGN_OR_RETURN(Point point, sampling::DrawUntaken(space(), taken_, rng_, stop_));
    return Suggestion{.point = std::move(point), .origin = "initial design"};
  }

  // Trial chosen by an earlier study: its best point again with `repeat_best`, else the best new point by its model.
  absl::StatusOr<Suggestion> Starter(std::size_t index) {
    if (!settings_.repeat_best) return FromEarlierModel(index);
    Point point = frame_.coordinates.Decode(earlier_.best[index]);
    if (!space().Satisfies(point) || taken_.IsOwn(point)) return Design();
    std::string note = Source(point);
    return Suggestion{
        .point = std::move(point), .origin = "earlier study", .note = std::move(note)};
  }

  // Names the trial of an earlier study at this point, as in "trial 7 of study 'digits'"; empty if there is none.
  std::string Source(const Point& point) const {
    for (const EarlierStudy& study : problem_.earlier) {
      for (const Observation& trial : study.trials) {
        if (trial.point != point) continue;
        return fmt::format("trial {} of study '{}'", trial.trial.value(), study.name);
      }
    }
    return "";
  }

  // Maximises the acquisition of this study's own surrogate.
  absl::StatusOr<Suggestion> FromModel() {
    VERNIER_ASSIGN_OR_RETURN(const gp::RegionalSurrogate* const fitted,
                             surrogates_.At(out_, pending_, stop_));
    if (stop_.stop_requested()) return WasCancelled();
    return Best(*fitted, fitted->surrogate.MakeAcquisition(), trials().points.size());
  }

  // New point with the best expected value by the model of an earlier study; the studies take turns. Values of this
  // study may be in other units, so its trials enter that model as pending.
  absl::StatusOr<Suggestion> FromEarlierModel(std::size_t turn) {
    const gp::EarlierModel& earlier = earlier_.models[turn % earlier_.models.size()];
    gp::RegionalSurrogate model{.surrogate = earlier.surrogate, .region = std::nullopt};
    std::vector<gp::Coordinates> own = trials().points;
    own.insert(own.end(), trials().failed.begin(), trials().failed.end());
    own.insert(own.end(), pending_.begin(), pending_.end());
    const Eigen::MatrixXd rows = frame_.features.Matrix(own);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) model.surrogate.AddPending(rows.row(i));
    // The improvement on the worst point depends on the mean and hardly on the variance. After 40 trials of an earlier
    // study, the best expected value says more about a new one than the highest expected improvement
    // (docs/research/warm_start.md).
    const auto counts = [](const gp::Coordinates&) { return false; };
    const gp::Acquisition acquisition = problem_.objectives.size() == 1
                                            ? model.surrogate.MakeAcquisitionOver(counts)
                                            : model.surrogate.MakeAcquisition();
    VERNIER_ASSIGN_OR_RETURN(Suggestion best, Best(model, acquisition, earlier.trials));
    return Suggestion{.point = std::move(best.point),
                      .origin = "earlier study",
                      .importance = std::move(best.importance),
                      .note = fmt::format("from the model of study '{}'", earlier.study)};
  }

  // Best fresh point by the acquisition. `trials`: number of trials with values that the model is based on.
  absl::StatusOr<Suggestion> Best(const gp::RegionalSurrogate& model,
                                  const gp::Acquisition& acquisition,
                                  std::size_t trials) {
    const Admits admits = Admission();
    const std::optional<gp::Basin> basin = model.region ? std::nullopt : BasinDue();
    std::optional<gp::Branch> branch;
    std::vector<gp::Scored> found;
    if (basin) found = SearchBasin(model, *basin, admits);
    const gp::Scored* next = FirstFresh(model, found, /*repeats=*/false);
    if (next == nullptr) {
      found = Search(model, acquisition, trials, admits);
      if (!model.region) branch = BranchDue(found);
      if (branch) {
        const std::vector<gp::Scored> inside = SearchBranch(model, *branch, admits);
        found.insert(found.begin(), inside.begin(), inside.end());
      }
      next = FirstFresh(model, found, /*repeats=*/false);
    }
    // In a small or nearly exhausted space every candidate may be taken or repeat a trial. Draw from what is left then,
    // and rather repeat a trial nearly than end the study.
    if (next == nullptr) {
      VERNIER_ASSIGN_OR_RETURN(found, SearchAmongDrawn(model, admits));
      next = FirstFresh(model, found, /*repeats=*/true);
    }
    if (stop_.stop_requested()) return WasCancelled();
    if (next == nullptr) return sampling::Exhausted(space());
    Suggestion suggestion = gp::Explained(problem_,
                                          frame_.features,
                                          model.surrogate,
                                          frame_.coordinates.Decode(next->u),
                                          frame_.features.Matrix({next->u}).row(0),
                                          next->value);
    if (branch && branch->Holds(frame_.coordinates, next->u)) {
      gp::AddNote(gp::WhyBranch(space(), *branch), suggestion.note);
    }
    if (basin && InsideOf(*basin)(next->u)) {
      gp::AddNote(kWhyBasin, suggestion.note);
    }
    return suggestion;
  }

  // Best point that may be suggested; null if there is none. `repeats`: accept points that repeat a trial, too.
  const gp::Scored* FirstFresh(const gp::RegionalSurrogate& model,
                               const std::vector<gp::Scored>& found,
                               bool repeats) const {
    for (const gp::Scored& scored : found) {
      if (!repeats && IsRepeat(model.surrogate, frame_.features.Matrix({scored.u}).row(0)))
        continue;
      if (sampling::IsFresh(space(), taken_, frame_.coordinates.Decode(scored.u))) return &scored;
    }
    return nullptr;
  }

  using Admits = std::function<bool(const gp::Coordinates&)>;

  // Searches for the acquisition's maximum from `drawn`, anywhere in the space, or, if it is empty, from the search's
  // own candidates in the model's region. `trials`: number of trials in the part of the space that is searched; the
  // border prior fades with it.
  std::vector<gp::Scored> Search(const gp::RegionalSurrogate& model,
                                 const gp::Acquisition& acquisition,
                                 std::size_t trials,
                                 const Admits& admits,
                                 std::vector<gp::Coordinates> drawn = {}) {
    const auto modelled =
        static_cast<int>(model.surrogate.objectives().front().posterior().scaled_points().rows());
    const auto models = static_cast<int>(state_.whole.metrics.size());
    const gp::BorderPrior prior(frame_.coordinates, std::max(trials, kLeastForModel));
    gp::SearchEffort effort = gp::SearchEffort::For(modelled, models);
    if (LeavesSpentBasins(problem_) && cache_.trials.failed.empty() && !model.region)
      effort.candidates = kFewCandidates;
    const gp::AcquisitionSearch search(frame_.coordinates,
                                       frame_.features,
                                       acquisition,
                                       prior,
                                       admits,
                                       effort,
                                       model.region && drawn.empty() ? &*model.region : nullptr);
    return drawn.empty() ? search.Run(model.surrogate.centres(), rng_, stop_)
                         : search.RunFrom(std::move(drawn), rng_, stop_);
  }

  // Searches from random points that are neither taken nor excluded by constraints. For spaces in which constraints or
  // earlier trials exclude all of the search's own candidates.
  // OutOfRange (kSpaceExhausted): there is no such point.
  absl::StatusOr<std::vector<gp::Scored>> SearchAmongDrawn(const gp::RegionalSurrogate& model,
                                                           const Admits& admits) {
    std::vector<gp::Coordinates> drawn;
    for (int i = 0; i < kDrawn; ++i) {
      absl::StatusOr<Point> point = sampling::DrawUntaken(space(), taken_, rng_, stop_);
      if (!point.ok() && (drawn.empty() || !absl::IsOutOfRange(point.status()))) {
        return std::move(point).status();
      }
      if (!point.ok()) break;
      drawn.push_back(frame_.coordinates.Encode(*point));
    }
    return Search(
        model, model.surrogate.MakeAcquisition(), trials().points.size(), admits, std::move(drawn));
  }

  // Searches the branch for an improvement on the best of its own trials. An improvement on the incumbent of all
  // branches is likeliest where the model knows least: a branch would be judged by its corners (docs/adr/0017).
  std::vector<gp::Scored> SearchBranch(const gp::RegionalSurrogate& model,
                                       const gp::Branch& branch,
                                       const Admits& admits) {
    const auto is_inside = [this, &branch](const gp::Coordinates& u) {
      return branch.Holds(frame_.coordinates, u);
    };
    return Search(
        model,
        model.surrogate.MakeAcquisitionOver(is_inside),
        branch.trials,
        [&is_inside, &admits](const gp::Coordinates& u) { return is_inside(u) && admits(u); });
  }

  // Branch to search for this trial; nullopt: none. If next to nothing is expected anywhere, every other trial searches
  // the least tried branch: a few early trials in its corners may be all that the model knows of it (docs/adr/0017).
  std::optional<gp::Branch> BranchDue(const std::vector<gp::Scored>& found) const {
    const bool is_spent = !found.empty() && found.front().value < kSpent;
    if (!is_spent || problem_.objectives.size() > 1 || out_ % 2 == 1) return std::nullopt;
    return gp::LeastTriedBranch(
        frame_.coordinates, {trials().points, trials().failed, pending_}, out_ / 2);
  }

  // Basin to search for this trial; nullopt: none. If the latest trials near the best one gained nothing, every other
  // trial goes to another local optimum (docs/adr/0041), in turns with those that search branches.
  std::optional<gp::Basin> BasinDue() const {
    if (!LeavesSpentBasins(problem_) || out_ % 2 == 0) return std::nullopt;
    return gp::BasinDue(frame_.features.Matrix(trials().points),
                        gp::ModelledValues(trials(), 0),
                        frame_.features.groups());
  }

  // Tells whether a configuration lies in the basin.
  Admits InsideOf(const gp::Basin& basin) const {
    const Eigen::RowVectorXd centre = frame_.features.Matrix({trials().points[basin.best]}).row(0);
    return [this, centre](const gp::Coordinates& u) {
      return (frame_.features.Matrix({u}).row(0) - centre).norm() <=
             gp::BasinRadius(frame_.features.groups());
    };
  }

  // Searches near the best trial of the basin for an improvement on that trial. Empty: no point near it is admitted.
  std::vector<gp::Scored> SearchBasin(const gp::RegionalSurrogate& model,
                                      const gp::Basin& basin,
                                      const Admits& admits) {
    const gp::Coordinates& centre = trials().points[basin.best];
    const Admits is_inside = InsideOf(basin);
    const Admits inside = [&](const gp::Coordinates& u) { return is_inside(u) && admits(u); };
    std::vector<gp::Coordinates> near =
        gp::NearbyCandidates(frame_.coordinates, {centre}, kNearby, rng_);
    std::erase_if(near, [&inside](const gp::Coordinates& u) { return !inside(u); });
    if (near.empty()) return {};
    const auto is_centre = [&centre](const gp::Coordinates& u) { return u == centre; };
    return Search(model,
                  model.surrogate.MakeAcquisitionOver(is_centre),
                  trials().points.size(),
                  inside,
                  std::move(near));
  }

  // Whether the search may go to a configuration. In finite spaces, which can run out of points, it excludes those
  // taken, too; in others only those that violate constraints. Without either, decoding a point would be wasted.
  Admits Admission() const {
    const bool finite = space().Cardinality().has_value();
    const bool constrained = !space().constraints().empty();
    return [this, finite, constrained](const gp::Coordinates& u) {
      if (!finite && !constrained) return true;
      const Point point = frame_.coordinates.Decode(u);
      return finite ? sampling::IsFresh(space(), taken_, point) : space().Satisfies(point);
    };
  }

  // Whether a point with these features repeats a trial, a pending one, or one of an earlier study.
  bool IsRepeat(const gp::Surrogate& surrogate, const Eigen::RowVectorXd& row) const {
    const gp::Posterior& objective = surrogate.objectives().front().posterior();
    const Eigen::RowVectorXd scales = objective.kernel().inverse_scales();
    const Eigen::RowVectorXd z = row.cwiseProduct(scales);
    const auto is_near = [](const auto& differences) {
      return differences.rows() > 0 &&
             differences.rowwise().squaredNorm().minCoeff() < kRepeatDistance * kRepeatDistance;
    };
    return is_near(objective.scaled_points().rowwise() - z) ||
           is_near((earlier_.tried.rowwise() - row) * scales.asDiagonal());
  }

  const Problem& problem_;
  const Frame& frame_;
  const Settings& settings_;
  const Sizes& sizes_;
  const gp::EarlierPriors& earlier_;
  CallCache& cache_;
  std::vector<gp::Coordinates> pending_;
  gp::GpState state_;
  sampling::TakenPoints taken_;
  std::uint64_t out_;     // Number of trials so far, finished or pending.
  std::uint64_t before_;  // Number of trials of earlier studies.
  Rng rng_;
  const std::stop_token stop_;
  gp::SurrogateSet surrogates_;
};

class GpOptimizer final : public Optimizer {
 public:
  GpOptimizer(const Problem& problem,
              sampling::EarlierPoints tried,
              const Settings& settings,
              std::string options)
      : problem_(problem),
        tried_(std::move(tried)),
        frame_(problem.space),
        settings_(settings),
        sizes_(SizesOf(problem, frame_, settings)),
        options_(std::move(options)) {}

  std::string_view name() const override { return "gp"; }
  // The highest version whose change applies to the problem, so that other studies replay under their old version: 14
  // with earlier studies, 15 with projected choices, 16 with models cut to the budget, 17 where spent basins are left.
  std::string_view version() const override {
    if (LeavesSpentBasins(problem_)) return "17";
    if (sizes_.are_cut) return "16";
    if (frame_.features.has_projected()) return "15";
    return problem_.earlier.empty() ? "13" : "14";
  }
  bool has_model() const override { return sizes_.own.has_value(); }
  std::string options() const override { return options_; }
  std::string Continuation(std::string_view state) const override {
    return gp::Continuation(state);
  }

  absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view state,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    VERNIER_RETURN_IF_ERROR(sampling::CheckPending(frame_.coordinates.space(), pending));
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const gp::EarlierPriors> earlier, Earlier(stop));
    CallCache cache = Take();
    Session session(problem_,
                    frame_,
                    settings_,
                    sizes_,
                    *earlier,
                    tried_,
                    finished,
                    pending,
                    state,
                    stream,
                    cache,
                    std::move(stop));
    absl::StatusOr<Suggestions> suggestions = session.Run(count);
    Keep(std::move(cache));
    return suggestions;
  }

  absl::StatusOr<std::vector<PredictedPoint>> Predict(const TrialLog::View& finished,
                                                      std::string_view state,
                                                      std::span<const Point> points,
                                                      const std::stop_token& stop) const override {
    const Space& space = frame_.coordinates.space();
    for (const Point& point : points) VERNIER_RETURN_IF_ERROR(space.Check(point));
    if (!sizes_.own) return FailedPrecondition("gp predicts nothing: {}", WhyNoModel(sizes_));
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const gp::EarlierPriors> earlier, Earlier(stop));
    CallCache cache = Take();
    gp::Update(frame_.coordinates, problem_, finished, cache.trials);
    const absl::StatusOr<gp::Surrogate> fitted = Fit(*earlier, cache, state, stop);
    Keep(std::move(cache));
    VERNIER_RETURN_IF_ERROR(fitted.status());
    if (stop.stop_requested()) return WasCancelled();
    std::vector<gp::Coordinates> encoded;
    encoded.reserve(points.size());
    for (const Point& point : points) encoded.push_back(frame_.coordinates.Encode(point));
    return gp::PredictAt(problem_, *fitted, frame_.features.Matrix(encoded));
  }

 private:
  // Models of the earlier studies: fitted in the first call and shared by all.
  absl::StatusOr<std::shared_ptr<const gp::EarlierPriors>> Earlier(
      const std::stop_token& stop) const {
    const absl::MutexLock lock(&earlier_mutex_);
    if (earlier_ != nullptr) return earlier_;
    VERNIER_ASSIGN_OR_RETURN(
        gp::EarlierPriors learned,
        gp::LearnFromEarlier(
            frame_.coordinates, frame_.features, problem_, sizes_.earlier, tried_, stop));
    if (stop.stop_requested()) return WasCancelled();
    earlier_ = std::make_shared<const gp::EarlierPriors>(std::move(learned));
    return earlier_;
  }

  absl::StatusOr<gp::Surrogate> Fit(const gp::EarlierPriors& earlier,
                                    const CallCache& cache,
                                    std::string_view state,
                                    const std::stop_token& stop) const {
    const std::size_t trials = cache.trials.points.size();
    if (trials < kLeastForModel) {
      return FailedPrecondition(
          "gp predicts from {} trials with a value on, there are {}", kLeastForModel, trials);
    }
    gp::GpState parsed = gp::ParseState(state, ShapeOf(problem_, frame_));
    return gp::Surrogate::Fit(frame_.features,
                              earlier.metrics,
                              gp::TakeWhole(cache.trials, *sizes_.own),
                              {},
                              parsed.whole,
                              cache.fits,
                              stop);
  }

  // Takes the cache out, so that nobody waits: of concurrent calls one finds it, the others start empty.
  CallCache Take() const {
    const absl::MutexLock lock(&mutex_);
    return std::exchange(cache_, {});
  }
  void Keep(CallCache cache) const {
    const absl::MutexLock lock(&mutex_);
    cache_ = std::move(cache);
  }

  const Problem problem_;
  const sampling::EarlierPoints tried_;
  const Frame frame_;
  const Settings settings_;
  const Sizes sizes_;
  const std::string options_;
  mutable absl::Mutex earlier_mutex_;
  // Null: not fitted yet. Shared with calls that are running.
  mutable std::shared_ptr<const gp::EarlierPriors> earlier_ ABSL_GUARDED_BY(earlier_mutex_);
  mutable absl::Mutex mutex_;
  mutable CallCache cache_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> NewGpOptimizer(const Problem& problem,
                                                          const Choice& choice) {
  if (problem.objectives.size() > kMostObjectives) {
    return FieldError(
        "objective",
        fmt::format("gp optimises at most {} metrics, got {}; random, quasi-random and "
                    "grid take more",
                    kMostObjectives,
                    problem.objectives.size()));
  }
  for (std::size_t i = 0; i < problem.earlier.size(); ++i) {
    const absl::Status legal = TrialLog::Of(problem, problem.earlier[i].trials).status();
    if (!legal.ok())
      return FieldError(fmt::format("warm_start[{}]", i), std::string(legal.message()));
  }
  if (problem.earlier.empty() && choice.options.contains("repeat_best")) {
    return FieldError("algorithm.repeat_best", "needs warm_start");
  }
  OptionReader reader("algorithm", choice);
  Settings settings;
  settings.initial_points = static_cast<std::size_t>(reader.Int("initial_points", 5, 1, 100000));
  settings.max_points = static_cast<std::size_t>(reader.Int("max_points", 1024, 10, 5000));
  if (!problem.earlier.empty()) settings.repeat_best = reader.Bool("repeat_best", false);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  VERNIER_ASSIGN_OR_RETURN(sampling::EarlierPoints tried, sampling::EarlierPoints::Of(problem));
  return std::make_unique<GpOptimizer>(problem, std::move(tried), settings, reader.Json());
}

}  // namespace vernier
