#include "vernier/core/training_job.h"

#include "src/core/built_in_trainers.h"
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

std::optional<Role> FindRole(std::string_view name) {
  if (name == "chief" || name == "master") return Role::kPrimary;
  if (name == "worker") return Role::kWorker;
  if (name == "ps") return Role::kParameterServer;
  if (name == "evaluator") return Role::kEvaluator;
  return std::nullopt;
}

bool RunsInOwnFolder(const TrainingJob& job) {
  if (job.code.has_value()) return true;
  // A training input names no folder of the host: its code comes in packages, or in images, which
  // have a folder of their own.
  return job.input.has_value() && job.working_directory.empty() && !RunsImages(job);
}

bool RunsImages(const TrainingJob& job) {
  if (!job.image.empty()) return true;
  if (!job.input.has_value() || !job.input->master_config.has_value()) return false;
  const std::string& image = job.input->master_config->image_uri;
  return !image.empty() && !IsBuiltInImage(image);
}

}  // namespace vernier
