// Events as lines. By default only the ends of trials, retries and changes of the study are printed (Brief): a study of
// thousands of trials in a log file should stay readable. -v prints every event (Sentence). Changes that only the log
// needs, such as renewed leases, have no line.

#include <variant>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/study_board.h"
#include "src/cli/terminal/text.h"
#include "src/codec/spec_changes.h"

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

// An event in words, without its time; one overload for each kind.
struct Sentence {
  const StudyBoard& board;

  std::string operator()(const StudyCreated& created) const {
    return fmt::format("study {} created", created.spec.name);
  }
  std::string operator()(const StudyStateChanged& changed) const {
    return Reasoned(fmt::format("study {}", StudyStateName(changed.to)), changed.reason);
  }
  std::string operator()(const StudyAmended& amended) const {
    if (!amended.changes.empty()) {
      return "study amended: " + codec::DescribeChanges(amended.changes);
    }
    if (amended.fixed) return "study amended: failures so far no longer count";
    return amended.whole ? "" : "study amended";
  }
  std::string operator()(const AlgorithmChanged& changed) const {
    return changed.from_version.empty()
               ? fmt::format("algorithm {} version {}", changed.name, changed.to_version)
               : fmt::format("algorithm {} changed from version {} to {}",
                             changed.name,
                             changed.from_version,
                             changed.to_version);
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
    return Reasoned(text, FirstLine(changed.message));
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
  std::string operator()(const ResumeDecided& decided) const {
    return Reasoned(
        fmt::format("trial {} to be resumed by {}", decided.trial.value(), decided.verdict.rule),
        decided.verdict.explanation);
  }
  std::string operator()(const LeaseGranted& granted) const {
    return fmt::format("trial {} leased to {}", granted.trial.value(), granted.lease.holder);
  }
  std::string operator()(const LeaseRenewed&) const { return ""; }
  std::string operator()(const LeaseExpired& expired) const {
    return fmt::format("trial {} lost its lease", expired.trial.value());
  }
  std::string operator()(const AttemptPlaced& placed) const {
    // Every trial has a first attempt; only reruns are news.
    if (placed.attempt.value() == 1) return "";
    return fmt::format("trial {} attempt {} placed", placed.trial.value(), placed.attempt.value());
  }
  std::string operator()(const AttemptStateChanged& changed) const {
    // Without a failure, the state of the trial tells the same.
    if (changed.failure == FailureClass::kNone) return "";
    return Reasoned(fmt::format("trial {} attempt {} {}",
                                changed.trial.value(),
                                changed.attempt.value(),
                                AttemptStateName(changed.to)),
                    FirstLine(changed.message));
  }
  std::string operator()(const TrialDeleted& deleted) const {
    return fmt::format("trial {} deleted", deleted.trial.value());
  }
  std::string operator()(const MetadataChanged&) const { return ""; }
};

// The end of a trial: "trial 7 COMPLETED loss=0.12, best so far (lr=0.003 batch=32) in 12s".
std::string EndOf(const TrialStateChanged& changed, const StudyBoard& board) {
  const TrialSummary row = board.RowOf(changed.trial);
  std::string text =
      fmt::format("trial {} {}", changed.trial.value(), StateText(row, board.longest()));
  if (changed.failure != FailureClass::kNone) {
    text += fmt::format(" {}", FailureClassName(changed.failure));
  }
  text += Metrics(changed.final_metrics);
  const bool several = board.spec() && board.spec()->objectives.size() > 1;
  if (row.is_best) text += several ? ", optimal so far" : ", best so far";
  if (!row.parameters.empty()) text += fmt::format(" ({})", row.parameters);
  if (row.duration) text += fmt::format(" in {}", FormatElapsed(*row.duration));
  return Reasoned(text, FirstLine(changed.message));
}

// The retry of a trial: "trial 7 attempt 1 LOST NODE_LOST, tried again: The replica chief 0 was lost". Empty if it is
// queued for another reason than a failure.
std::string RetryOf(const TrialStateChanged& changed, const StudyBoard& board) {
  const std::optional<AttemptStateChanged>& failed = board.FailedAttempt(changed.trial);
  if (changed.to != TrialState::kQueued || !failed) return "";
  return Reasoned(fmt::format("trial {} attempt {} {} {}, tried again",
                              changed.trial.value(),
                              failed->attempt.value(),
                              AttemptStateName(failed->to),
                              FailureClassName(failed->failure)),
                  FirstLine(failed->message));
}

// As Sentence, but only ends of trials, retries and changes of the study.
struct Brief {
  const StudyBoard& board;

  std::string operator()(const TrialStateChanged& changed) const {
    return IsFinished(changed.to) ? EndOf(changed, board) : RetryOf(changed, board);
  }
  std::string operator()(const StudyCreated& created) const { return Sentence{board}(created); }
  std::string operator()(const StudyStateChanged& changed) const {
    return Sentence{board}(changed);
  }
  std::string operator()(const StudyAmended& amended) const { return Sentence{board}(amended); }
  std::string operator()(const TrialDeleted& deleted) const { return Sentence{board}(deleted); }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

std::string DescribeEvent(const Event& event,
                          const StudyBoard& board,
                          absl::TimeZone zone,
                          Detail detail) {
  if (detail == Detail::kNothing) return "";
  const std::string sentence = detail == Detail::kTrials
                                   ? std::visit(Brief{board}, event.payload)
                                   : std::visit(Sentence{board}, event.payload);
  if (sentence.empty()) return "";
  // Messages come from programs and may contain control characters.
  return fmt::format("{} {}", FormatMoment(event.time, zone), Printable(sentence));
}

}  // namespace vernier::cli
