#pragma once

#include <memory>

#include "src/service/log_source.h"

namespace vernier::app {

// The output of replicas as supervisors of this host write it down.
std::unique_ptr<service::LogSource> NewAttemptLogs();

}  // namespace vernier::app
