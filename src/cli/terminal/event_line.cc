#include <variant>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/study_board.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

std::string Metrics(const std::map<std::string, double>& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) {
    text += fmt::format(" {}={}", name, FormatFigure(value));
  }
  return text;
}

std::string Reasoned(std::string_view text, std::string_view reason) {
  return reason.empty() ? std::string(text) : fmt::format("{}: {}", text, reason);
}

// What happened, without the time. One overload for each kind of event.
struct Sentence {
  const StudyBoard& board;

  std::string operator()(const StudyCreated& created) const {
    return fmt::format("study {} created", created.spec.name);
  }
  std::string operator()(const StudyStateChanged& changed) const {
    return Reasoned(fmt::format("study {}", StudyStateName(changed.to)), changed.reason);
  }
  std::string operator()(const StudyAmended&) const { return "study amended"; }
  std::string operator()(const AlgorithmChanged& changed) const {
    return changed.from_version.empty()
               ? fmt::format("{} version {} decides", changed.name, changed.to_version)
               : fmt::format("{} version {} decides from here, it was version {}",
                             changed.name,
                             changed.to_version,
                             changed.from_version);
  }
  std::string operator()(const TrialCreated& created) const {
    std::vector<std::string> names;
    if (board.spec()) {
      for (const Parameter& parameter : board.spec()->space.parameters()) {
        names.push_back(parameter.name);
      }
    }
    return fmt::format("trial {} proposed {} ({})",
                       created.trial.value(),
                       CompactPoint(created.point, names),
                       created.suggestion.origin);
  }
  std::string operator()(const TrialStateChanged& changed) const {
    std::string text =
        fmt::format("trial {} {}", changed.trial.value(), TrialStateName(changed.to));
    if (changed.to == TrialState::kCompleted) text += Metrics(changed.final_metrics);
    if (changed.failure != FailureClass::kNone) {
      text += fmt::format(" {}", FailureClassName(changed.failure));
    }
    return Reasoned(text, changed.message);
  }
  std::string operator()(const MeasurementReported& reported) const {
    return fmt::format("trial {} step={}{}",
                       reported.trial.value(),
                       reported.measurement.step,
                       Metrics(reported.measurement.metrics));
  }
  std::string operator()(const StopDecided& decided) const {
    return Reasoned(
        fmt::format("trial {} to be stopped by {}", decided.trial.value(), decided.stop.rule),
        decided.stop.explanation);
  }
  std::string operator()(const LeaseGranted& granted) const {
    return fmt::format("trial {} leased to {}", granted.trial.value(), granted.lease.holder);
  }
  std::string operator()(const LeaseRenewed&) const { return ""; }
  std::string operator()(const LeaseExpired& expired) const {
    return fmt::format("trial {} lost its lease", expired.trial.value());
  }
  std::string operator()(const AttemptPlaced& placed) const {
    if (placed.attempt.value() == 1) return "";
    return fmt::format("trial {} attempt {} placed", placed.trial.value(), placed.attempt.value());
  }
  std::string operator()(const AttemptStateChanged& changed) const {
    if (changed.failure == FailureClass::kNone) return "";
    return Reasoned(fmt::format("trial {} attempt {} {}",
                                changed.trial.value(),
                                changed.attempt.value(),
                                AttemptStateName(changed.to)),
                    changed.message);
  }
  std::string operator()(const TrialDeleted& deleted) const {
    return fmt::format("trial {} deleted", deleted.trial.value());
  }
  std::string operator()(const MetadataChanged&) const { return ""; }
};

}  // namespace

std::string DescribeEvent(const Event& event, const StudyBoard& board, absl::TimeZone zone) {
  const std::string sentence = std::visit(Sentence{board}, event.payload);
  if (sentence.empty()) return "";
  return fmt::format("{} {}", absl::FormatTime("%H:%M:%S", event.time, zone), Printable(sentence));
}

}  // namespace vernier::cli
