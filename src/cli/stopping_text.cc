#include "src/cli/stopping_text.h"

#include <cmath>
#include <string_view>

#include "fmt/format.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/fields.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/objectives.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

double ShareOf(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ShareOf(std::int64_t part, std::int64_t whole) {
  return ShareOf(static_cast<double>(part), static_cast<double>(whole));
}
double ShareOf(absl::Duration part, absl::Duration whole) {
  return ShareOf(absl::ToDoubleSeconds(part), absl::ToDoubleSeconds(whole));
}

std::string Percent(double share) { return fmt::format("{:.0f}%", share * 100); }

std::string Trials(std::int64_t count) {
  return fmt::format("{} trial{}", count, count == 1 ? "" : "s");
}

// Three significant digits, but never an exponent for many hours: "6.5", "0.0123", "1234".
std::string Hours(absl::Duration time) {
  const double hours = absl::ToDoubleHours(time);
  return hours >= 100 ? fmt::format("{:.0f}", hours) : fmt::format("{:.3g}", hours);
}

std::string Value(const Objective& objective, double value) {
  return objective.metric + " " + FormatFigure(value);
}

std::string DescribeRule(const StudySpec& spec, const ReportedRule& rule) {
  std::string text = rule.choice.name;
  if (!rule.choice.options.empty()) text += " " + DescribeOptions(rule.choice);
  switch (rule.origin) {
    case RuleOrigin::kGiven:
      break;
    case RuleOrigin::kOwn:
      text += ActsOnStopping(spec) ? ", the study's own" : ", the study's own, not acted on";
      break;
    case RuleOrigin::kDefault:
      text += ", since the study has none; --rule names another";
      break;
  }
  return text;
}

void AddBest(const Objective& objective, const StoppingSimulation& simulation, Fields& fields) {
  if (!simulation.best) {
    fields.Add("best trial", "none yet");
    return;
  }
  const std::string best = fmt::format(
      "#{}, {}", simulation.best->trial.value(), Value(objective, simulation.best->value));
  const SimulatedStop* stop = simulation.Find(simulation.best->trial);
  if (stop == nullptr) {
    fields.Add("best trial", best + ": would not have been stopped");
    return;
  }
  fields.Add(
      "best trial",
      fmt::format(
          "{}: would have been stopped at step {} of {}", best, stop->step, stop->last_step));
  if (!simulation.best_kept) return;
  const double kept = simulation.best_kept->value;
  std::string text =
      fmt::format("#{}, {}", simulation.best_kept->trial.value(), Value(objective, kept));
  if (IsBetter(objective.goal, simulation.best->value, kept)) {
    text += ", worse by " + FormatCompact(std::abs(simulation.best->value - kept));
  }
  fields.Add("best kept", text);
}

void AddNotes(const StudyRecord& study,
              const ReportedRule& rule,
              const StoppingSimulation& simulation,
              Fields& fields) {
  bool is_first = true;
  const auto add = [&](const std::string& note) {
    fields.Add(is_first ? "note" : "", note);
    is_first = false;
  };
  const std::int64_t stopped = simulation.was_stopped;
  if (stopped > 0) {
    std::string note = fmt::format(
        "{} {} really stopped early; how {} would have gone on is unknown, so {} for no savings",
        Trials(stopped),
        stopped == 1 ? "was" : "were",
        stopped == 1 ? "it" : "they",
        stopped == 1 ? "it counts" : "they count");
    if (rule.origin == RuleOrigin::kOwn && ActsOnStopping(study.study.spec)) {
      note += fmt::format("; `vernier study show {}` estimates what the rule saved", study.name());
    }
    add(note);
  }
  if (study.study.open > 0) add("trials that have not ended are left out");
  if (study.has_several_objectives()) {
    add(fmt::format("rules look at the first objective only, {}", study.objective().metric));
  }
}

ordered_json StopJson(const SimulatedStop& stop) {
  ordered_json item = {{"trial", stop.trial.value()},
                       {"step", stop.step},
                       {"last_step", stop.last_step},
                       {"value", NumberToJson(stop.value)}};
  item["final_value"] = stop.final_value ? NumberToJson(*stop.final_value) : ordered_json();
  item["would_have_won"] = stop.was_stopped ? ordered_json() : ordered_json(stop.would_have_won);
  item["really_stopped"] = stop.was_stopped;
  item["reason"] = stop.explanation;
  return item;
}

// Amounts of the whole study and the part that is saved.
void AddCosts(const StoppingSimulation& simulation, ordered_json& item) {
  const TrialCost& total = simulation.total;
  const TrialCost& saved = simulation.saved;
  item["steps"] = total.steps;
  item["saved_steps"] = saved.steps;
  item["saved_steps_share"] = ShareOf(saved.steps, total.steps);
  item["trial_time_seconds"] = absl::ToDoubleSeconds(total.time);
  item["saved_time_seconds"] = absl::ToDoubleSeconds(saved.time);
  item["saved_time_share"] = ShareOf(saved.time, total.time);
  if (total.gpu_time > absl::ZeroDuration()) {
    item["gpu_hours"] = absl::ToDoubleHours(total.gpu_time);
    item["saved_gpu_hours"] = absl::ToDoubleHours(saved.gpu_time);
    item["saved_gpu_share"] = ShareOf(saved.gpu_time, total.gpu_time);
  }
}

}  // namespace

