#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/import/imported_study.h"
#include "vernier/core/trial.h"

// What the sources have in common: a study as a source tells it, and how it becomes one of Vernier's.
namespace vernier::imports {

using Json = nlohmann::ordered_json;

// A trial as its source tells it.
struct SourceTrial {
  enum class End { kWaiting, kCompleted, kStopped, kFailed, kInfeasible, kCancelled };

  std::string label;  // As the source calls it: "trial 3", "row 7".
  Point point;        // Of these values those that the space has count; the others are attributes.
  End end = End::kWaiting;
  Measurement last;  // Result; without metrics if there is none.
  std::vector<Measurement> curve;
  FailureClass failure = FailureClass::kUserError;  // If it failed.
  std::string message;  // Why it was stopped, cancelled, failed or is infeasible.
  Metadata metadata;
};

// A study as its source tells it.
struct SourceStudy {
  std::string name;
  // A study file, of which `study` may be missing and `parameters` may be missing or partial.
  Json definition = Json::object();
  // The parameters are known from values alone: what is missing in the definition is derived from the trials.
  bool infers_space = false;
  // Trials have a parameter only where a branch of the program asked for it: conditions are derived from the trials.
  bool infers_conditions = false;
  // Why a column is no metric, by its name: "row 3 has 'abc', which is no number".
  std::map<std::string, std::string> not_metrics;
  // Parameters in the source's own order, as far as it has one; others follow.
  std::vector<std::string> order;
  std::vector<SourceTrial> trials;
  std::vector<std::string> notes;

  Json& parameters() { return definition["parameters"]; }
  void Note(std::string text) { notes.push_back(std::move(text)); }
};

// Gives the study its name, its objectives and its space, and each trial its end. Trials that do not fit the space are left
// out, with a note.  InvalidArgument: as ReadStudy; trials completed, and none of them has an objective's metric.
absl::StatusOr<ImportedStudy> Assemble(SourceStudy source, const ImportOptions& options);

// "maximize:accuracy" as in a study file.  InvalidArgument: it is neither that nor minimize:METRIC.
absl::StatusOr<Json> ParseObjective(const std::string& text);

// A value of a parameter in JSON. What Vernier has no type for becomes text: null is "None", a list its JSON.
ParameterValue ValueOf(const Json& json);
Json JsonOf(const ParameterValue& value);
// The text as a number if it is one (or NaN or an infinity), as a boolean if it is true or false in any case, else as text.
ParameterValue ValueOfText(std::string_view text);
// A whole or other number; nothing for text and booleans.
std::optional<double> NumberOf(const ParameterValue& value);

// Sets how the source numbered the trial and when it ran; empty texts are left out.
void NoteOrigin(SourceTrial& trial,
                std::string_view number,
                std::string_view start,
                std::string_view end);
void NoteAttribute(SourceTrial& trial, std::string_view name, std::string content);

}  // namespace vernier::imports
