// Tables of Optuna's RDBStorage, of schema versions 10 to 12: optuna/storages/_rdb/models.py.

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/import/optuna.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

using sqlite::Connection;
using sqlite::Statement;

absl::StatusOr<std::vector<std::string>> StudyNames(Connection& database,
                                                    std::vector<std::int64_t>& ids) {
  std::vector<std::string> names;
  Statement select(database, "SELECT study_id, study_name FROM studies ORDER BY study_id");
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return names;
    ids.push_back(select.Integer(0));
    names.emplace_back(select.Text(1));
  }
}

// Calls `visit` with each row.
template <typename Visit>
absl::Status ForEachRow(Statement& select, Visit visit) {
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return absl::OkStatus();
    visit(select);
  }
}

double ValueOfType(const Statement& row, int value, int type) {
  const std::string_view kind = row.Text(type);
  if (kind == "INF_POS") return std::numeric_limits<double>::infinity();
  if (kind == "INF_NEG") return -std::numeric_limits<double>::infinity();
  if (kind == "NAN") return std::numeric_limits<double>::quiet_NaN();
  return row.Double(value);
}

absl::StatusOr<OptunaState> StateOf(std::string_view name) {
  if (name == "RUNNING") return OptunaState::kRunning;
  if (name == "COMPLETE") return OptunaState::kComplete;
  if (name == "PRUNED") return OptunaState::kPruned;
  if (name == "FAIL") return OptunaState::kFail;
  if (name == "WAITING") return OptunaState::kWaiting;
  return InvalidArgument("trials.state: unknown state '{}'", name);
}

// Reads one study. Rows of all its trials are read by table, since a query for each trial would take long.
class Reader {
 public:
  Reader(Connection& database, std::int64_t study) : database_(database), study_(study) {}

  absl::Status ReadStudy(OptunaStudy& out) {
    Statement directions(
        database_,
        "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective",
        study_);
    VERNIER_RETURN_IF_ERROR(ForEachRow(
        directions, [&](const Statement& row) { out.directions.emplace_back(row.Text(0)); }));
    VERNIER_RETURN_IF_ERROR(ReadStudyAttributes("study_user_attributes", out.user));
    return ReadStudyAttributes("study_system_attributes", out.system);
  }

  absl::Status ReadTrials(OptunaStudy& out) {
    Statement select(
        database_,
        "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials "
        "WHERE study_id = ? ORDER BY number",
        study_);
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
      if (!found) break;
      VERNIER_ASSIGN_OR_RETURN(const OptunaState state, StateOf(select.Text(2)));
      places_[select.Integer(0)] = out.trials.size();
      out.trials.push_back({.number = select.Integer(1),
                            .state = state,
                            .start = std::string(select.Text(3)),
                            .complete = std::string(select.Text(4))});
    }
    VERNIER_RETURN_IF_ERROR(ReadParameters(out));
    VERNIER_RETURN_IF_ERROR(ReadValues(out));
    VERNIER_RETURN_IF_ERROR(ReadAttributes("trial_user_attributes", &OptunaTrial::user, out));
    return ReadAttributes("trial_system_attributes", &OptunaTrial::system, out);
  }

 private:
  absl::Status ReadStudyAttributes(std::string_view table,
                                   std::map<std::string, std::string>& attributes) {
    const std::string sql =
        fmt::format("SELECT \"key\", value_json FROM {} WHERE study_id = ?", table);
    Statement select(database_, sql, study_);
    return ForEachRow(select, [&](const Statement& row) {
      attributes[std::string(row.Text(0))] = std::string(row.Text(1));
    });
  }

  std::string OfTrials(std::string_view columns,
                       std::string_view table,
                       std::string_view id) const {
    return fmt::format(
        "SELECT trial_id, {} FROM {} WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id "
        "= ?) "
        "ORDER BY {}",
        columns,
        table,
        id);
  }

  // Calls visit(trial, row) with each row of a table about trials of the study.
  template <typename Visit>
  absl::Status ForEachOfTrials(const std::string& sql, OptunaStudy& out, Visit visit) {
    Statement select(database_, sql, study_);
    return ForEachRow(select, [&](const Statement& row) {
      const auto at = places_.find(row.Integer(0));
      if (at != places_.end()) visit(out.trials[at->second], row);
    });
  }

  absl::Status ReadParameters(OptunaStudy& out) {
    const std::string sql =
        OfTrials("param_name, param_value, distribution_json", "trial_params", "param_id");
    return ForEachOfTrials(sql, out, [](OptunaTrial& trial, const Statement& row) {
      const std::string name(row.Text(1));
      trial.order.push_back(name);
      trial.internal[name] = row.Double(2);
      trial.distributions[name] = std::string(row.Text(3));
    });
  }

  absl::Status ReadValues(OptunaStudy& out) {
    VERNIER_RETURN_IF_ERROR(
        ForEachOfTrials(OfTrials("objective, value, value_type", "trial_values", "objective"),
                        out,
                        [](OptunaTrial& trial, const Statement& row) {
                          trial.values.push_back(ValueOfType(row, 2, 3));
                        }));
    return ForEachOfTrials(OfTrials("step, intermediate_value, intermediate_value_type",
                                    "trial_intermediate_values",
                                    "step"),
                           out,
                           [](OptunaTrial& trial, const Statement& row) {
                             trial.curve[row.Integer(1)] = ValueOfType(row, 2, 3);
                           });
  }

  absl::Status ReadAttributes(std::string_view table,
                              std::map<std::string, std::string> OptunaTrial::*attributes,
                              OptunaStudy& out) {
    return ForEachOfTrials(OfTrials("\"key\", value_json", table, "trial_id"),
                           out,
                           [&](OptunaTrial& trial, const Statement& row) {
                             (trial.*attributes)[std::string(row.Text(1))] =
                                 std::string(row.Text(2));
                           });
  }

  Connection& database_;
  const std::int64_t study_;
  std::map<std::int64_t, std::size_t> places_;  // Of trials, by id.
};

}  // namespace

absl::StatusOr<SourceStudy> ReadOptunaDatabase(const std::string& path,
                                               const ImportOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> database,
                           Connection::OpenToLook(path, sqlite::kBusyTimeout));
  // One snapshot, also while Optuna writes.
  VERNIER_RETURN_IF_ERROR(database->Execute("BEGIN"));
  std::vector<std::int64_t> ids;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> names, StudyNames(*database, ids));
  VERNIER_ASSIGN_OR_RETURN(const std::size_t picked, PickStudy(names, options.study));
  OptunaStudy study{.name = names[picked]};
  Reader reader(*database, ids[picked]);
  VERNIER_RETURN_IF_ERROR(reader.ReadStudy(study));
  VERNIER_RETURN_IF_ERROR(reader.ReadTrials(study));
  return FromOptuna(study);
}

}  // namespace vernier::imports
