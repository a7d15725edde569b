// Definitions change by amendments, each of which carries the whole definition
// (docs/adr/0030-an-amendment-carries-the-definition.md). The server merges a file with amendments made by hand; this
// file decides whether a call is needed, and explains the result. The comparison must ignore what the server added: it
// resolves machine types and training input (docs/adr/0024-training-inputs-are-resolved-once.md) and hashes code.

#include "src/cli/study_update.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/live_view.h"
#include "src/codec/spec_changes.h"
#include "src/core/status.h"
#include "src/import/storing.h"
#include "src/wire/event_proto.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

// Copies into `given` what the server derived from equal inputs, so that only differences of the file remain.
void ForgetResolution(const TrainingJob& resolved, TrainingJob& given) {
  if (given.input.has_value() && given.input == resolved.input) given = resolved;
  const bool is_same_code = given.code.has_value() && resolved.code.has_value() &&
                            given.code->archive == resolved.code->archive;
  if (is_same_code) given.code = resolved.code;  // With the hash, which only the server adds.
  for (auto& [role, replica] : given.replicas) {
    const auto other = resolved.replicas.find(role);
    if (other == resolved.replicas.end() || replica.machine_type.empty()) continue;
    if (replica.machine_type == other->second.machine_type) {
      replica.resources = other->second.resources;
    }
  }
}

// The file's definition in the form in which the server would store it.
StudySpec AsStored(const Study& study, StudySpec file) {
  if (study.spec.job.has_value() && file.job.has_value()) {
    ForgetResolution(*study.spec.job, *file.job);
  }
  return file;
}

absl::StatusOr<v1::Study> CallUpdate(Connection& connection,
                                     std::string_view study,
                                     v1::UpdateStudyRequest request) {
  request.set_name(wire::StudyResource(study));
  request.mutable_study()->set_name(request.name());
  request.set_request_id(NewRequestId());
  return connection.CallOn(study, &Stub::UpdateStudy, request);
}

std::string DescribeKept(const std::vector<FieldChange>& kept) {
  std::string text;
  for (const FieldChange& field : kept) {
    const bool is_shown = !field.from.empty() || !field.to.empty();
    text += fmt::format("{}{} stays as it was amended{}",
                        text.empty() ? "" : "; ",
                        field.field,
                        is_shown ? fmt::format(" ({}, the file says {})",
                                               field.from.empty() ? "none" : field.from,
                                               field.to.empty() ? "none" : field.to)
                                 : "");
  }
  return text;
}

}  // namespace

std::vector<FieldChange> CompareWithFile(const Study& study, const StudySpec& file) {
  return codec::CompareSpecs(study.spec, AsStored(study, file));
}

absl::StatusOr<StudyUpdate> UpdateStudy(Connection& connection,
                                        const StudyRecord& before,
                                        const StudySpec& file,
                                        bool validate_only) {
  StudyUpdate update = {.message = before.message, .study = before.study};
  if (CompareWithFile(before.study, file).empty()) return update;
  v1::UpdateStudyRequest request;
  wire::EncodeSpec(file, request.mutable_study()->mutable_spec());
  request.mutable_update_mask()->add_paths("spec");
  request.set_keep_amended(true);
  request.set_validate_only(validate_only);
  VERNIER_ASSIGN_OR_RETURN(update.message,
                           CallUpdate(connection, before.name(), std::move(request)));
  VERNIER_ASSIGN_OR_RETURN(update.study, wire::DecodeStudy(update.message));
  update.changes = codec::CompareSpecs(before.study.spec, update.study.spec);
  update.kept = CompareWithFile(update.study, file);
  return update;
}

absl::StatusOr<Study> DeclareFixed(Connection& connection, std::string_view study) {
  v1::UpdateStudyRequest request;
  request.set_fixed(true);
  VERNIER_ASSIGN_OR_RETURN(const v1::Study message,
                           CallUpdate(connection, study, std::move(request)));
  return wire::DecodeStudy(message);
}

std::string DescribeUpdate(const StudyUpdate& update) {
  std::string text;
  const std::string& name = update.study.spec.name;
  if (!update.changes.empty()) {
    text += fmt::format("study '{}' changed: {}\n", name, codec::DescribeChanges(update.changes));
  }
  if (!update.kept.empty()) text += fmt::format("{}\n", DescribeKept(update.kept));
  return text;
}

