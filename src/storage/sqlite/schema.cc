#include "src/storage/sqlite/schema.h"

#include "src/core/status.h"
#include "src/storage/sqlite/migrations.h"
#include "src/storage/sqlite/rows.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {
namespace {

absl::StatusOr<std::int64_t> ReadInteger(Connection& connection, std::string_view sql) {
  Statement select(connection, sql);
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  return found ? select.Integer(0) : 0;
}

// The schema of the file, 0 if it is empty.  DataLoss: not ours.
absl::StatusOr<std::int64_t> ReadSchemaVersion(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t application,
                           ReadInteger(connection, "PRAGMA application_id"));
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version,
                           ReadInteger(connection, "PRAGMA user_version"));
  if (application == kApplicationId) return version;
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t tables,
                           ReadInteger(connection, "SELECT count(*) FROM sqlite_schema"));
  // All three, since other programs leave the application id at 0 as well.
  if (application == 0 && version == 0 && tables == 0) return 0;
  return DataLoss("the database was not made by vernier (application id {:#x})", application);
}

std::int64_t NewestSchema() { return static_cast<std::int64_t>(Migrations().size()); }

absl::Status CheckNotEmpty(std::int64_t version) {
  if (version > 0) return absl::OkStatus();
  return FailedPrecondition("the file is empty: it is no store");
}

absl::Status CheckNotNewer(std::int64_t version) {
  if (version <= NewestSchema()) return absl::OkStatus();
  return FailedPrecondition(
      "the store has schema {}, this program knows schemas up to {}; use a newer vernier",
      version,
      NewestSchema());
}

// The first schema with trial_metrics.
constexpr std::int64_t kTrialMetrics = 7;

// Fills trial_metrics from the rows of an older store. Not in SQL: SQLite would not read every number in them to the
// last bit. A damaged row is skipped, and reported to whoever reads that trial.
absl::Status FillTrialMetrics(Connection& connection) {
  Statement select(connection, "SELECT study, row FROM trials WHERE ended_at IS NOT NULL");
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return absl::OkStatus();
    const absl::StatusOr<Trial> trial = ParseTrial(select.Text(1));
    if (!trial.ok()) continue;
    VERNIER_RETURN_IF_ERROR(
        InsertMetrics(connection, StudyId(select.Integer(0)), TrialRow(*trial)));
  }
}

absl::Status RunMigrations(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(Transaction transaction,
                           Transaction::Begin(connection, Transaction::Kind::kWrite));
  // Read again under the lock: another process may have been here first.
  VERNIER_ASSIGN_OR_RETURN(std::int64_t version, ReadSchemaVersion(connection));
  VERNIER_RETURN_IF_ERROR(CheckNotNewer(version));
  const std::int64_t before = version;
  // All in one transaction, so that a crash leaves the old schema and no mixture. Migration n is at index n - 1.
  for (; version < NewestSchema(); ++version) {
    VERNIER_RETURN_IF_ERROR(
        connection.Execute(std::string(Migrations()[static_cast<std::size_t>(version)])));
  }
  // A new file has no trials, and a newer one has the table filled.
  if (before > 0 && before < kTrialMetrics) {
    VERNIER_RETURN_IF_ERROR(FillTrialMetrics(connection));
  }
  VERNIER_RETURN_IF_ERROR(connection.Execute(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, version)));
  return transaction.Commit();
}

// Whether the tables have the columns of this schema. No row is read: a damaged one is reported to whoever reads it,
// and must not keep the other studies from being opened.
absl::Status ProbeTables(Connection& connection) {
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT id, name, spec FROM studies LIMIT 0").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT study, number, row FROM trials LIMIT 0").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT request_id, study FROM deletions LIMIT 0").Run());
  VERNIER_RETURN_IF_ERROR(Statement(connection, "SELECT study FROM leftovers LIMIT 0").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT study, as_of, head FROM snapshots LIMIT 0").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT study, part, data FROM snapshot_parts LIMIT 0").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT study, metric, value, number FROM trial_metrics LIMIT 0")
          .Run());
  return Statement(connection, "SELECT study, seq, payload FROM events LIMIT 0").Run();
}

}  // namespace

absl::Status CheckOurs(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, ReadSchemaVersion(connection));
  return CheckNotNewer(version);
}

absl::Status CheckKnown(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, ReadSchemaVersion(connection));
  VERNIER_RETURN_IF_ERROR(CheckNotEmpty(version));
  return CheckNotNewer(version);
}

// The tables are probed for the newest schema only: an older one lacks some of them rightly.
absl::Status CheckCurrent(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, ReadSchemaVersion(connection));
  VERNIER_RETURN_IF_ERROR(CheckNotEmpty(version));
  VERNIER_RETURN_IF_ERROR(CheckNotNewer(version));
  if (version == NewestSchema()) return ProbeTables(connection);
  return FailedPrecondition(
      "the store has schema {}, this program writes schema {}; `vernier study list` brings it up",
      version,
      NewestSchema());
}

absl::Status Migrate(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, ReadSchemaVersion(connection));
  // An up-to-date store needs no transaction, and does not wait for another writer.
  if (version < NewestSchema()) VERNIER_RETURN_IF_ERROR(RunMigrations(connection));
  return ProbeTables(connection);
}

}  // namespace vernier::sqlite
