#include "src/storage/sqlite/schema.h"

#include "src/core/status.h"
#include "src/storage/sqlite/migrations.h"
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
  if (application == 0 && version == 0 && tables == 0) return 0;
  return DataLoss("the database was not made by vernier (application id {:#x})", application);
}

std::int64_t NewestSchema() { return static_cast<std::int64_t>(Migrations().size()); }

absl::Status CheckNotNewer(std::int64_t version) {
  if (version <= NewestSchema()) return absl::OkStatus();
  return FailedPrecondition(
      "the store has schema {}, this program knows schemas up to {}; use a newer vernier",
      version,
      NewestSchema());
}

absl::Status RunMigrations(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(Transaction transaction,
                           Transaction::Begin(connection, Transaction::Kind::kWrite));
  // Read again under the lock: another process may have been here first.
  VERNIER_ASSIGN_OR_RETURN(std::int64_t version, ReadSchemaVersion(connection));
  VERNIER_RETURN_IF_ERROR(CheckNotNewer(version));
  for (; version < NewestSchema(); ++version) {
    VERNIER_RETURN_IF_ERROR(
        connection.Execute(std::string(Migrations()[static_cast<std::size_t>(version)])));
  }
  VERNIER_RETURN_IF_ERROR(connection.Execute(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, version)));
  return transaction.Commit();
}

// Cheap signs that the tables are what the version says.
absl::Status ProbeTables(Connection& connection) {
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT id, name, spec FROM studies LIMIT 1").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT study, number, row FROM trials LIMIT 1").Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "SELECT request_id, study FROM deletions LIMIT 1").Run());
  return Statement(connection, "SELECT study, seq, payload FROM events LIMIT 1").Run();
}

}  // namespace

absl::Status CheckOurs(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, ReadSchemaVersion(connection));
  return CheckNotNewer(version);
}

absl::Status Migrate(Connection& connection) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, ReadSchemaVersion(connection));
  if (version < NewestSchema()) VERNIER_RETURN_IF_ERROR(RunMigrations(connection));
  return ProbeTables(connection);
}

}  // namespace vernier::sqlite
