#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/gcloud/filter.h"
#include "src/cli/gcloud/format.h"

// What becomes of the resources that a command found before they are printed: --flatten, --filter, --sort-by, --limit.
namespace vernier::gcloud {

struct SortKey {
  Key key;
  bool descending = false;
};

// "createTime", "~createTime,jobId"; "-createTime" also.  InvalidArgument: begins with `flag`.
absl::StatusOr<std::vector<SortKey>> ParseSort(std::string_view flag,
                                               const std::vector<std::string>& fields,
                                               const Aliases* aliases = nullptr);
// "trainingOutput.trials[]".  InvalidArgument: begins with `flag`.
absl::StatusOr<std::vector<Key>> ParseFlatten(std::string_view flag,
                                              const std::vector<std::string>& keys);

// Stable; resources without a value come last.
void Sort(const std::vector<SortKey>& keys, const TimeFrame& frame, std::vector<Json>& resources);

// One resource for each element of each list that the keys name; a resource with an empty list disappears.
std::vector<Json> Flatten(const std::vector<Key>& keys, std::vector<Json> resources);

// Keys that no resource has, for a warning.
std::vector<std::string> MissingKeys(const std::vector<Key>& keys,
                                     const std::vector<Json>& resources);

// Splits a list as flags of `gcloud` write it: "a,b,c", or with another separator "^:^a:b".
// InvalidArgument: begins with `flag`.
absl::StatusOr<std::vector<std::string>> SplitList(std::string_view flag, std::string_view text);

}  // namespace vernier::gcloud
