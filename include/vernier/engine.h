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
};

// Keeps every study that has a training job moving: asks for trials, places and starts their gangs, reads their metrics,
// stops what is not promising, records how they ended, asks again.
//
// Threads: none of its own. Step does what there is to do and returns; call it in a loop of your own, from one thread.
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
  // An error is about the store or the launcher as a whole; what goes wrong with one trial ends that trial.
  virtual absl::StatusOr<absl::Duration> Step() = 0;
};

}  // namespace vernier
