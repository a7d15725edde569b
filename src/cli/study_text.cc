// Texts about studies for people. `study show`, the summary of a run and the report share these functions, so that they
// name the same facts alike.

#include "src/cli/study_text.h"

#include <algorithm>
#include <variant>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/codec/spec_changes.h"
#include "src/codec/study_file.h"
#include "src/core/built_in_trainers.h"
#include "src/core/objectives.h"
#include "src/jobs/reproduction.h"
#include "vernier/core/limits.h"

namespace vernier::cli {
namespace {

// A choice; `study replay` shows all.
constexpr std::size_t kAmendmentsShown = 5;

std::string_view ScaleSuffix(Scale scale) {
  switch (scale) {
    case Scale::kLinear:
      return "";
    case Scale::kLog:
      return " log";
    case Scale::kReverseLog:
      return " reverse-log";
  }
  return "";
}

template <typename Range>
std::string DescribeRange(std::string_view kind, const Range& range) {
  // "{}" writes the shortest text that reads back as the same number, as the bounds of the file were written.
  std::string text =
      fmt::format("{} [{}, {}]{}", kind, range.lower, range.upper, ScaleSuffix(range.scale));
  if (range.step) text += fmt::format(" step {}", *range.step);
  if (range.points) text += fmt::format(" points {}", *range.points);
  return text;
}

template <typename Values, typename Format>
std::string Join(const Values& values, std::string_view separator, const Format& format) {
  std::string text;
  for (const auto& value : values) {
    if (!text.empty()) text += separator;
    text += format(value);
  }
  return text;
}

struct DomainWords {
  std::string operator()(const FloatDomain& d) const { return DescribeRange("float", d); }
  std::string operator()(const IntDomain& d) const { return DescribeRange("int", d); }
  std::string operator()(const DiscreteDomain& d) const {
    return fmt::format("discrete [{}]", Join(d.values, ", ", FormatFigure));
  }
  std::string operator()(const CategoricalDomain& d) const {
    return fmt::format("categorical [{}]", Join(d.values, ", ", FormatValue));
  }
  std::string operator()(const BoolDomain&) const { return "bool"; }
};

std::string DescribeParameter(const Parameter& parameter, std::size_t name_width) {
  std::string text =
      fmt::format("{:{}}  {}", parameter.name, name_width, DescribeDomain(parameter.domain));
  for (const Condition& condition : parameter.when) {
    text += fmt::format(
        ", when {} is {}", condition.parent, Join(condition.values, " or ", FormatValue));
  }
  if (parameter.default_value) {
    text += fmt::format(", default {}", FormatValue(*parameter.default_value));
  }
  return text;
}

void AddSpace(const Space& space, Fields& fields) {
  // Names are padded, so that domains stand below each other.
  std::size_t width = 0;
  for (const Parameter& parameter : space.parameters()) {
    width = std::max(width, parameter.name.size());
  }
  bool is_first = true;
  for (const Parameter& parameter : space.parameters()) {
    fields.Add(is_first ? "parameters" : "", DescribeParameter(parameter, width));
    is_first = false;
  }
  for (const std::string& constraint : space.constraints()) fields.Add("constraint", constraint);
}

std::string DescribeJob(const TrainingJob& job) {
  std::string text =
      job.python ? "python3 -m " + job.python->module : Join(job.command, " ", jobs::ShellQuote);
  if (!job.args.empty()) text += " " + Join(job.args, " ", jobs::ShellQuote);
  text += " (";
  bool is_first = true;
  for (const auto& [role, replica] : job.replicas) {
    text += fmt::format("{}{} {}", is_first ? "" : ", ", replica.count, RoleName(role, job));
    is_first = false;
  }
  return text + ")";
}

// Whether the program runs in a shell as it ran on the server. Images and environments exist only there.
bool RunsInShell(const TrainingJob& job) {
  if (RunsImages(job) || RunsInOwnFolder(job)) return false;
  if (!job.python) return true;
  return job.python->packages.empty() && job.python->runtime.empty() &&
         !IsBuiltInModule(job.python->module);
}

}  // namespace

Style StyleOf(StudyState state) {
  switch (state) {
    case StudyState::kActive:
      return Style::kCyan;
    case StudyState::kCompleted:
      return Style::kGreen;
    case StudyState::kFailed:
      return Style::kRed;
    case StudyState::kPaused:
    case StudyState::kStopping:
      return Style::kYellow;
    case StudyState::kCancelled:
      return Style::kDim;
  }
  return Style::kPlain;
}

std::string DescribeDomain(const Domain& domain) { return std::visit(DomainWords{}, domain); }

std::string DescribeUsage(const ResourceUsage& used) {
  return fmt::format("{} of CPU, {} of GPUs, at most {} a replica",
                     FormatElapsed(used.cpu_time),
                     FormatElapsed(used.gpu_time),
                     FormatBytes(used.peak_memory_bytes));
}

std::string DescribeUtilization(const jobs::Utilization& utilization) {
  std::string text;
  // Only what was measured is told.
  const auto add = [&text](const std::optional<double>& share, const char* of) {
    if (share)
      text += fmt::format("{}{:.0f}% of the {}", text.empty() ? "" : ", ", *share * 100, of);
  };
  add(utilization.cpus, "CPUs");
  add(utilization.memory, "memory");
  if (!text.empty()) text += " asked for";
  if (!utilization.gpus) return text;
  text += fmt::format("{}{:.0f}% of the GPUs' time (peak {:.0f}%)",
                      text.empty() ? "" : "; ",
                      *utilization.gpus * 100,
                      utilization.peak_gpus.value_or(0) * 100);
  if (utilization.gpu_memory) {
    text += fmt::format(", at most {:.0f}% of their memory", *utilization.gpu_memory * 100);
  }
  return text;
}

std::string DescribeParallel(std::int32_t parallel) {
  return parallel >= limits::kParallel ? "any number" : fmt::format("{}", parallel);
}

std::string DescribeBudget(const Study& study) {
  const Budget& budget = study.spec.budget;
  std::string text =
      budget.trials
          ? fmt::format("{} of {} trials", study.trials, *budget.trials)
          : fmt::format("{} trial{}, no bound", study.trials, study.trials == 1 ? "" : "s");
  // More failures than allowed, yet active: those before a change of the job no longer count.
  if (budget.failed_trials && study.failed >= *budget.failed_trials && !IsFinished(study.state)) {
    text += fmt::format(
        ", {} failed, at most {} since the job changed", study.failed, *budget.failed_trials);
  } else if (budget.failed_trials) {
    text += fmt::format(", {} of {} failed", study.failed, *budget.failed_trials);
  } else if (study.failed > 0) {
    text += fmt::format(", {} failed", study.failed);
  }
  if (budget.time) text += fmt::format(", time {}", codec::FormatDuration(*budget.time));
  if (budget.gpu_hours) {
    text += fmt::format(
        ", {:.2f} of {} GPU hours", absl::ToDoubleHours(study.used.gpu_time), *budget.gpu_hours);
  }
  return text;
}

std::string DescribeConvergence(const Study& study) {
  if (!study.spec.convergence) return "";
  const std::string tolerance = FormatFigure(study.spec.convergence->tolerance);
  const bool is_over = IsFinished(study.state);
  if (!HasConverged(study))
    return fmt::format("{}, tolerance {}", is_over ? "no" : "not yet", tolerance);
  std::string text = fmt::format("at trial {}", study.converged->value());
  // For a study that converged and ended, its state gives the reason.
  if (is_over && study.spec.convergence->stop) return text;
  text += fmt::format(": a further one is expected to improve {} by less than {}",
                      FirstObjective(study.spec).metric,
                      tolerance);
  const std::optional<std::int64_t>& bound = study.spec.budget.trials;
  if (!is_over && bound && *bound > study.trials) {
    text += fmt::format("; stopping saves {} of {} trials", *bound - study.trials, *bound);
  }
  return text;
}

std::string DescribeAmendment(const StudyAmended& amended) {
  if (!amended.changes.empty()) return codec::DescribeChanges(amended.changes);
  if (amended.fixed) return "the program was fixed: earlier failures no longer count";
  // Amendments by older versions do not record what changed.
  return amended.whole ? "" : "budget, parallel or labels";
}

std::string DescribeBestValue(const StudyRecord& study, const std::optional<double>& value) {
  if (!study.study.best) return "-";
  if (!value) return fmt::format("#{}", study.study.best->value());
  return fmt::format("{} (#{})", FormatFigure(*value), study.study.best->value());
}

std::string DescribeOptions(const Choice& choice) {
  return Join(choice.options, " ", [](const auto& option) {
    return fmt::format("{}={}", option.first, FormatValue(option.second));
  });
}

namespace {

// "median", "median (act=false min_trials=3)".
std::string DescribeChoice(const Choice& choice) {
  if (choice.options.empty()) return choice.name;
  return fmt::format("{} ({})", choice.name, DescribeOptions(choice));
}

}  // namespace

std::string DescribeStudy(const StudyRecord& record,
                          const StudyFacts& facts,
                          absl::TimeZone zone,
                          const std::vector<AmendmentRecord>& amendments) {
  const Study& study = record.study;
  Fields fields;
  fields.Add("study", study.spec.name);
  std::string state(StudyStateName(study.state));
  if (!study.reason.empty()) state += ": " + study.reason;
  fields.Add("state", state);
  if (record.message.has_trouble()) {
    fields.Add(
        "trouble",
        fmt::format("does not move, and is tried again: {}", record.message.trouble().error()));
  }
  if (!record.message.held().empty()) fields.Add("waiting", record.message.held());
  if (!study.spec.labels.empty()) {
    fields.Add("labels", Join(study.spec.labels, " ", [](const auto& label) {
                 return fmt::format("{}={}", label.first, label.second);
               }));
  }
  fields.Add("objective", DescribeObjectives(study.spec.objectives));
  std::string budget = DescribeBudget(study);
  if (facts.stopped > 0) budget += fmt::format(", {} stopped early", facts.stopped);
  if (facts.paused > 0) budget += fmt::format(", {} paused", facts.paused);
  fields.Add("budget", budget);
  fields.Add("algorithm",
             fmt::format("{}, stopping {}, {} at a time, seed {}",
                         DescribeChoice(study.spec.algorithm),
                         DescribeChoice(study.spec.stopping),
                         DescribeParallel(study.spec.parallel),
                         study.spec.seed));
  if (!facts.note.empty()) fields.Add("", facts.note);
  if (!study.spec.warm_start.empty()) {
    fields.Add("warm start",
               Join(study.spec.warm_start, ", ", [](const std::string& name) { return name; }));
  }
  AddSpace(study.spec.space, fields);
  for (const std::string& constraint : study.spec.outcome_constraints) {
    fields.Add("outcome", constraint);
  }
  if (study.spec.job) fields.Add("job", DescribeJob(*study.spec.job));
  if (study.spec.job && study.spec.job->code) {
    fields.Add("code", fmt::format("snapshot, SHA-256 {}", study.spec.job->code->sha256));
  }
  if (study.best) {
    const std::string best = DescribeBestValue(record, facts.best);
    fields.Add("best",
               record.has_several_objectives() ? record.objective().metric + " " + best : best);
  }
  if (record.has_several_objectives() && !study.optimal.empty()) {
    fields.Add("optimal", "trials " + Join(study.optimal, ", ", [](TrialNumber trial) {
                            return std::to_string(trial.value());
                          }));
  }
  if (const std::string since = DescribeConvergence(study); !since.empty()) {
    fields.Add("converged", since);
  }
  if (!facts.early_stopping.empty()) fields.Add("early stopping", facts.early_stopping);
  if (study.used != ResourceUsage{}) fields.Add("used", DescribeUsage(study.used));
  fields.Add("created", FormatMoment(study.created, zone));
  fields.Add("updated", FormatMoment(study.updated, zone));
  // Early amendments are left out: the last ones explain the present definition.
  const std::size_t hidden =
      amendments.size() > kAmendmentsShown ? amendments.size() - kAmendmentsShown : 0;
  for (std::size_t i = hidden; i < amendments.size(); ++i) {
    fields.Add(i == hidden ? "amended" : "",
               fmt::format("{}  {}",
                           FormatMoment(amendments[i].time, zone),
                           DescribeAmendment(amendments[i].amended)));
  }
  if (hidden > 0) {
    fields.Add(
        "",
        fmt::format(
            "and {} times before: `vernier study replay {}` shows them", hidden, study.spec.name));
  }
  return fields.Text();
}

int ReplicaCount(const StudySpec& spec) {
  int count = 0;
  if (!spec.job) return count;
  for (const auto& [role, replica] : spec.job->replicas) count += replica.count;
  return count;
}

std::string ReproducingCommand(const StudySpec& spec, const Trial& trial) {
  // An empty text tells the caller to point at `trial repeat` instead.
  if (!spec.job || !RunsInShell(*spec.job)) return "";
  return jobs::PrimaryCommand(spec, trial).value_or("");
}

Fields DescribeBest(const StudyRecord& study,
                    const StudySpec& definition,
                    const TrialRecord& record,
                    absl::Time now) {
  const Trial& trial = record.trial;
  Fields fields;
  fields.Add("best trial", fmt::format("{} of {}", trial.number.value(), study.name()));
  for (const Objective& objective : study.study.spec.objectives) {
    // A trial of a Vizier client may lack a value of some objective.
    if (const auto value = ObjectiveOf(trial, objective.metric)) {
      fields.Add(objective.metric, FormatFigure(*value));
    }
  }
  bool is_first = true;
  for (const std::string& name : study.parameter_names()) {
    const auto value = trial.point.find(name);
    // Inactive parameters have no value.
    if (value == trial.point.end()) continue;
    fields.Add(is_first ? "parameters" : "",
               fmt::format("{}={}", name, FormatValue(value->second)));
    is_first = false;
  }
  if (const auto duration = DurationOf(trial, now)) fields.Add("took", FormatElapsed(*duration));
  if (!trial.attempts.empty()) fields.Add("logs", trial.attempts.back().directory);
  const std::string command = ReproducingCommand(definition, trial);
  const int replicas = ReplicaCount(definition);
  // The command of a chief alone does not reproduce a trial of several replicas; `trial repeat` does.
  if (!command.empty()) fields.Add(replicas > 1 ? "its chief" : "reproduce", command);
  if (replicas > 1 || (command.empty() && study.study.spec.job)) {
    fields.Add("reproduce",
               fmt::format("vernier trial repeat {} {}", study.name(), trial.number.value()));
  }
  return fields;
}

}  // namespace vernier::cli