std::string DescribeSavings(const StoppingSavings& savings, std::int64_t trials) {
  std::string text = fmt::format("{} of {} stopped", savings.stopped, Trials(trials));
  if (!savings.is_known) return text;
  text += fmt::format(
      ", about {} of trial time saved ({})", FormatElapsed(savings.time), Percent(savings.share));
  if (savings.gpu_time > absl::ZeroDuration()) {
    text += fmt::format(", {} GPU hours", Hours(savings.gpu_time));
  }
  return text;
}

ordered_json SavingsJson(const StoppingSavings& savings) {
  ordered_json item = {{"stopped_by_rule_count", savings.stopped}};
  if (!savings.is_known) return item;
  item["stopped_time_saved_seconds"] = absl::ToDoubleSeconds(savings.time);
  item["stopped_time_saved_share"] = savings.share;
  item["stopped_gpu_hours_saved"] = absl::ToDoubleHours(savings.gpu_time);
  return item;
}

std::string DescribeUnactedRule(const StoppingSimulation& simulation) {
  std::string text = fmt::format("would have stopped {} of {} (rule not acted on)",
                                 simulation.stops.size(),
                                 Trials(simulation.judged));
  if (!simulation.stops.empty()) {
    text += fmt::format(", saving about {} of trial time ({})",
                        FormatElapsed(simulation.saved.time),
                        Percent(ShareOf(simulation.saved.time, simulation.total.time)));
    if (simulation.saved.gpu_time > absl::ZeroDuration()) {
      text += fmt::format(" and {} GPU hours", Hours(simulation.saved.gpu_time));
    }
  }
  if (simulation.best) {
    const bool is_stopped = simulation.Find(simulation.best->trial) != nullptr;
    text += fmt::format("; the best trial #{} would {}have been stopped",
                        simulation.best->trial.value(),
                        is_stopped ? "" : "not ");
  }
  return text;
}

ordered_json UnactedRuleJson(const StoppingSimulation& simulation) {
  ordered_json item = {
      {"would_stop_count", simulation.stops.size()},
      {"would_save_time_seconds", absl::ToDoubleSeconds(simulation.saved.time)},
      {"would_save_time_share", ShareOf(simulation.saved.time, simulation.total.time)},
      {"would_save_gpu_hours", absl::ToDoubleHours(simulation.saved.gpu_time)}};
  if (simulation.best) {
    item["would_stop_best_trial"] = simulation.Find(simulation.best->trial) != nullptr;
  }
  return item;
}

