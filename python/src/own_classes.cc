#include "python/src/own_classes.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nanobind/nanobind.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/gil.h"
#include "python/src/space.h"
#include "python/src/values.h"
#include "src/core/own_code.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

thread_local bool is_replay = false;

// Calls a method. Everything that runs Python code goes through here.
template <typename... Arguments>
nb::object Call(nb::handle object, const char* method, const Arguments&... arguments) {
  const nb::object bound = nb::steal(PyObject_GetAttrString(object.ptr(), method));
  if (!bound.is_valid()) throw nb::python_error();
  const nb::tuple all = nb::make_tuple(arguments...);
  nb::object result =
      nb::steal(HangAtExit([&] { return PyObject_CallObject(bound.ptr(), all.ptr()); }));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

// What `call` returns, or the exception as a status. vernier._own catches what users raise; what arrives here is an error of
// the package, or an interrupt between two of its lines.
template <typename Result, typename OnCall>
absl::StatusOr<Result> Guarded(const OnCall& call) {
  try {
    absl::StatusOr<Result> result = call();
    return result;
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

// The text for as long as the process lives. Needs the GIL.
std::string_view Interned(std::string text) {
  static auto* const texts = new std::set<std::string, std::less<>>();
  return *texts->insert(std::move(text)).first;
}

std::string_view VersionOf(const Kept& bound) {
  const WithGil gil;
  const auto version = Guarded<std::string>(
      [&] { return nb::cast<std::string>(Call(bound.get(), "version", is_replay)); });
  return Interned(version.ok() ? *version : "unknown");
}

// The status of an answer ("OK" or a code, text, …) of vernier._own.
absl::Status StatusOf(const nb::tuple& answer) {
  const auto code = nb::cast<std::string>(answer[0]);
  if (code == "OK") return absl::OkStatus();
  const auto message = nb::cast<std::string>(answer[1]);
  if (code == "EXHAUSTED")
    return WithReason(absl::OutOfRangeError(message), Reason::kSpaceExhausted);
  if (code == "MISSING") return absl::FailedPreconditionError(message);
  if (code == "INTERRUPTED") return absl::CancelledError(message);
  return absl::InternalError(message);
}

// --- trials ---
nb::object FrozenPoint(const Point& point, const Space& space) {
  return nb::steal(PyDictProxy_New(ToDict(point, space).ptr()));
}

const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kStoppedEarly:
      return "stopped";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kInfeasible:
      return "infeasible";
  }
  return "failed";
}

nb::tuple Numbers(const std::vector<double>& values) { return nb::tuple(nb::cast(values)); }

nb::object ToFinished(nb::handle type, const Observation& trial, const Space& space) {
  const nb::object end =
      trial.expected_end
          ? nb::object(nb::make_tuple(trial.expected_end->mean, trial.expected_end->deviation))
          : nb::none();
  return Call(type,
              "__call__",
              trial.trial.value(),
              FrozenPoint(trial.point, space),
              NameOf(trial.outcome),
              Numbers(trial.values),
              Numbers(trial.slacks),
              end);
}

nb::list ToEarlier(nb::handle type, const Problem& problem) {
  nb::list earlier;
  for (const EarlierStudy& study : problem.earlier) {
    nb::list trials;
    for (const Observation& trial : study.trials) {
      trials.append(ToFinished(type, trial, problem.space));
    }
    nb::list tried;
    for (const Point& point : study.tried) tried.append(FrozenPoint(point, problem.space));
    earlier.append(nb::make_tuple(study.name, nb::tuple(trials), nb::tuple(tried)));
  }
  return earlier;
}

nb::dict OptionsOf(const Choice& choice) {
  nb::dict options;
  for (const auto& [name, value] : choice.options) {
    options[name.c_str()] = std::visit([](const auto& held) { return nb::cast(held); }, value);
  }
  return options;
}

// --- algorithms ---
std::optional<double> OptionalNumber(nb::handle value) {
  return value.is_none() ? std::nullopt : std::optional(nb::cast<double>(value));
}

Suggestion ToSuggestion(const nb::tuple& row, const Space& space) {
  Suggestion suggestion;
  suggestion.point = space.InKind(ToPoint(nb::cast<nb::dict>(row[0])));
  suggestion.origin = nb::cast<std::string>(row[1]);
  suggestion.acquisition = OptionalNumber(row[2]);
  suggestion.predicted_mean = OptionalNumber(row[3]);
  suggestion.predicted_deviation = OptionalNumber(row[4]);
  suggestion.note = nb::cast<std::string>(row[5]);
  return suggestion;
}

// What a class is called in the log, and the vernier._own object that calls it.
struct Bound {
  std::string name;
  std::string options;
  std::shared_ptr<const Kept> object;  // Shared with nobody but the adapter that is made of it.
};

class OwnOptimizer final : public Optimizer {
 public:
  OwnOptimizer(Bound bound, Space space, std::shared_ptr<const Kept> type)
      : bound_(std::move(bound)), space_(std::move(space)), type_(std::move(type)) {}

  std::string_view name() const override { return bound_.name; }
  std::string_view version() const override { return VersionOf(*bound_.object); }
  std::string options() const override { return bound_.options; }

  absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view state,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    if (stop.stop_requested()) return absl::CancelledError("the call was given up");
    const WithGil gil;
    return Guarded<Suggestions>([&] {
      nb::list waiting;
      for (const PendingPoint& trial : pending) {
        waiting.append(nb::make_tuple(trial.trial.value(), FrozenPoint(trial.point, space_)));
      }
      return FromAnswer(Call(bound_.object->get(),
                             "suggest",
                             ToFinished(finished),
                             nb::tuple(waiting),
                             std::string(state),
                             stream.NextU64(),
                             count));
    });
  }

 private:
  absl::StatusOr<Suggestions> FromAnswer(const nb::object& object) const {
    const auto answer = nb::cast<nb::tuple>(object);
    VERNIER_RETURN_IF_ERROR(StatusOf(answer));
    Suggestions suggestions;
    for (const nb::handle row : nb::cast<nb::list>(answer[1])) {
      suggestions.points.push_back(ToSuggestion(nb::cast<nb::tuple>(row), space_));
    }
    suggestions.state = nb::cast<std::string>(answer[2]);
    return suggestions;
  }

  // The finished trials, of which those of an earlier call are not made again. Another thread may run while objects are
  // made, so that the cache is replaced in one piece.
  nb::tuple ToFinished(const TrialLog::View& finished) const {
    const std::shared_ptr<const Made> made = made_;
    const bool continues = made != nullptr && finished.Continues(made->view);
    nb::list trials = continues ? nb::list(nb::borrow<nb::tuple>(made->trials.get())) : nb::list();
    for (std::size_t i = nb::len(trials); i < finished.size(); ++i) {
      trials.append(python::ToFinished(type_->get(), finished[i], space_));
    }
    nb::tuple all(trials);
    made_ = std::shared_ptr<const Made>(new Made{finished, Kept(all)});
    return all;
  }

  struct Made {
    TrialLog::View view;
    Kept trials;
  };

  const Bound bound_;
  const Space space_;
  const std::shared_ptr<const Kept> type_;    // vernier.FinishedTrial. Shared with the factory.
  mutable std::shared_ptr<const Made> made_;  // Guarded by the GIL. Shared with calls that read it.
};

