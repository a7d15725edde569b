#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "src/engine/job_rules.h"
#include "src/engine/news.h"
#include "src/engine/tasks.h"
#include "src/study/engine_moves.h"
#include "vernier/core/clock.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/engine.h"
#include "vernier/launcher.h"
#include "vernier/studies.h"

namespace vernier::engine {

// What every trial of an engine works with. None is owned.
struct Context {
  Studies& studies;
  study::EngineMoves& moves;  // Of `studies`.
  Launcher& launcher;
  const Clock& clock;
  const EngineOptions& options;
  Tasks& tasks;
  News& news;
  bool launcher_tells;  // When something of a gang may have changed.
};

// The life of one trial's job, from REQUESTED to its end: place, start, read metrics, stop, record how it ended.
//
// Holds nothing that is not in the log or with the launcher: a run made anew from the recorded trial goes on where an
// earlier process left off.
class TrialRun {
 public:
  TrialRun(const Context& context, TrialId id, absl::Time created);

  // The log says something new of it.
  void Touch() { is_touched_ = true; }
  // Moves as far as possible without waiting; a trial whose job was not placed yet stays where it is unless `may_start`.
  // An error is about the store or the launcher as a whole.
  absl::Status Step(const Study& study, bool may_start);
  // Begins to read what a running job has reported, and to store it, if it is not being read. So the reports of many
  // trials share a sync.
  void BeginReport();
  // Leaves the launcher's queue, if it is in it: its study is not to start it now.
  absl::Status StopWaiting();
  // The study was deleted: takes down what runs.
  absl::Status Abandon();

  // The trial has ended and its room was given back.
  bool done() const { return done_; }
  // Something runs, or is on its way up or down.
  bool active() const { return attempt_.has_value() && !done_; }
  // It has to be asked how it goes: nobody tells.
  bool is_polled() const { return active() && (source_ != nullptr || !context_.launcher_tells); }
  // When a limit of its job may be spent, as of the last step.
  absl::Time next_limit() const { return next_limit_; }
  TrialId id() const { return id_; }
  absl::Time created() const { return created_; }

 private:
  // From REQUESTED, QUEUED or wherever an earlier process left it, to an attempt of ours.
  void SetNextLimit(const Study& study);
  absl::Status TakeUp(const Study& study, Trial& trial, bool may_start);
  absl::Status Queue(const Study& study);
  absl::Status Place(const Study& study, const Trial& trial);
  // What comes of a gang that is not placed: it is asked for again, or, if it never will be, its trial fails.
  absl::Status PutOff(const AttemptId& id, const absl::Status& why, FailureClass failure);
  absl::Status Launch(const Trial& trial);
  // Starts the placed gang, or what of it was not started yet.
  absl::Status StartGang(const GangProgram& gang);
  // What runs of the attempt is taken down because of an error that is not the program's.
  absl::Status Abort(std::string_view error);
  absl::Status Adopt(const Study& study, Trial& trial);
  absl::Status AdoptEnded(const Trial& trial);
  absl::Status Follow(const Study& study, Trial& trial);
  absl::Status TakeDown(const GangStatus& status);
  absl::Status MarkRunning(Trial& trial, const GangStatus& status);
  // Tells the gang to stop, once, if the trial was told to or a limit is spent.
  absl::Status StopIfDue(const Trial& trial);
  // What a reader found and the study does not have yet. Used by one at a time.
  struct Source {
    std::unique_ptr<MetricReader> reader;
    std::vector<Measurement> unreported;
  };
  // One reading of it, and whether what it brought is stored.
  struct Reading {
    absl::Notification told;
    absl::Status stored;
    bool is_last = false;
    std::size_t count = 0;  // Number of measurements that it stores.
  };
  static void ReadFresh(Source& source, std::optional<absl::Time> started, bool is_last);
  void BeginReading(bool is_last);
  // Takes the outcome of a reading.  False: it is under way.
  absl::StatusOr<bool> TakeReading(Trial& trial);
  // Sees to it that what was reported is read. True: all that the trial's next move needs is stored.
  absl::StatusOr<bool> ReadMetrics(Trial& trial, bool needs_all);
  absl::Status Finish(const Study& study, const Trial& trial, const GangStatus& status);
  absl::Status FinishStopped(const Study& study, const Trial& trial);
  absl::Status FinishSucceeded(const Study& study, const Trial& trial);
  absl::Status FinishFailed(const GangStatus& status);
  // Why the trial is not run again although its end may pass; empty: it is.
  absl::StatusOr<std::string> WhyNotAgain(const Study& study,
                                          const Trial& trial,
                                          const GangStatus& end) const;
  // Ends a trial that waits for its first run for too long.
  absl::Status Withdraw(const Trial& trial, std::string_view reason);
  // What the end of the attempt means for its trial, where the launcher alone cannot tell.
  GangStatus Judge(const Trial& trial, GangStatus status) const;
  // Back to QUEUED, for the next attempt.
  absl::Status Requeue();
  absl::Status RecordAttempt(const GangStatus& status, AttemptState state);
  absl::Status GiveUp(FailureClass failure, std::string_view message);
  absl::Status GiveBack();
  // Recalls what the trial's last attempt was started with.
  absl::Status LoadDefinition(const Trial& trial);
  absl::StatusOr<GangProgram> Program(const Trial& trial) const;
  absl::Status OpenReader(const Trial& trial, const GangProgram& gang);
  Caller caller() const;

  const Context context_;
  const TrialId id_;
  const absl::Time created_;  // Its place in the queue, which a retry keeps.
  absl::Time next_limit_ = absl::InfiniteFuture();
  Trial trial_;  // As of the last step.
  bool is_touched_ = true;
  bool done_ = false;
  bool stop_sent_ = false;
  std::optional<AttemptId> waiting_;       // In the launcher's queue.
  std::optional<SpentLimit> spent_limit_;  // Why this process stopped the attempt.
  std::string internal_error_;        // Why this process aborted the attempt; empty if it did not.
  std::optional<AttemptId> attempt_;  // Placed or adopted by this process: it holds its room.
  // What the last attempt was started with, whatever became of the study's definition since. Shared with the study.
  std::shared_ptr<const StudySpec> definition_;
  // Started or adopted to the end. Where that was refused half way, by a full disk for one, the next step finds out from
  // the records how far it came.
  bool taken_up_ = false;
  // Of that attempt; shared with who reads it. Null: none is read.
  std::shared_ptr<Source> source_;
  std::shared_ptr<Reading> reading_;  // Shared with who does it; null: none is under way.
  bool has_read_all_ = false;
  // When the trial began to run; set while its reports are read.
  std::optional<absl::Time> reads_since_;
};

}  // namespace vernier::engine
