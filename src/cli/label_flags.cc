#include "src/cli/label_flags.h"

#include <algorithm>
#include <cstddef>

#include "src/cli/gcloud/records.h"
#include "src/core/status.h"

namespace vernier::cli {

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadPairs(
    std::string_view flag, const std::string& text) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> parts, gcloud::SplitList(flag, text));
  if (!parts.empty() && parts.back().empty()) parts.pop_back();  // A trailing comma is allowed.
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return InvalidArgument("{}: must be KEY=VALUE, …, got '{}'", flag, text);
    }
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return pairs;
}

void AddLabelFlags(CLI::App& command, LabelFlags& flags) {
  command.add_option("--update-labels", flags.update, "Labels to set: KEY=VALUE,…");
  command.add_option("--remove-labels", flags.remove, "Labels to remove: KEY,…");
  command.add_flag(
      "--clear-labels", flags.clear, "Remove all labels that --update-labels does not set");
}

absl::Status ApplyLabelFlags(const LabelFlags& flags, v1::UpdateStudyRequest& request) {
  std::vector<std::string> removed;
  for (const std::string& text : flags.remove) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                             gcloud::SplitList("--remove-labels", text));
    removed.insert(removed.end(), keys.begin(), keys.end());
  }
  if (flags.clear && !removed.empty()) {
    return InvalidArgument("--clear-labels: cannot go with --remove-labels");
  }
  auto& labels = *request.mutable_study()->mutable_spec()->mutable_labels();
  auto& mask = *request.mutable_update_mask();
  // Paths of single labels after it replace only these: clear and update go together, as with gcloud.
  if (flags.clear) mask.add_paths("spec.labels");
  for (const std::string& key : removed) mask.add_paths("spec.labels." + key);
  for (const std::string& text : flags.update) {
    VERNIER_ASSIGN_OR_RETURN(const auto pairs, ReadPairs("--update-labels", text));
    for (const auto& [key, value] : pairs) {
      if (std::ranges::find(removed, key) != removed.end()) {
        return InvalidArgument("--remove-labels: '{}' is also in --update-labels", key);
      }
      labels[key] = value;
      mask.add_paths("spec.labels." + key);
    }
  }
  return absl::OkStatus();
}

}  // namespace vernier::cli