// --- rules ---
class OwnRule final : public EarlyStopper {
 public:
  // `finished`: an empty dict.
  OwnRule(Bound bound, nb::dict finished)
      : bound_(std::move(bound)), finished_(std::move(finished)) {}

  std::string_view name() const override { return bound_.name; }
  std::string_view version() const override { return VersionOf(*bound_.object); }
  std::string options() const override { return bound_.options; }

  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    const WithGil gil;
    const auto verdict = Guarded<Verdict>([&] {
      nb::list curves;
      for (const Curve& curve : others) curves.append(ToObject(curve));
      const auto answer = nb::cast<nb::tuple>(
          Call(bound_.object->get(), "judge", ToObject(running), nb::tuple(curves)));
      Verdict said{.stop = nb::cast<bool>(answer[0]), .numbers = {}, .explanation = ""};
      for (const auto& [name, value] : nb::cast<nb::dict>(answer[1])) {
        said.numbers[nb::cast<std::string>(name)] = nb::cast<double>(value);
      }
      said.explanation = nb::cast<std::string>(answer[2]);
      return said;
    });
    if (verdict.ok()) return *verdict;
    return {.stop = false, .numbers = {}, .explanation = std::string(verdict.status().message())};
  }

 private:
  // A finished curve does not change any more, and is made once.
  nb::object ToObject(const Curve& curve) const {
    if (!curve.finished) return Make(curve);
    const auto known = nb::borrow<nb::dict>(finished_.get());
    const nb::object key = nb::make_tuple(curve.trial.value(), curve.points.size());
    if (known.contains(key)) return known[key];
    nb::object made = Make(curve);
    known[key] = made;
    return made;
  }

  nb::object Make(const Curve& curve) const {
    nb::list steps;
    nb::list values;
    for (const CurvePoint& point : curve.points) {
      steps.append(point.step);
      values.append(point.value);
    }
    return Call(bound_.object->get(),
                "curve",
                curve.trial.value(),
                nb::tuple(steps),
                nb::tuple(values),
                curve.finished,
                curve.stopped_early,
                curve.keeps_constraints,
                Numbers(curve.coordinates));
  }

  const Bound bound_;
  const Kept finished_;  // A dict, changed with the GIL.
};

