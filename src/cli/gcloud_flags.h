#pragma once

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/cli/terminal/output.h"

// The flags that every command of `gcloud` takes. Only --format has an effect here.
namespace vernier::cli {

struct GcloudFlags {
  std::string project;
  std::string format;
  std::string verbosity;
  bool quiet = false;
};

void AddGcloudFlags(CLI::App& command, GcloudFlags& flags);

// What --format asks for: "json", "value(jobId, state)", "csv[no-heading](jobId)".
struct Projection {
  std::string format;  // json, yaml, csv, table, value or none; empty: as the command likes it.
  bool headers = true;
  std::vector<std::string> keys;  // "jobId", "trainingInput.region", "trials[0].state"; empty: all.
};

// InvalidArgument: names the flag.
absl::StatusOr<Projection> ParseFormatFlag(const std::string& text);

// Prints `answer`, an object or a list of objects, if the projection alone says how. Else only sets the format of the
// output and returns false: the command prints as it always does.
bool PrintProjected(const Projection& projection,
                    const nlohmann::ordered_json& answer,
                    Output& output);

}  // namespace vernier::cli
