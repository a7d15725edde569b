#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/cli/connection.h"
#include "src/cli/plot/curves.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/resources.h"

// What figures are made from, as commands get it.
namespace vernier::cli {

// The study with all of its trials, as of `now`.
absl::StatusOr<plot::StudyData> LoadStudyData(Connection& connection,
                                              const StudyRecord& study,
                                              absl::Time now);

// The values that trials reported of the metric, by step; trials without values are left out.
absl::StatusOr<std::vector<plot::Curve>> LoadCurves(Connection& connection,
                                                    const plot::StudyData& study,
                                                    const std::string& metric,
                                                    const std::vector<std::int64_t>& trials);
// Numbers of the trials that reported anything.
std::vector<std::int64_t> TrialsWithCurves(const plot::StudyData& study);

// The objective of this name, or the first if the name is empty.  InvalidArgument: names the option.
absl::StatusOr<Objective> ChooseObjective(const StudySpec& spec,
                                          std::string_view option,
                                          const std::string& metric);
// Two objectives for one figure: by name, or the first remaining ones where a name is empty.
// InvalidArgument: the study has only one objective, or none of that name.
struct ObjectivePair {
  Objective x;
  Objective y;
};
absl::StatusOr<ObjectivePair> ChoosePair(const StudySpec& spec,
                                         const std::string& x,
                                         const std::string& y);
// The index of the parameter of this name.  InvalidArgument: names the option, and lists the parameters.
absl::StatusOr<int> ChooseParameter(const Space& space,
                                    std::string_view option,
                                    const std::string& name);

// Writes the whole text; "-" is standard output.  InvalidArgument: the file cannot be written; names the option.
absl::Status WriteText(std::string_view option,
                       const std::string& text,
                       const std::string& path,
                       std::ostream& out);

}  // namespace vernier::cli
