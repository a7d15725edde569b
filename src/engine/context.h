#pragma once

#include "src/engine/news.h"
#include "src/engine/tasks.h"
#include "src/study/engine_moves.h"
#include "vernier/core/clock.h"
#include "vernier/core/trial.h"
#include "vernier/engine.h"
#include "vernier/launcher.h"
#include "vernier/studies.h"

namespace vernier::engine {

// Services that the parts of an engine share. None is owned.
struct Context {
  Studies& studies;
  study::EngineMoves& moves;  // Of `studies`.
  Launcher& launcher;
  const Clock& clock;
  const EngineOptions& options;
  Tasks& tasks;
  News& news;
  bool launcher_tells;  // The launcher reports changes of gangs; otherwise they are polled.

  // On whose behalf the engine changes studies.
  Caller caller() const { return {.actor = options.actor, .request_id = ""}; }
};

}  // namespace vernier::engine
