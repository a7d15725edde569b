#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "src/engine/context.h"
#include "src/engine/tasks.h"
#include "src/engine/trial_run.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"
#include "vernier/engine.h"

namespace vernier::engine {

// One study, and, if it runs its own job, those of its trials that have not ended.
//
// A step of the engine calls Advance, then starts what AddStartable named, then calls Ask, then Conclude; whatever they
// return is given to Note. Each does no more than what may have changed asks for.
class StudyRun {
 public:
  StudyRun(const Context& context, StudyId id) : context_(context), id_(id) {}

  // The log says something new.
  void Touch() { is_touched_ = true; }
  // The launcher may have something new to say of the trial.
  void Touch(TrialNumber trial);

  // What one of the others returned in this step. After an error they do nothing until the next one.
  void Note(const absl::Status& status);
  // The end of a step.
  void Conclude(absl::Time now);
  const std::optional<StudyTrouble>& trouble() const { return trouble_; }

  // Begins to read what running trials have reported.
  void BeginReports();
  // Learns of new trials and moves what runs. `polls`: also trials that cannot tell whether they have something new.
  absl::Status Advance(bool polls);
  // Appends the trials that wait for room and may have it: the first, as far as the study's bound on parallel trials
  // allows. The others give up their places in the queue.
  absl::Status AddStartable(bool polls, std::vector<std::pair<StudyRun*, TrialRun*>>& startable);
  absl::Status Start(TrialRun& trial);
  // Asks for as many trials as the study's bound allows, and starts those for which there is room.
  absl::Status Ask();

  // Nothing of it is left to be done by this engine, until its log says something new.
  bool is_over() const;
  // Its trials are for others, now and ever.
  bool is_for_clients() const { return is_for_clients_; }
  // Something runs or waits that has to be asked how it goes.
  bool is_polled() const;
  // Number of trials that run and cannot tell whether they have something new.
  std::size_t polled() const { return polled_.size(); }
  // When it is to be looked at without anything having told so.
  absl::Time due() const;
  // REQUIRES: has_job().
  std::int32_t priority() const { return study_->spec.job->priority; }
  // There is something to do for it in this step.
  bool has_job() const { return study_ != nullptr && error_.ok() && !is_resting_; }

 private:
  struct Entry {
    TrialRun run;
    absl::Time due = absl::InfinitePast();
  };
  struct Asking {
    absl::Notification told;
    absl::StatusOr<std::vector<Trial>> outcome;
  };

  absl::Status Abandon();
  // Reads the study anew, and which of its trials have something new.
  absl::Status Refresh();
  absl::Status Discover();
  absl::Status DiscoverAll();
  void Add(TrialNumber number, absl::Time created);
  void SetDue(TrialNumber number, Entry& entry, absl::Time due);
  void SetAllDue();
  absl::Status StepDue(bool polls);
  // Files the trial where it belongs after it was stepped.
  void File(TrialNumber number);
  bool MayAsk() const;
  void BeginAsk();
  absl::Status TakeAsked();
  absl::Status AfterRefusal(const absl::Status& status);
  bool MayStart() const;

  const Context context_;
  const StudyId id_;
  std::string name_;             // Empty: not read yet.
  bool is_for_clients_ = false;  // It has no job; it never will.
  bool is_deleted_ = false;
  bool is_touched_ = true;
  bool may_start_ = false;        // New trials, as of this step.
  bool has_new_waiting_ = false;  // Some trial may be started that was not tried yet.
  // As last read; null: not yet, or there is nothing to do for it.
  std::shared_ptr<const Study> study_;
  absl::Status error_;       // The first one of this step.
  bool is_resting_ = false;  // In this step.
  std::optional<StudyTrouble> trouble_;
  absl::Duration rest_;  // The last one.
  EventSeq seen_;
  std::map<TrialNumber, Entry> trials_;               // Not ended, in order of number.
  std::set<std::pair<absl::Time, TrialNumber>> due_;  // All of them.
  std::set<TrialNumber> waiting_;                     // Of which nothing runs.
  std::set<TrialNumber> polled_;                      // That cannot tell.
  std::shared_ptr<Asking> asking_;      // Shared with whoever computes; null: nobody does.
  std::optional<EventSeq> refused_at_;  // To ask again makes sense once something has changed.
};

}  // namespace vernier::engine
