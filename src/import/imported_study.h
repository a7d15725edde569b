#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/trials.h"

// Studies of other tools.
namespace vernier::imports {

// What a file does not say, or says otherwise than wanted.
struct ImportOptions {
  std::string format;  // Name of a format (ListFormats). Empty: found out.
  std::string study;   // Which of the studies in the file. Empty: the only one.
  std::string name;    // Name of the study in Vernier. Empty: as in the file.
  // "maximize:METRIC" or "minimize:METRIC". Empty: as in the file.
  std::vector<std::string> objectives;
  // Path of a file that defines the space: a study file, or the definition of another tool. Empty: as in the file.
  std::string space;
  // Names of the parameters in a table, and of a metric for its steps. Empty: as the space says.
  std::vector<std::string> parameters;
};

// A study that can be created, and its trials.
struct ImportedStudy {
  std::string format;
  StudySpec spec;
  // In the order of the file. Those that had not ended wait to be run.
  std::vector<TrialAddition> trials;
  // One sentence for each thing that Vernier has otherwise, or not at all.
  std::vector<std::string> notes;
};

// Reads the file or folder at `path`. Changes nothing.
//
// NotFound: no such file, or no study of that name in it.  InvalidArgument: not a file of a known tool, damaged, too
// large, or a definition that Vernier cannot hold; one sentence that names the field.
absl::StatusOr<ImportedStudy> ReadStudy(const std::string& path, const ImportOptions& options);

struct Format {
  std::string name;  // "optuna"
  std::string what;  // "Optuna: SQLite storage or journal file"
};
std::vector<Format> ListFormats();

// Namespaces of the metadata that imported trials get: how the source numbered them and when they ran, and what their
// program stored with them.
inline constexpr char kOriginSpace[] = "import";
inline constexpr char kAttributesSpace[] = "import.attributes";

}  // namespace vernier::imports
