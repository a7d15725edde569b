#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/engine/context.h"
#include "src/engine/job_rules.h"
#include "src/engine/metric_feed.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier::engine {

// The life of one trial's job: wait for room, start, read metrics, stop, record the end, and run again if it is worth it.
//
//               room was placed                started or adopted
//   kWaiting ──────────────────────► kPlaced ──────────────────────► kRunning
//    │  ▲ ▲                            │                              │  │
//    │  │ └────────────────────────────┼── another attempt ───────────┘  │
//    │  └── definition has changed ────┘                                 │
//    │                                 │ trial ended by others,          │ trial ended,
//    │ trial ended while it waited     ▼ its gang is down                ▼ its gang is down
//    └──────────────────────────────► kDone ◄────────────────────────────┘
//
// The phase says what this process holds; the state of the trial is in the log. Everything else is in the log or with
// the launcher too: a run made anew from the recorded trial goes on where an earlier process left off.
class TrialRun {
 public:
  // `created`: the trial's place in the queue, which later attempts keep.
  TrialRun(const Context& context, TrialId id, absl::Time created);

  // Says that the log or the launcher has something new of the trial.
  void Touch() { is_touched_ = true; }
  // Moves as far as possible without waiting. A trial that waits for room stays there unless `may_start`.
  // An error concerns the store or the launcher as a whole; the next step tries again.
  absl::Status Step(const Study& study, bool may_start);
  // Begins to read the metrics of a running job. Called for all trials together, so that their reports share a sync.
  void BeginReport();
  // Leaves the launcher's queue, if it is in it: the study is not to start it now.
  absl::Status LeaveQueue();
  // Takes down the job of a trial whose study was deleted.
  absl::Status Abandon();

  // The trial has ended and its room was given back.
  bool done() const { return phase_ == Phase::kDone; }
  // The trial holds room: something runs, or is on its way up or down.
  bool active() const { return phase_ == Phase::kPlaced || phase_ == Phase::kRunning; }
  // Nobody reports its changes: it has to be stepped at each poll.
  bool is_polled() const {
    return active() && (attempt_.feed != nullptr || !context_.launcher_tells);
  }
  // When a limit of its job may be spent, as of the last step.
  absl::Time next_limit() const { return next_limit_; }
  TrialId id() const { return id_; }
  absl::Time created() const { return created_; }

 private:
  enum class Phase : std::uint8_t {
    kWaiting,  // Holds no room. The trial waits, or an earlier process's attempt is to be adopted.
    kPlaced,  // Holds room. Starting or adopting was refused half way, by a full disk for one: the next step goes on
              // from the records.
    kRunning,  // Started or adopted: checked, read and stopped until the gang is down.
    kDone,     // Ended, and its room was given back.
  };
  // Why this process told the gang to stop although nobody had stopped the trial. Neither: somebody had.
  struct StopCause {
    std::optional<SpentLimit> limit;
    std::string error = {};  // An error that is not the program's.
  };
  // The attempt at hand: the last recorded one.
  struct CurrentAttempt {
    AttemptId id;
    // What it was started with, even if the study's definition has changed since. Shared with the study.
    std::shared_ptr<const StudySpec> definition;
    std::unique_ptr<MetricFeed> feed;    // Null: no metrics are read.
    std::optional<StopCause> stop = {};  // Set once the gang was told to stop.
  };

  void SetNextLimit(const Study& study);

  // kWaiting, or kPlaced after a refused start.
  absl::Status Begin(const Study& study, Trial& trial, bool may_start);
  absl::Status Queue(const Study& study);
  absl::Status Place(const Study& study, const Trial& trial);
  // Keeps an unplaced gang in the queue, or fails its trial if it can never be placed.
  absl::Status StayQueued(const AttemptId& id, const absl::Status& why, FailureClass failure);
  absl::Status Launch(const Trial& trial);
  // Starts the placed gang, or the rest of it.
  absl::Status StartGang(const GangProgram& gang);
  // Takes back an attempt of an earlier process.
  absl::Status Adopt(const Study& study, Trial& trial);
  absl::Status AdoptEnded(const Trial& trial);

  // kRunning.
  absl::Status Follow(const Study& study, Trial& trial);
  absl::Status MarkRunning(Trial& trial, const GangStatus& status);
  // Tells the gang to stop, once, if the trial was told to or a limit is spent.
  absl::Status StopIfDue(const Trial& trial);
  absl::Status StopGang(StopCause cause);
  // Stops the gang of a trial that somebody else ended; gives its room back once it is down.
  absl::Status TakeDown(const GangStatus& status);

  // The end of an attempt, and what it means for the trial.
  absl::Status EndAttempt(const Study& study, const Trial& trial, const GangStatus& end);
  // Fills in what the launcher alone cannot tell: lost output, limits, errors of this side.
  GangStatus Interpret(const Trial& trial, GangStatus end) const;
  // Why a failed attempt is the trial's last although its policy would allow another; empty: it is not.
  absl::StatusOr<std::string> WhyNotAgain(const Study& study,
                                          const Trial& trial,
                                          const GangStatus& end) const;
  // Back to QUEUED and kWaiting, for the next attempt.
  absl::Status Requeue();
  bool MayPause(const Study& study, const Trial& trial) const;
  absl::Status Pause();
  absl::Status EndStopped(const Study& study, const Trial& trial, bool ran_to_end);
  absl::Status EndSucceeded(const Study& study, const Trial& trial);
  absl::Status EndFailed(const GangStatus& end);
  // Ends a trial that has waited too long for its first run.
  absl::Status Withdraw(const Trial& trial, std::string_view reason);
  absl::Status FailTrial(FailureClass failure, std::string_view message);
  // Gives room and place in the queue back: kDone.
  absl::Status Conclude();

  absl::Status RecordAttempt(const GangStatus& status, AttemptState state);
  // Makes the last recorded attempt the one at hand.
  absl::Status LoadAttempt(const Trial& trial);
  // The gang of an attempt; it has waited since the trial was created, whatever process asks.
  GangRequest Request(const AttemptId& attempt, const StudySpec& spec) const;
  absl::StatusOr<GangProgram> Program(const Trial& trial) const;
  absl::Status OpenFeed(const Trial& trial, const GangProgram& gang);

  const Context context_;
  const TrialId id_;
  const absl::Time created_;
  Phase phase_ = Phase::kWaiting;
  Trial trial_;  // As of the last step.
  bool is_touched_ = true;
  absl::Time next_limit_ = absl::InfiniteFuture();
  std::optional<AttemptId> queued_;  // In the launcher's queue. kWaiting only.
  CurrentAttempt attempt_;           // Loaded before the phase leaves kWaiting.
};

}  // namespace vernier::engine
