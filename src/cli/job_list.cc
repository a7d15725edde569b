// Filters are evaluated here and not by the server: gcloud's grammar, and states such as SUCCEEDED, exist only in the
// form that this program makes of a study. The costly part is the trials, a call or more for each job, so they are
// fetched only for jobs whose state depends on them or if the filter, order or columns name keys that need them.

#include "src/cli/job_list.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/job_description.h"
#include "src/cli/resources.h"
#include "src/core/status.h"
#include "src/jobs/job_name.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kStates = {
    "QUEUED", "PREPARING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLING", "CANCELLED"};

// Whether the key of an ended job is known without its trials.
bool IsKnownWithoutTrials(const gcloud::Key& key) {
  constexpr std::array kNames = {"jobId",
                                 "job_id",
                                 "state",
                                 "createTime",
                                 "create_time",
                                 "labels",
                                 "trainingInput",
                                 "training_input"};
  const auto* const name = key.empty() ? nullptr : std::get_if<std::string>(&key.front());
  return name != nullptr && std::ranges::find(kNames, *name) != kNames.end();
}

bool NeedsTrials(const JobSelection& selection, const gcloud::FormatSpec& format) {
  // json, yaml and the like print every key.
  const bool is_whole = format.columns.empty() && !format.name.empty() && format.name != "none" &&
                        format.name != "table" && format.name != "csv";
  if (is_whole || selection.filter.has_words()) return true;
  std::vector<gcloud::Key> keys = selection.filter.Keys();
  for (const auto& key : selection.sort) keys.push_back(key.key);
  for (const auto& column : format.columns) keys.push_back(column.expression.key);
  keys.insert(keys.end(), selection.flatten.begin(), selection.flatten.end());
  return !std::ranges::all_of(keys, &IsKnownWithoutTrials);
}

// States in the filter that no job ever has. gcloud answers such a filter with an empty list, which looks like a
// result.
void FindUnknownStates(const gcloud::FilterNode& node, std::vector<std::string>& unknown) {
  for (const gcloud::FilterNode& child : node.children) FindUnknownStates(child, unknown);
  const bool is_state =
      node.kind == gcloud::FilterNode::Kind::kCompare && node.op <= gcloud::Operator::kNotEqual &&
      node.expression.key == gcloud::Key{"state"} && node.expression.calls.empty();
  if (!is_state) return;
  for (const gcloud::Operand& operand : node.operands) {
    const bool is_pattern = node.op == gcloud::Operator::kHas;
    const std::string text = absl::AsciiStrToUpper(operand.text);
    const bool is_known = std::ranges::any_of(kStates, [&](const std::string& state) {
      return is_pattern ? absl::StrContains(state, text) : state == text;
    });
    const bool has_star = is_pattern && absl::StrContains(text, "*");
    if (!is_known && !has_star && !text.empty()) unknown.push_back(operand.text);
  }
}

std::vector<std::string> WarningsOn(const JobSelection& selection, const std::vector<Json>& jobs) {
  std::vector<std::string> warnings;
  std::vector<std::string> states;
  FindUnknownStates(selection.filter.root(), states);
  warnings.reserve(states.size());
  for (const std::string& state : states) {
    warnings.push_back(fmt::format(
        "--filter: no job's state is ever '{}'; states are {}", state, fmt::join(kStates, ", ")));
  }
  // Without jobs every key is missing.
  if (jobs.empty()) return warnings;
  for (const std::string& key : gcloud::MissingKeys(selection.filter.Keys(), jobs)) {
    warnings.push_back(fmt::format("--filter: no job has '{}'", key));
  }
  std::vector<gcloud::Key> sort_keys;
  for (const gcloud::SortKey& key : selection.sort) sort_keys.push_back(key.key);
  for (const std::string& key : gcloud::MissingKeys(sort_keys, jobs)) {
    warnings.push_back(fmt::format("--sort-by: no job has '{}'", key));
  }
  return warnings;
}

absl::StatusOr<Json> Look(Connection& connection, v1::Study message, bool needs_trials) {
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, RecordOf(std::move(message)));
  std::vector<TrialRecord> trials;
  if (needs_trials || !IsFinished(record.study.state) || HasRunningTime(record.study)) {
    VERNIER_ASSIGN_OR_RETURN(trials, ListTrials(connection, record, {}));
  }
  return JobToJson(record, trials);
}

}  // namespace

const gcloud::Aliases& JobAliases() {
  static const gcloud::Aliases& aliases = *new gcloud::Aliases{
      {"JOB_ID", "jobId"}, {"STATUS", "state"}, {"CREATED", "createTime"}, {"name", "jobId"}};
  return aliases;
}

absl::StatusOr<JobSelection> ReadJobQuery(const JobQuery& query,
                                          const AnswerFormat& format,
                                          const gcloud::TimeFrame& frame) {
  VERNIER_ASSIGN_OR_RETURN(gcloud::Filter filter,
                           gcloud::Filter::Parse("--filter", query.filter, frame, &JobAliases()));
  VERNIER_ASSIGN_OR_RETURN(std::vector<gcloud::SortKey> sort,
                           gcloud::ParseSort("--sort-by", query.sort, &JobAliases()));
  JobSelection selection = {.query = query,
                            .filter = std::move(filter),
                            .sort = std::move(sort),
                            .flatten = format.flatten};
  selection.needs_trials = NeedsTrials(selection, format.format);
  return selection;
}

JobList SelectJobs(std::vector<Json> jobs,
                   const JobSelection& selection,
                   const gcloud::TimeFrame& frame) {
  JobList list;
  list.jobs = gcloud::Flatten(selection.flatten, std::move(jobs));
  list.warnings = WarningsOn(selection, list.jobs);
  std::erase_if(list.jobs, [&](const Json& job) { return !selection.filter.Matches(job); });
  // Sorts are stable: the second orders by the query, and equal keys stay newest first.
  gcloud::Sort({{.key = {"createTime"}, .descending = true}}, frame, list.jobs);
  gcloud::Sort(selection.sort, frame, list.jobs);
  const auto limit = static_cast<std::size_t>(selection.query.limit);
  if (limit > 0 && list.jobs.size() > limit) list.jobs.resize(limit);
  return list;
}

absl::StatusOr<JobList> ListJobs(Connection& connection,
                                 const JobSelection& selection,
                                 const gcloud::TimeFrame& frame) {
  VERNIER_ASSIGN_OR_RETURN(auto studies,
                           ListStudies(connection, {.page_size = selection.query.page_size}));
  std::vector<Json> jobs;
  for (v1::Study& message : studies) {
    VERNIER_ASSIGN_OR_RETURN(const Study study, wire::DecodeStudy(message));
    const bool is_wanted =
        study.spec.job && jobs::JobNameOf(study.spec.name).project == selection.query.project;
    if (!is_wanted) continue;
    VERNIER_ASSIGN_OR_RETURN(jobs.emplace_back(),
                             Look(connection, std::move(message), selection.needs_trials));
  }
  return SelectJobs(std::move(jobs), selection, frame);
}

}  // namespace vernier::cli
