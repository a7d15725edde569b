#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/clock.h"
#include "vernier/core/executor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"
#include "vernier/metric_reader.h"
#include "vernier/studies.h"

namespace vernier {

// What the programs of an attempt need to report metrics by themselves (Studies::ReportFrom).
struct ReportingAccess {
  // Environment variables for each replica, such as address and token. They override variables of the job.
  std::map<std::string, std::string> variables;
  // Folder that must be mounted into containers for this. Empty: none.
  std::string folder;
};

struct EngineOptions {
  // Name of the engine in events.
  std::string actor = "engine";
  // Makes the reader of an attempt's metrics, once for each attempt. Null: programs report by themselves.
  MetricReaderFactory metrics;
  // Gives the programs of an attempt access for reports of their own. Null: they have none.
  std::function<ReportingAccess(const StudySpec& spec, const AttemptId& id)> reporting;
  // Whether to start new trials of the study with this name; called in each step. Running trials are followed to their
  // end in any case. Null: always true.
  std::function<bool(const std::string& study)> runs;
  // Working directory of jobs that set none.
  std::string working_directory = ".";
  // Runs the work that takes time: computing suggestions, reading and judging reports. Must outlive the engine. Null:
  // Step does this work itself, and all studies wait for it.
  Executor* executor = nullptr;
  // Called, from any thread, when Step should be called before the time that it returned. Must return at once. Null:
  // the caller learns of changes when that time has passed.
  std::function<void()> wake;
};

// An error that keeps a study from moving.
struct StudyTrouble {
  StudyId study;
  std::string name;  // Empty: the study could not be read.
  absl::Status error;
  absl::Time since;     // Time of the first in this row of errors.
  absl::Time next_try;  // The study rests until then.
};

// Runs the training jobs of studies: asks for trials, places and starts their gangs, reads metrics, stops trials that
// are not promising, records how they ended, asks again. Studies without a job are left to clients.
//
//   const auto engine = Engine::Create(*studies, *launcher, *clock, {.metrics = NewMetricReader});
//   while (!done) {
//     const absl::StatusOr<absl::Duration> wait = engine->Step();
//     SleepFor(wait.value_or(absl::Seconds(1)));  // Or until `wake` is called.
//   }
//
// Starts no thread: call Step in a loop of your own, from one thread. A step looks only at what may have changed:
// studies and trials with new events, gangs that the launcher reports, limits whose time has come. Sources that cannot
// report changes (a Launcher whose Watch returns false, a MetricReader) are polled every 50 ms.
//
// The destructor cancels suggestions that are being computed. Running gangs continue, and the next engine adopts them.
class Engine {
 public:
  // Owns none of `studies`, `launcher` and `clock`; all must outlive the engine.
  static std::unique_ptr<Engine> Create(Studies& studies,
                                        Launcher& launcher,
                                        const Clock& clock,
                                        EngineOptions options);
  virtual ~Engine() = default;

  // Moves every study as far as possible without waiting. The first steps also adopt what an earlier engine left
  // running. Returns how long the caller may wait before the next step, at most a second; zero if there is more to do
  // now.
  //
  // An error of one trial ends that trial. A study that meets an error of the store or the launcher rests, for 0.1 s at
  // first and 5 s at most, and is listed in `troubles`; the other studies move on.
  // Errors of Step itself are those of the store, when it cannot list the studies or can read none of them.
  virtual absl::StatusOr<absl::Duration> Step() = 0;

  // The studies that could not be moved, in the order of their ids. Call it from the thread that calls Step.
  virtual std::vector<StudyTrouble> troubles() const = 0;
};

}  // namespace vernier
