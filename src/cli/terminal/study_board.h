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
  int height = 24;  // Lines at most.
  bool color = false;
  bool unicode = true;
};

// A study as its log tells it: what a live view shows. Folds events from the first on; reads no clock.
class StudyBoard {
 public:
  // Events in the order of the log, the first one a StudyCreated.
  void Apply(const Event& event);

  const std::optional<StudySpec>& spec() const { return spec_; }
  StudyState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  EventSeq last_event() const { return last_event_; }
  // Trials that wait, prepare, run or stop.
  std::int64_t open() const;
  // Of those, the ones that somebody works on: preparing, running or stopping.
  std::int64_t running() const;
  std::int64_t finished() const;
  // As Study::best and Study::optimal.
  std::optional<TrialRow> Best() const;
  // As of the last event.  REQUIRES: the log has created the trial.
  TrialRow RowOf(TrialNumber trial) const;
  // The last step of the longest curve.
  std::int64_t longest() const { return longest_; }
  std::vector<TrialNumber> Optimal() const { return optimal_.optimal(); }

  // The screen: study, progress, best trial, running and lately finished trials. As of `now`.
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
    std::optional<absl::Time> started;
    std::optional<absl::Time> ended;
  };

  void On(const StudyCreated& created, absl::Time time);
  void On(const StudyStateChanged& changed, absl::Time time);
  void On(const StudyAmended& amended, absl::Time time);
  void On(const TrialCreated& created, absl::Time time);
  void On(const TrialStateChanged& changed, absl::Time time);
  void On(const MeasurementReported& reported, absl::Time time);
  void On(const StopDecided& decided, absl::Time time);
  // Facts that a view does not show.
  template <typename Other>
  void On(const Other&, absl::Time) {}

  void NoteObjectives(const std::map<std::string, double>& metrics, Entry& entry) const;
  bool IsOptimal(TrialNumber trial) const;
  TrialRow Row(TrialNumber number, const Entry& entry, absl::Time now) const;
  std::string TitleLine() const;
  std::string BestLine() const;
  std::string ProgressLine(const BoardOptions& options, absl::Time now) const;
  std::optional<absl::Duration> Remaining() const;
  std::vector<TrialRow> VisibleRows(std::size_t limit, absl::Time now) const;

  std::optional<StudySpec> spec_;
  std::vector<std::string> names_;  // Of the parameters, in the user's order.
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

// How much of a study's log is told.
enum class Detail {
  kNothing,
  kTrials,  // How each trial ended, and what becomes of the study.
  kEvents,  // Every step of every trial.
};

// One line for people about an event that `board` has applied already; empty for facts that only the log needs.
std::string DescribeEvent(const Event& event,
                          const StudyBoard& board,
                          absl::TimeZone zone,
                          Detail detail = Detail::kEvents);

}  // namespace vernier::cli
