#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/import/source_study.h"

// Optuna's two kinds of files, which say the same in different words.
namespace vernier::imports {

enum class OptunaState { kRunning, kComplete, kPruned, kFail, kWaiting };

struct OptunaTrial {
  std::int64_t number = 0;
  OptunaState state = OptunaState::kRunning;
  std::vector<double> values;
  std::map<std::string, double> internal;            // Values of parameters as they are stored.
  std::vector<std::string> order;                    // Names of parameters, as they were asked for.
  std::map<std::string, std::string> distributions;  // JSON, by parameter.
  std::map<std::int64_t, double> curve;              // By step.
  std::map<std::string, std::string> user;           // Attributes, JSON.
  std::map<std::string, std::string> system;
  std::string start;
  std::string complete;
};

struct OptunaStudy {
  std::string name;
  std::vector<std::string> directions;      // "MINIMIZE", "MAXIMIZE".
  std::map<std::string, std::string> user;  // Attributes, JSON.
  std::map<std::string, std::string> system;
  std::vector<OptunaTrial> trials;
};

// InvalidArgument: a distribution or a value that Optuna does not write.
absl::StatusOr<SourceStudy> FromOptuna(const OptunaStudy& study);

// Picks the study that `wanted` names among those of a file.  NotFound: there is none.  InvalidArgument: there are
// several, and none is named.
absl::StatusOr<std::size_t> PickStudy(const std::vector<std::string>& names,
                                      const std::string& wanted);

// SQLite storage (RDBStorage).
absl::StatusOr<SourceStudy> ReadOptunaDatabase(const std::string& path,
                                               const ImportOptions& options);
// Journal file (JournalFileBackend).
absl::StatusOr<SourceStudy> ReadOptunaJournal(const std::string& path,
                                              const ImportOptions& options);

}  // namespace vernier::imports
