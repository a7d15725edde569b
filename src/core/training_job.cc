#include "vernier/core/training_job.h"

#include "src/core/check.h"

namespace vernier {

std::string RoleName(Role role, const TrainingJob& job) {
  switch (role) {
    case Role::kPrimary:
      return job.primary_name;
    case Role::kWorker:
      return "worker";
    case Role::kParameterServer:
      return "ps";
    case Role::kEvaluator:
      return "evaluator";
  }
  VERNIER_CHECK(false, "unknown role");
}

}  // namespace vernier
