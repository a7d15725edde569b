#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/resources.h"
#include "src/cli/study_text.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"

// A stored study and the file that defines it by now.
namespace vernier::cli {

// In which fields the file differs from the study as it is.
std::vector<FieldChange> CompareWithFile(const Study& study, const StudySpec& file);

// What came of giving a study the definition of a file.
struct StudyUpdate {
  v1::Study message;  // As it is now.
  Study study;
  std::vector<FieldChange> changes;  // That were made.
  // Where the study stays as it was amended and the file says something else.
  std::vector<FieldChange> kept;
};

// Gives the study the definition of the file. What was amended by hand stays, unless the file differs there from what it
// was when it was last applied. Where nothing differs, no call is made.
// InvalidArgument: the file changes a field that cannot change.
absl::StatusOr<StudyUpdate> UpdateStudy(Connection& connection,
                                        const StudyRecord& before,
                                        const StudySpec& file,
                                        bool validate_only = false);
// Tells the study that what made its trials fail is fixed.
absl::StatusOr<Study> DeclareFixed(Connection& connection, std::string_view study);

// What changed and what was kept, some lines; empty if nothing did.
std::string DescribeUpdate(const StudyUpdate& update);

// That a study has ended, why, and what lets it go on: "…; a larger budget.trials in study.yaml extends it". `where`: the
// file that has its definition; empty: the study was named, not a file. `fix`: what declares its program fixed.
std::string DescribeEnd(const Study& study, std::string_view where, std::string_view fix);

// For a study that has trials to run in a store that no server has open: that nobody runs it, and who would. Else empty.
std::string NobodyRuns(const Context& context, const Connection& connection, const Study& study);

// Those of the study that changed something, oldest first. No call is made if it was never amended.
absl::StatusOr<std::vector<AmendmentRecord>> ListAmendments(Connection& connection,
                                                            const StudyRecord& study);
// The definition that the trial's last attempt was started with.
absl::StatusOr<StudySpec> DefinitionOf(Connection& connection,
                                       const StudyRecord& study,
                                       const Trial& trial);

}  // namespace vernier::cli