namespace {

// What extends a study that has ended; empty if nothing does: a cancelled study stays so, and one without objectives
// has run all it had.
std::string WhatExtends(const Study& study, std::string_view where, std::string_view fix) {
  if (study.state == StudyState::kCancelled || study.spec.objectives.empty()) return "";
  const Budget& budget = study.spec.budget;
  const std::string in_file = where.empty() ? "" : fmt::format(" in {}", where);
  const bool is_spent = budget.trials.has_value() && study.trials >= *budget.trials;
  if (is_spent && where.empty()) {
    return fmt::format("`vernier study amend {} --trials N` extends it", study.spec.name);
  }
  if (is_spent) return fmt::format("a larger budget.trials{} extends it", in_file);
  if (study.state != StudyState::kFailed)
    return fmt::format("a larger budget{} extends it", in_file);
  std::vector<std::string> ways;
  if (study.spec.job && !where.empty()) ways.push_back("a changed job" + in_file);
  if (budget.failed_trials) ways.push_back("a larger budget.failed" + in_file);
  if (study.spec.job) ways.push_back(fmt::format("{} once its program is fixed", fix));
  return fmt::format("to go on: {}", fmt::join(ways, ", or "));
}

}  // namespace

std::string DescribeEnd(const Study& study, std::string_view where, std::string_view fix) {
  const std::string extends = WhatExtends(study, where, fix);
  // A spent budget is visible in the numbers before it.
  const bool is_told = study.spec.budget.trials == study.trials || study.reason.empty();
  return fmt::format("study '{}' is {} already ({}{}){}",
                     study.spec.name,
                     StudyStateName(study.state),
                     DescribeBudget(study),
                     is_told ? "" : ": " + study.reason,
                     extends.empty() ? "" : "; " + extends);
}

std::string NobodyRuns(const Context& context, const Connection& connection, const Study& study) {
  if (!connection.is_embedded() || !study.spec.job.has_value()) return "";
  if (study.state == StudyState::kStopping) {
    return fmt::format(
        "nobody runs it: `vernier run {}{}` ends its trials, or a server: `vernier server start`\n",
        study.spec.name,
        context.SameStoreFlags());
  }
  if (study.state != StudyState::kActive) return "";
  return fmt::format(
      "nobody runs its trials yet: `vernier run {}{}` does, or a server: `vernier server start`\n",
      study.spec.name,
      context.SameStoreFlags());
}

namespace {

// Whether it only marks the end of an import, which says nothing of the definition.
bool IsOfImport(const StudyAmended& amended) {
  const std::string label = fmt::format("labels.{}", imports::kUnfinishedLabel);
  return !amended.changes.empty() &&
         std::ranges::all_of(amended.changes,
                             [&](const FieldChange& change) { return change.field == label; });
}

}  // namespace

absl::StatusOr<std::vector<AmendmentRecord>> ListAmendments(Connection& connection,
                                                            const StudyRecord& study) {
  std::vector<AmendmentRecord> amendments;
  // Each amendment increases the version, so the log need not be read.
  if (study.study.spec_version <= 1) return amendments;
  const auto take = [&](const v1::StudyEvent& message) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(Event event, wire::DecodeEvent(message));
    auto* const amended = std::get_if<StudyAmended>(&event.payload);
    if (amended == nullptr || DescribeAmendment(*amended).empty() || IsOfImport(*amended)) {
      return absl::OkStatus();
    }
    amendments.push_back({.time = event.time, .amended = std::move(*amended)});
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(ReadLog(connection, study.name(), take, {"study_amended"}));
  return amendments;
}

absl::StatusOr<StudySpec> DefinitionOf(Connection& connection,
                                       const StudyRecord& study,
                                       const Trial& trial) {
  StudySpec definition = study.study.spec;
  if (study.study.spec_version <= 1 || trial.attempts.empty()) return definition;
  // Attempts of older versions do not record the event; the first definition then applies.
  const EventSeq defined_by = std::max(trial.attempts.back().defined_by, EventSeq(1));
  const auto take = [&](const v1::StudyEvent& message) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(Event event, wire::DecodeEvent(message));
    if (event.seq > defined_by) return absl::OkStatus();
    if (auto* const created = std::get_if<StudyCreated>(&event.payload)) {
      definition = std::move(created->spec);
    }
    auto* const amended = std::get_if<StudyAmended>(&event.payload);
    if (amended != nullptr && amended->definition) definition = *std::move(amended->definition);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(
      ReadLog(connection, study.name(), take, {"study_created", "study_amended"}));
  return definition;
}

}  // namespace vernier::cli
