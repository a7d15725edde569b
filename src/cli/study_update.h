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

// Fields in which the file differs from the stored study.
std::vector<FieldChange> CompareWithFile(const Study& study, const StudySpec& file);

// The result of updating a study from a file.
struct StudyUpdate {
  v1::Study message;  // After the update.
  Study study;
  std::vector<FieldChange> changes;  // Made by the update.
  // Fields that keep their amended value although the file says something else.
  std::vector<FieldChange> kept;
};

// Updates the study to the definition of the file. A field that was amended by hand stays, unless the file changes it
// against its previous version (docs/adr/0030-an-amendment-carries-the-definition.md). Makes no call if nothing
// differs.
// InvalidArgument: the file changes a field that cannot change.
absl::StatusOr<StudyUpdate> UpdateStudy(Connection& connection,
                                        const StudyRecord& before,
                                        const StudySpec& file,
                                        bool validate_only = false);
// Declares the program fixed: failures so far no longer count.
absl::StatusOr<Study> DeclareFixed(Connection& connection, std::string_view study);

// Lines on what changed and what was kept; empty if nothing differs.
std::string DescribeUpdate(const StudyUpdate& update);

// Says that the study has ended, why, and how to extend it: "…; a larger budget.trials in study.yaml extends it".
// `where`: the file with its definition; empty: the user named the study. `fix`: what declares its program fixed.
std::string DescribeEnd(const Study& study, std::string_view where, std::string_view fix);

// Says that no server runs the study, and how to run it, if it has trials to run in a store that no server has open;
// otherwise empty.
std::string NobodyRuns(const Context& context, const Connection& connection, const Study& study);

// Amendments that changed something, oldest first. Makes no call if there was none.
absl::StatusOr<std::vector<AmendmentRecord>> ListAmendments(Connection& connection,
                                                            const StudyRecord& study);
// The definition with which the trial's last attempt was started.
absl::StatusOr<StudySpec> DefinitionOf(Connection& connection,
                                       const StudyRecord& study,
                                       const Trial& trial);

}  // namespace vernier::cli
