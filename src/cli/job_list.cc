#include "src/cli/job_list.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "src/cli/job_description.h"
#include "src/core/status.h"
#include "src/wire/query.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

using wire::ColumnType;

wire::Cell NameOf(const ListedJob& job, std::string_view) { return job.study.spec.name; }
wire::Cell StateOf(const ListedJob& job, std::string_view) { return job.state; }
wire::Cell CreatedOf(const ListedJob& job, std::string_view) { return job.study.created; }
wire::Cell LabelOf(const ListedJob& job, std::string_view key) {
  const auto label = job.study.spec.labels.find(std::string(key));
  return label == job.study.spec.labels.end() ? wire::Cell() : wire::Cell(label->second);
}

constexpr wire::Column<ListedJob> kColumns[] = {
    {"jobId", ColumnType::kText, &NameOf},
    {"state", ColumnType::kJobState, &StateOf},
    {"createTime", ColumnType::kTime, &CreatedOf},
    {"labels.", ColumnType::kText, &LabelOf},
    // As other lists have them.
    {"name", ColumnType::kText, &NameOf},
    {"create_time", ColumnType::kTime, &CreatedOf},
};

std::span<const wire::Column<ListedJob>> Columns() { return kColumns; }

constexpr wire::ColumnSet kColumnSet = {
    .type_of = [](std::string_view path) -> std::optional<ColumnType> {
      const auto* column = wire::FindColumn(Columns(), path);
      return column == nullptr ? std::nullopt : std::optional(column->type);
    },
    .known = [] { return std::string("jobId, state, createTime, labels.NAME"); }};

absl::StatusOr<ListedJob> Look(Connection& connection, const v1::Study& message, Study study) {
  std::vector<TrialRecord> trials;
  if (!IsFinished(study.state) || HasRunningTime(study)) {
    const StudyRecord record{.message = message, .study = study};
    VERNIER_ASSIGN_OR_RETURN(trials, ListTrials(connection, record, {}));
  }
  std::string state = JobState(study, trials);
  return ListedJob{.study = std::move(study), .state = std::move(state)};
}

}  // namespace

absl::StatusOr<std::vector<ListedJob>> SelectJobs(std::vector<ListedJob> jobs, const Query& query) {
  auto selected =
      wire::Select(std::move(jobs), Columns(), kColumnSet, query.filter, OrderBy(query.sort));
  if (!selected.ok()) return NamingFlags(selected.status());
  const bool is_cut = query.limit > 0 && selected->size() > static_cast<std::size_t>(query.limit);
  if (is_cut) selected->erase(selected->begin() + query.limit, selected->end());
  return selected;
}

absl::StatusOr<std::vector<ListedJob>> ListJobs(Connection& connection, const Query& query) {
  VERNIER_RETURN_IF_ERROR(SelectJobs({}, query).status());  // Before anything is asked for.
  VERNIER_ASSIGN_OR_RETURN(const auto studies,
                           ListStudies(connection, {.page_size = query.page_size}));
  std::vector<ListedJob> jobs;
  for (const v1::Study& message : studies) {
    VERNIER_ASSIGN_OR_RETURN(Study study, wire::DecodeStudy(message));
    if (!study.spec.job) continue;
    VERNIER_ASSIGN_OR_RETURN(jobs.emplace_back(), Look(connection, message, std::move(study)));
  }
  return SelectJobs(std::move(jobs), query);
}

}  // namespace vernier::cli
