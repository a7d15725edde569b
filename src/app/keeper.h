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

// Keeps studies moving on its own thread: steps the engine, or, if the server runs none, does what depends on time
// (leases, time budgets). Wake may be called from any thread.
class Keeper final : public service::ClusterSource {
 public:
  // How programs of attempts report; null: they cannot.
  using Reporting = decltype(EngineOptions::reporting);
  // Errors: as NewHostLauncher.
  static absl::StatusOr<std::unique_ptr<Keeper>> Start(Studies& studies,
                                                       const Clock& clock,
                                                       const ServerOptions& options,
                                                       Reporting reporting);
  ~Keeper() override;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Resolves the study's job for this host (src/jobs/resolution.h), after checking that the job could be started and
  // its metrics be read. Thread-safe.  InvalidArgument: a FieldError.
  absl::StatusOr<StudySpec> PrepareJob(StudySpec spec) const;

  // The launcher's nodes; without an engine, this host when idle.
  absl::StatusOr<std::vector<Node>> Nodes() override;
  std::vector<QueuedGang> Queue() override;

  // Why no trial is started at present, as a sentence; empty: trials start as there is room.
  std::string WhyHeld();
  // The studies that did not move in the last step, and damaged ones.
  std::vector<StudyTrouble> Troubles() const;
  service::LoopTimes Times() const;
  // How long the current step has run, or has been due; zero: neither.
  absl::Duration Lateness() const;

  // Allows trials of the study to be started.
  void Want(const std::string& study);
  // Makes the next step start at once.
  void Wake();
  // Ends the loop after the current step. Idempotent.
  void Stop();

 private:
  Keeper(Studies& studies, const Clock& clock, ServerOptions options)
      : studies_(studies), clock_(clock), options_(std::move(options)) {}
  absl::StatusOr<std::unique_ptr<Launcher>> NewLauncher();
  absl::Status StartEngine(Reporting reporting);
  // Checks that an engine exists for a job with an image.
  absl::Status CheckEngine(const TrainingJob& job) const;
  absl::Duration Step();
  absl::Duration TakeStep();
  absl::StatusOr<absl::Duration> Move();
  // Stores which studies do not move, and logs changes.
  void KeepTroubles();
  // Number of studies whose suggestions are computed at the same time, and of other tasks. A choice: threads that
  // mostly wait.
  static constexpr int kMostThreads = 64;

  Studies& studies_;
  const Clock& clock_;
  const ServerOptions options_;
  base::ThreadPool threads_{kMostThreads};  // For tasks that the engine does not wait for.
  // What runs images, by cluster. Empty: a launcher of the embedding program's own runs trials.
  std::map<std::string, std::shared_ptr<launch::ContainerHost>> containers_;
  std::unique_ptr<Launcher> launcher_;  // Set with the engine.
  std::unique_ptr<Engine> engine_;      // Null: the server runs none.
  std::string trouble_;                 // Error of the last step, to log it once.
  // Names of studies that do not move, to log each once.
  std::map<StudyId, std::string> stuck_;
  RecentDurations steps_;
  RecentDurations delays_;
  mutable absl::Mutex mu_;
  // When the next step is due: after the pause, or at once after a Wake.
  absl::Time due_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::Time begun_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();  // Begin of the current step.
  std::vector<StudyTrouble> troubles_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> wanted_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<base::BackgroundLoop> loop_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::app
