#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/import/imported_study.h"

namespace vernier::imports {

// Where imported studies are stored: the calls of a server, or of a store that this process has open.
class Target {
 public:
  virtual ~Target() = default;
  virtual absl::Status CreateStudy(const StudySpec& spec) = 0;
  virtual absl::Status AddTrials(const std::string& study,
                                 const std::vector<TrialAddition>& trials) = 0;
  // NotFound: there is none.
  virtual absl::StatusOr<StudySpec> GetDefinition(const std::string& study) = 0;
  virtual absl::Status SetLabels(const std::string& study, const StudySpec& with_labels) = 0;
  virtual absl::Status DeleteStudy(const std::string& study) = 0;
};

// Label of a study whose import has not ended.
inline constexpr char kUnfinishedLabel[] = "import-unfinished";

// Creates the study with all its trials, or nothing. What an import left behind that was killed bears kUnfinishedLabel;
// the next import of that name deletes it first.
// AlreadyExists (kStudyExists): there is a study of that name.  Other errors: of the target.
absl::Status StoreStudy(const ImportedStudy& study, Target& target);

}  // namespace vernier::imports
