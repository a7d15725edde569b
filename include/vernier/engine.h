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

// Where, and by what right, the programs of an attempt report by themselves (Studies::ReportFrom).
struct ReportingAccess {
  // Given to each replica besides the variables of its job. Of equal names these win.
  std::map<std::string, std::string> variables;
  // Folder that containers must see for it; empty: none.
  std::string folder;
};

struct EngineOptions {
  // A name for it in events.
  std::string actor = "engine";
  // How the metrics of an attempt are read; called once for each attempt. Unset: trials report by themselves.
  MetricReaderFactory metrics;
  // How programs of an attempt report by themselves. Null: they cannot.
  std::function<ReportingAccess(const StudySpec& spec, const AttemptId& id)> reporting;
  // Whether new trials are started of the study with that name, asked in each step. Those that run already are followed to
  // their end in any case. Null: of every study.
  std::function<bool(const std::string& study)> runs;
  // What job.working_directory falls back to.
  std::string working_directory = ".";
  // Where suggestions are computed, reports are read and judged. It must outlive the engine. Null: Step does that itself,
  // and every study waits for it.
  Executor* executor = nullptr;
  // Called from any thread when there is something for Step to do before the time that it returned. It must return at once.
  std::function<void()> wake;
};

// What keeps a study from moving.
struct StudyTrouble {
  StudyId study;
  std::string name;  // Empty: the study could not be read.
  absl::Status error;
  absl::Time since;     // Of the first step that met an error, of those in a row.
  absl::Time next_try;  // The study rests until then.
};

// Keeps every study that has a training job moving: asks for trials, places and starts their gangs, reads their metrics,
// stops what is not promising, records how they ended, asks again.
//
// Threads: none of its own. Step does what there is to do and returns; call it in a loop of your own, from one thread. It
// looks only at what may have changed: studies and trials of which the log says something new, gangs of which the launcher
// does, limits whose time has come; what cannot tell (Launcher::Watch, a MetricReader) is asked again and again.
// Destroying it gives up the suggestions that are being computed.
class Engine {
 public:
  // None is owned; all must outlive the engine.
  static std::unique_ptr<Engine> Create(Studies& studies,
                                        Launcher& launcher,
                                        const Clock& clock,
                                        EngineOptions options);
  virtual ~Engine() = default;

  // Moves every study as far as it goes without waiting. The first call adopts what an earlier engine left running.
  // Returns how long the caller may wait before the next step; zero if there is more to do now.
  //
  // What goes wrong with one trial ends that trial. A study that meets an error of the store or the launcher rests for a
  // while, from 0.1 to 5 seconds, and is one of `troubles`; all others are moved as ever. Step itself fails if the store
  // cannot say which studies there are.
  virtual absl::StatusOr<absl::Duration> Step() = 0;

  // The studies that could not be moved, in the order of their ids. From the thread that steps.
  virtual std::vector<StudyTrouble> troubles() const = 0;
};

}  // namespace vernier
