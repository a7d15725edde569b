#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/terminal/trial_table.h"
#include "src/core/optimal_trials.h"
#include "src/core/outcome_constraint.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"

namespace vernier::cli {

struct BoardOptions {
  int width = 80;
  int height = 24;  // Maximum number of lines.
  bool color = false;
  bool unicode = true;
};

// A study as a fold of its event log, from the first event on: the content of a live view. Reads no clock.
class StudyBoard {
 public:
  // Applies the next event. The first one must be a StudyCreated.
  void Apply(const Event& event);

  const std::optional<StudySpec>& spec() const { return spec_; }
  StudyState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  EventSeq last_event() const { return last_event_; }
  // Number of trials that wait, prepare, run or stop.
  std::int64_t open() const;
  // Number of these with a program: preparing, running or stopping.
  std::int64_t running() const;
  std::int64_t finished() const;
  // As Study::best and Study::optimal.
  std::optional<TrialSummary> Best() const;
  // The trial at the last event.  REQUIRES: the log has created it.
  TrialSummary RowOf(TrialNumber trial) const;
  // Last step of the longest curve.
  std::int64_t longest() const { return longest_; }
  std::vector<TrialNumber> Optimal() const { return optimal_.optimal(); }
  // The failure that the trial's last attempt ended with; nullopt: it has not failed.  REQUIRES: the log has created it.
  const std::optional<AttemptStateChanged>& FailedAttempt(TrialNumber trial) const {
    return trials_.at(trial).failed_attempt;
  }

  // The screen at `now`: study, progress, best trial, running and recently ended trials.
  std::vector<std::string> Lines(const BoardOptions& options, absl::Time now) const;

 private:
  struct Entry {
    Point point;
    TrialState state = TrialState::kRequested;
    bool stopped_early = false;
    bool breaks_constraint = false;
    std::vector<std::optional<double>> objectives;
    std::vector<double> curve;
    std::int64_t last_step = 0;
    std::string message;
    // Unset once another one starts. Without replicas.
    std::optional<AttemptStateChanged> failed_attempt;
    std::optional<absl::Time> started;
    std::optional<absl::Time> ended;
    std::optional<absl::Time> paused;  // Since then.
    absl::Duration pauses;             // Those before.
    // Without its pauses. REQUIRES: it has started.
    absl::Duration Duration(absl::Time now) const {
      return paused.value_or(ended.value_or(now)) - *started - pauses;
    }
  };

  void On(const StudyCreated& created, absl::Time time);
  void On(const StudyStateChanged& changed, absl::Time time);
  void On(const StudyAmended& amended, absl::Time time);
  void On(const TrialCreated& created, absl::Time time);
  void On(const TrialStateChanged& changed, absl::Time time);
  void On(const AttemptStateChanged& changed, absl::Time time);
  void On(const MeasurementReported& reported, absl::Time time);
  void On(const StopDecided& decided, absl::Time time);
  void On(const ResumeDecided& decided, absl::Time time);
  // Events that a view does not show.
  template <typename Other>
  void On(const Other&, absl::Time) {}

  void NoteObjectives(const std::map<std::string, double>& metrics, Entry& entry) const;
  bool IsOptimal(TrialNumber trial) const;
  TrialSummary Row(TrialNumber number, const Entry& entry, absl::Time now) const;
  std::string TitleLine() const;
  std::string BestLine() const;
  std::string ProgressLine(const BoardOptions& options, absl::Time now) const;
  std::optional<absl::Duration> Remaining() const;
  std::vector<TrialSummary> VisibleRows(std::size_t limit, absl::Time now) const;

  std::optional<StudySpec> spec_;
  std::vector<std::string> names_;  // Names of parameters, in the user's order.
  StudyState state_ = StudyState::kActive;
  std::string reason_;
  EventSeq last_event_;
  absl::Time created_;
  absl::Time updated_;
  std::map<TrialNumber, Entry> trials_;
  std::vector<OutcomeConstraint> outcome_constraints_;
  OptimalTrials optimal_{{}};
  std::int64_t longest_ = 0;
};

// How much of a study's log is printed.
enum class Detail {
  kNothing,
  kTrials,  // Ends of trials, failed attempts that another one follows, and changes of the study.
  kEvents,  // Every event.
};

// A line about an event that `board` has already applied; empty for events without one.
std::string DescribeEvent(const Event& event,
                          const StudyBoard& board,
                          absl::TimeZone zone,
                          Detail detail = Detail::kEvents);

}  // namespace vernier::cli