std::string DescribeSimulation(const StudyRecord& study,
                               const ReportedRule& rule,
                               const StoppingSimulation& simulation) {
  Fields fields;
  fields.Add("study", study.name());
  fields.Add("objective", DescribeObjectives(study.study.spec.objectives));
  fields.Add("rule", DescribeRule(study.study.spec, rule));
  fields.Add("trials judged", std::to_string(simulation.judged));
  const auto stops = std::ssize(simulation.stops);
  fields.Add(
      "would be stopped",
      fmt::format(
          "{} of {} ({})", stops, simulation.judged, Percent(ShareOf(stops, simulation.judged))));
  const TrialCost& total = simulation.total;
  const TrialCost& saved = simulation.saved;
  fields.Add(
      "steps saved",
      fmt::format(
          "{} of {} ({})", saved.steps, total.steps, Percent(ShareOf(saved.steps, total.steps))));
  fields.Add("trial time saved",
             fmt::format("{} of {} ({})",
                         FormatElapsed(saved.time),
                         FormatElapsed(total.time),
                         Percent(ShareOf(saved.time, total.time))));
  if (total.gpu_time > absl::ZeroDuration()) {
    fields.Add("GPU time saved",
               fmt::format("{} of {} GPU hours ({})",
                           Hours(saved.gpu_time),
                           Hours(total.gpu_time),
                           Percent(ShareOf(saved.gpu_time, total.gpu_time))));
  }
  AddBest(study.objective(), simulation, fields);
  // Whether trials that were stopped in fact would have won is unknown.
  if (stops > simulation.CountUnknown()) {
    const std::int64_t winners = simulation.CountWinners();
    fields.Add("winners stopped",
               winners == 0
                   ? "none: no stopped trial ended better than the best one kept"
                   : fmt::format("{}, which ended better than the best one kept", Trials(winners)));
  }
  AddNotes(study, rule, simulation, fields);
  return fields.Text();
}

Table StopTable(const StoppingSimulation& simulation) {
  Table table({{.name = "TRIAL", .align = Align::kRight},
               {.name = "STOPPED AT", .align = Align::kRight},
               {.name = "VALUE THEN", .align = Align::kRight},
               {.name = "FINAL VALUE", .align = Align::kRight},
               {.name = "WOULD HAVE WON"},
               {.name = "REASON", .flexible = true, .least = 20}});
  for (const SimulatedStop& stop : simulation.stops) {
    const std::string unknown = stop.was_stopped ? "unknown" : "-";
    const std::string won = stop.would_have_won ? "yes" : "no";
    table.AddRow({{std::to_string(stop.trial.value())},
                  {fmt::format("{}/{}", stop.step, stop.last_step)},
                  {FormatFigure(stop.value)},
                  {stop.final_value ? FormatFigure(*stop.final_value) : unknown},
                  {stop.was_stopped ? unknown : won},
                  {stop.explanation}});
  }
  return table;
}

ordered_json SimulationJson(const StudyRecord& study,
                            const ReportedRule& rule,
                            const StoppingSimulation& simulation) {
  const auto stops = std::ssize(simulation.stops);
  ordered_json item = {
      {"study", study.name()},
      {"metric", study.objective().metric},
      {"rule", rule.choice.name},
      {"options", ordered_json::parse(rule.rule->options(), nullptr, /*allow_exceptions=*/false)},
      {"judged_trials", simulation.judged},
      {"stopped_trials", stops},
      {"stopped_share", ShareOf(stops, simulation.judged)},
      {"really_stopped_trials", simulation.was_stopped}};
  AddCosts(simulation, item);
  if (simulation.best) {
    const SimulatedStop* stop = simulation.Find(simulation.best->trial);
    item["best_trial"] = simulation.best->trial.value();
    item["best_value"] = NumberToJson(simulation.best->value);
    item["best_trial_stopped_at_step"] =
        stop == nullptr ? ordered_json() : ordered_json(stop->step);
  }
  if (simulation.best_kept) {
    item["best_kept_trial"] = simulation.best_kept->trial.value();
    item["best_kept_value"] = NumberToJson(simulation.best_kept->value);
  }
  item["stopped_winners"] = simulation.CountWinners();
  item["stops"] = ordered_json::array();
  for (const SimulatedStop& stop : simulation.stops) item["stops"].push_back(StopJson(stop));
  return item;
}

}  // namespace vernier::cli
