#include "src/cli/stopping_source.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/codec/spec_form.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/wire/time_proto.h"
#include "vernier/algorithm_catalogue.h"

namespace vernier::cli {
namespace {

absl::StatusOr<std::vector<TimedPoint>> LoadPoints(Connection& connection,
                                                   const v1::Trial& trial,
                                                   const std::string& metric) {
  VERNIER_ASSIGN_OR_RETURN(const auto measurements, ListMeasurements(connection, trial));
  std::vector<TimedPoint> points;
  for (const v1::Measurement& measurement : measurements) {
    const auto value = measurement.metrics().find(metric);
    // A measurement of other metrics is not judged.
    if (value == measurement.metrics().end()) continue;
    points.push_back({.time = wire::DecodeTime(measurement.time()),
                      .step = measurement.step(),
                      .value = value->second});
  }
  return points;
}

// Shows on a terminal how far a long simulation has come: one line, redrawn in place, from the third second on.
class SimulationNotice {
 public:
  explicit SimulationNotice(Context& context)
      : context_(context), started_(context.Now()), drawn_(started_) {}
  ~SimulationNotice();
  SimulationNotice(const SimulationNotice&) = delete;
  SimulationNotice& operator=(const SimulationNotice&) = delete;

  // "reading curves: 12 of 200 trials".
  void Show(std::string_view doing, std::size_t done, std::size_t of, std::string_view what);

 private:
  Context& context_;
  absl::Time started_;
  absl::Time drawn_;
  bool is_shown_ = false;
};

SimulationNotice::~SimulationNotice() {
  // Erases the line, so that the answer begins at the left.
  if (is_shown_) context_.console().err << "\r\x1b[K" << std::flush;
}

void SimulationNotice::Show(std::string_view doing,
                            std::size_t done,
                            std::size_t of,
                            std::string_view what) {
  if (!context_.console().is_terminal) return;
  const absl::Time now = context_.Now();
  if (now - started_ < absl::Seconds(2) || now - drawn_ < absl::Milliseconds(200)) return;
  context_.console().err << fmt::format("\r{}: {} of {} {}\x1b[K", doing, done, of, what)
                         << std::flush;
  drawn_ = now;
  is_shown_ = true;
}

}  // namespace

bool ActsOnStopping(const StudySpec& spec) {
  const auto act = spec.stopping.options.find(kActOption);
  return act == spec.stopping.options.end() || act->second != ParameterValue(false);
}

absl::StatusOr<ReportedRule> ChooseReportedRule(
    const StudySpec& spec,
    const std::string& name,
    const std::map<std::string, ParameterValue>& options) {
  ReportedRule chosen;
  if (!name.empty()) {
    chosen.choice.name = name;
  } else if (spec.stopping.name != "none") {
    chosen.choice = spec.stopping;
    if (options.empty()) chosen.origin = RuleOrigin::kOwn;
  } else {
    chosen.choice.name = std::string(codec::kAutomaticRule);
    chosen.origin = RuleOrigin::kDefault;
  }
  for (const auto& [option, value] : options) chosen.choice.options[option] = value;
  chosen.choice.options.erase(kActOption);
  const AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  VERNIER_ASSIGN_OR_RETURN(chosen.rule,
                           catalogue.NewEarlyStopper(chosen.choice, FirstObjective(spec).goal));
  if (chosen.rule == nullptr) {
    return InvalidArgument("--rule: '{}' stops no trial", chosen.choice.name);
  }
  // Which trials would have come back depends on those that would have run meanwhile.
  if (chosen.rule->needs_pausing()) {
    return FailedPrecondition(
        "rule '{}' with options {} takes its stops back; what it would have stopped cannot be told "
        "from trials that have run",
        chosen.choice.name,
        chosen.rule->options());
  }
  return chosen;
}

absl::StatusOr<StoppingSimulation> SimulateRule(Context& context,
                                                Connection& connection,
                                                const StudyRecord& study,
                                                std::vector<TrialRecord> trials,
                                                const EarlyStopper& rule) {
  SimulationNotice notice(context);
  std::ranges::sort(trials, {}, [](const TrialRecord& record) { return record.trial.number; });
  std::vector<SimulatedTrial> simulated;
  for (TrialRecord& record : trials) {
    const bool breaks_constraint = study.BreaksConstraint(record.trial);
    simulated.push_back({.trial = std::move(record.trial), .feasible = !breaks_constraint});
    SimulatedTrial& trial = simulated.back();
    if (trial.trial.measurements > 0) {
      VERNIER_ASSIGN_OR_RETURN(trial.points,
                               LoadPoints(connection, record.message, study.objective().metric));
    }
    notice.Show("reading curves", simulated.size(), trials.size(), "trials");
  }
  return SimulateStopping(study.study.spec,
                          rule,
                          simulated,
                          study.study.best,
                          [&notice](std::size_t judged, std::size_t of) {
                            notice.Show("judging", judged, of, "measurements");
                          });
}

}  // namespace vernier::cli
