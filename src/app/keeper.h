#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "src/app/server.h"
#include "src/base/background_thread.h"
#include "src/base/thread_pool.h"
#include "src/core/recent_durations.h"
#include "src/service/cluster_source.h"
#include "src/service/server_state.h"
#include "vernier/core/clock.h"
#include "vernier/engine.h"
#include "vernier/launcher.h"
#include "vernier/studies.h"

namespace vernier::app {

// Keeps studies moving from a thread of its own: steps the engine, or, where the server runs none, does what time decides
// (leases, time budgets). Wake may be called from any thread.
class Keeper final : public service::ClusterSource {
 public:
  // How programs of attempts report by themselves; null: they cannot.
  using Reporting = decltype(EngineOptions::reporting);
  // Errors: as NewHostLauncher.
  static absl::StatusOr<std::unique_ptr<Keeper>> Start(Studies& studies,
                                                       const Clock& clock,
                                                       const ServerOptions& options,
                                                       Reporting reporting);
  ~Keeper() override;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // The definition with what its job comes to here (src/jobs/resolution.h), once it is known that the job could be
  // started and its metrics be read. Thread-safe.  InvalidArgument: a FieldError.
  absl::StatusOr<StudySpec> PrepareJob(StudySpec spec) const;

  // Where the server runs no engine: this host, idle.
  absl::StatusOr<std::vector<Node>> Nodes() override;
  std::vector<QueuedGang> Queue() override;

  // Why no trial is started at present, in one sentence; empty: they are, as there is room.
  std::string WhyHeld();
  // The studies that did not move in the last step.
  std::vector<StudyTrouble> Troubles() const;
  service::LoopTimes Times() const;
  // For how long the step under way has run, or has been due; zero: there is nothing to do.
  absl::Duration Lateness() const;

  // Trials of the study may be started.
  void Want(const std::string& study);
  // Something changed: look at once.
  void Wake();
  // Ends the loop after the step under way. Idempotent.
  void Stop();

 private:
  Keeper(Studies& studies, const Clock& clock, ServerOptions options)
      : studies_(studies), clock_(clock), options_(std::move(options)) {}
  absl::StatusOr<std::unique_ptr<Launcher>> NewLauncher();
  absl::Status StartEngine(Reporting reporting);
  // A job with an image needs something to run it.
  absl::Status CheckEngine(const TrainingJob& job) const;
  absl::Duration Step();
  absl::Duration TakeStep();
  absl::StatusOr<absl::Duration> Move();
  // Keeps for others which studies do not move, and logs which came to a stop, and which move again.
  void KeepTroubles();
  // Suggestions of so many studies are computed at once.
  static constexpr int kMostThreads = 64;

  Studies& studies_;
  const Clock& clock_;
  const ServerOptions options_;
  base::ThreadPool threads_{kMostThreads};  // For what the engine does not wait for.
  // With this host's launcher; null: another one runs trials.
  std::shared_ptr<launch::ContainerHost> containers_;
  std::unique_ptr<Launcher> launcher_;  // With the engine.
  std::unique_ptr<Engine> engine_;      // Null: the server runs none.
  std::string trouble_;                 // What the last step said, so that it is logged once.
  // Studies that do not move, with their names: logged once.
  std::map<StudyId, std::string> stuck_;
  RecentDurations steps_;
  RecentDurations delays_;
  mutable absl::Mutex mu_;
  // When the next step should begin: after its pause, or at once since somebody woke it.
  absl::Time due_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::Time begun_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();  // The step under way.
  std::vector<StudyTrouble> troubles_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> wanted_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<base::BackgroundLoop> loop_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::app