// --- factories ---
// Calls a method of vernier._own.Classes that returns a code, and an error's field and message, or a bound object, its name
// and its options.
template <typename... Arguments>
absl::StatusOr<Bound> Bind(const Kept& classes, const char* method, const Arguments&... arguments) {
  return Guarded<Bound>([&]() -> absl::StatusOr<Bound> {
    const auto answer = nb::cast<nb::tuple>(Call(classes.get(), method, arguments...));
    if (nb::cast<std::string>(answer[0]) != "OK") {
      return FieldError(nb::cast<std::string>(answer[1]), nb::cast<std::string>(answer[2]));
    }
    return Bound{.name = nb::cast<std::string>(answer[2]),
                 .options = nb::cast<std::string>(answer[3]),
                 .object = std::make_shared<const Kept>(nb::borrow(answer[1]))};
  });
}

absl::StatusOr<std::unique_ptr<Optimizer>> NewOwnOptimizer(const Kept& classes,
                                                           const Problem& problem,
                                                           const Choice& choice) {
  const WithGil gil;
  return Guarded<std::unique_ptr<Optimizer>>([&]() -> absl::StatusOr<std::unique_ptr<Optimizer>> {
    const nb::object type = nb::module_::import_("vernier._own").attr("FinishedTrial");
    nb::list objectives;
    for (const Objective& objective : problem.objectives) {
      objectives.append(nb::make_tuple(objective.metric, objective.goal == Goal::kMaximize));
    }
    VERNIER_ASSIGN_OR_RETURN(Bound bound,
                             Bind(classes,
                                  "bind_optimizer",
                                  OptionsOf(choice),
                                  nb::cast(SpaceObject{problem.space}),
                                  objectives,
                                  problem.outcome_constraints,
                                  ToEarlier(type, problem)));
    return std::make_unique<OwnOptimizer>(
        std::move(bound), problem.space, std::make_shared<const Kept>(type));
  });
}

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewOwnRule(const Kept& classes,
                                                         Goal goal,
                                                         const Choice& choice) {
  const WithGil gil;
  const bool is_max = goal == Goal::kMaximize;
  return Guarded<std::unique_ptr<EarlyStopper>>(
      [&]() -> absl::StatusOr<std::unique_ptr<EarlyStopper>> {
        VERNIER_ASSIGN_OR_RETURN(Bound bound,
                                 Bind(classes, "bind_rule", OptionsOf(choice), is_max));
        return std::make_unique<OwnRule>(std::move(bound), nb::dict());
      });
}

}  // namespace

AlgorithmCatalogue CatalogueWith(std::shared_ptr<const Kept> classes) {
  AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  // The name is free, since BuiltIn knows it as one that it lacks.
  const absl::Status algorithm =
      catalogue.AddAlgorithm(kOwnCode, [classes](const Problem& problem, const Choice& choice) {
        return NewOwnOptimizer(*classes, problem, choice);
      });
  const absl::Status rule = catalogue.AddStoppingRule(
      kOwnCode,
      [classes](Goal goal, const Choice& choice) { return NewOwnRule(*classes, goal, choice); });
  if (!algorithm.ok() || !rule.ok()) throw std::runtime_error("the catalogue has a name twice");
  return catalogue;
}

ReplayScope::ReplayScope() { is_replay = true; }
ReplayScope::~ReplayScope() { is_replay = false; }

}  // namespace vernier::python
