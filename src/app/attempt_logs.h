#pragma once

#include <memory>

#include "src/service/log_source.h"

namespace vernier::app {

// Reads the output of replicas that supervisors of this host have stored.
std::unique_ptr<service::LogSource> NewAttemptLogs();

}  // namespace vernier::app
