#include "src/storage/sqlite/backup.h"

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "src/core/damage.h"
#include "src/core/status.h"
#include "src/storage/sqlite/connection.h"
#include "src/storage/sqlite/inspection.h"
#include "src/storage/sqlite/migrations.h"
#include "src/storage/sqlite/rows.h"
#include "src/storage/sqlite/schema.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {
namespace {

// 4 MiB at the default page size of SQLite.
constexpr int kPagesAtOnce = 1024;

absl::StatusOr<std::int64_t> Ask(Connection& connection, std::string_view sql) {
  Statement select(connection, sql);
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  return found ? select.Integer(0) : 0;
}

// Counts the rows of the database that is attached under that name. Rows of deleted studies do not count: they are
// removed step by step, and an incremental backup has none of them.
absl::StatusOr<RowCounts> Count(Connection& connection, const std::string& schema = "main") {
  RowCounts counts;
  const auto count = [&](const char* table) {
    return Ask(connection, fmt::format("SELECT count(*) FROM {}.{}", schema, table));
  };
  VERNIER_ASSIGN_OR_RETURN(counts.studies, count("studies"));
  const auto count_of_studies = [&](const char* table) {
    return Ask(connection,
               fmt::format("SELECT count(*) FROM {0}.{1} WHERE study IN (SELECT id FROM "
                           "{0}.studies)",
                           schema,
                           table));
  };
  VERNIER_ASSIGN_OR_RETURN(counts.trials, count_of_studies("trials"));
  VERNIER_ASSIGN_OR_RETURN(counts.events, count_of_studies("events"));
  return counts;
}

absl::Status CopyPages(Connection& from, Connection& to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  // SQLite keeps the error of a backup that cannot begin with the connection of its destination.
  if (backup == nullptr) return to.Error(sqlite3_extended_errcode(to.handle()));
  int code = SQLITE_OK;
  while (code == SQLITE_OK) code = sqlite3_backup_step(backup, kPagesAtOnce);
  const int finished = sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE && finished == SQLITE_OK) return absl::OkStatus();
  return to.Error(code);
}

// The pages say that there is a log beside the file. A copy has none, so that it can be moved as one file.
absl::Status LeaveLogMode(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto connection,
                           Connection::Open(path, kBusyTimeout, "", Connection::Missing::kRefuse));
  // Not synced here either: the caller syncs the finished file.
  return connection->Execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE");
}

// Selects a study whose id is in both files, but which is another one there, or whose log in the
// copy is not the beginning of that in the store.
constexpr std::string_view kForeignStudy =
    "SELECT b.name FROM main.studies b JOIN live.studies s USING (id) "
    "WHERE s.created_at <> b.created_at OR s.last_event < b.last_event OR NOT EXISTS ("
    "SELECT 1 FROM main.events m JOIN live.events e USING (study, seq) "
    "WHERE m.study = b.id AND m.seq = b.last_event AND (m.time, m.actor, m.kind, m.payload) = "
    "(e.time, e.actor, e.kind, e.payload)) LIMIT 1";
// Selects a study of the copy whose id the store has never given.
constexpr std::string_view kNewerStudy =
    "SELECT name FROM main.studies WHERE id > (SELECT coalesce(max(seq), 0) FROM "
    "live.sqlite_sequence WHERE name = 'studies') LIMIT 1";
constexpr std::string_view kShared =
    "SELECT count(*) FROM main.studies JOIN live.studies USING (id)";

absl::Status CheckSameStore(Connection& copy, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t schema, Ask(copy, "PRAGMA main.user_version"));
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t live, Ask(copy, "PRAGMA live.user_version"));
  if (schema != live) {
    return FailedPrecondition(
        "'{}' has schema {}, the store has schema {}; make a whole backup", path, schema, live);
  }
  VERNIER_ASSIGN_OR_RETURN(const RowCounts counts, Count(copy));
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t shared, Ask(copy, kShared));
  Statement foreign(copy, kForeignStudy);
  VERNIER_ASSIGN_OR_RETURN(const bool found, foreign.Step());
  if (found) {
    return FailedPrecondition("'{}' is no earlier backup of this store: study '{}' has another log",
                              path,
                              foreign.Text(0));
  }
  Statement newer(copy, kNewerStudy);
  VERNIER_ASSIGN_OR_RETURN(const bool is_newer, newer.Step());
  if (is_newer) {
    return FailedPrecondition(
        "'{}' is no earlier backup of this store, which never had its study '{}'; name another "
        "file",
        path,
        newer.Text(0));
  }
  // The checks above found nothing to compare in a copy that shares no study. An empty copy may be of any store.
  if (counts.studies == 0 || shared > 0) return absl::OkStatus();
  return FailedPrecondition("'{}' has no study of this store; make a whole backup", path);
}

// Runs a statement; how many rows it changed.
absl::StatusOr<std::int64_t> Change(Connection& connection, std::string_view sql) {
  VERNIER_RETURN_IF_ERROR(Statement(connection, sql).Run());
  return connection.changed_rows();
}

absl::StatusOr<Appended> AppendRows(Connection& copy) {
  Appended appended;
  VERNIER_ASSIGN_OR_RETURN(
      appended.studies_removed,
      Change(copy, "DELETE FROM main.studies WHERE id NOT IN (SELECT id FROM live.studies)"));
  // Rows of studies whose removal was under way when the copy was made. Those of the
  // studies deleted above went with them, by foreign keys.
  for (const char* table : {"trial_metrics", "trials", "events"}) {
    VERNIER_RETURN_IF_ERROR(copy.Execute(fmt::format(
        "DELETE FROM main.{} WHERE study IN (SELECT study FROM main.leftovers)", table)));
  }
  VERNIER_RETURN_IF_ERROR(copy.Execute("DELETE FROM main.leftovers"));
  // A snapshot of a study that goes on stays true: the events that are appended follow it.
  for (const char* table : {"snapshot_parts", "snapshots"}) {
    VERNIER_RETURN_IF_ERROR(copy.Execute(fmt::format(
        "DELETE FROM main.{} WHERE study NOT IN (SELECT id FROM main.studies)", table)));
  }
  // The studies with new events, each with its last event in the copy; 0 if the copy lacks the study.
  VERNIER_RETURN_IF_ERROR(copy.Execute(
      "CREATE TEMP TABLE moved AS SELECT s.id, coalesce(b.last_event, 0) AS after FROM "
      "live.studies s LEFT JOIN main.studies b ON b.id = s.id "
      "WHERE b.last_event IS NOT s.last_event"));
  VERNIER_ASSIGN_OR_RETURN(appended.studies_added,
                           Ask(copy, "SELECT count(*) FROM temp.moved WHERE after = 0"));
  // All columns except id, name and time of creation, which never change. A column that a migration adds
  // belongs here, too.
  VERNIER_RETURN_IF_ERROR(copy.Execute(
      "INSERT INTO main.studies SELECT * FROM live.studies WHERE id IN (SELECT id FROM temp.moved) "
      "ON CONFLICT (id) DO UPDATE SET (state, reason, updated_at, last_event, trials, completed, "
      "failed, open, best_trial, spec_version, spec, optimal_trials, converged_trial, cpu_time_ns, "
      "gpu_time_ns, peak_memory_bytes, metadata) = (excluded.state, excluded.reason, "
      "excluded.updated_at, excluded.last_event, excluded.trials, excluded.completed, "
      "excluded.failed, excluded.open, excluded.best_trial, excluded.spec_version, excluded.spec, "
      "excluded.optimal_trials, excluded.converged_trial, excluded.cpu_time_ns, "
      "excluded.gpu_time_ns, excluded.peak_memory_bytes, excluded.metadata)"));
  // CROSS JOIN makes SQLite go from the studies to their rows, so that those of unchanged studies are not read.
  VERNIER_ASSIGN_OR_RETURN(
      appended.events,
      Change(copy,
             "INSERT INTO main.events SELECT e.* FROM temp.moved m CROSS JOIN live.events e "
             "ON e.study = m.id AND e.seq > m.after"));
  VERNIER_ASSIGN_OR_RETURN(
      appended.trials,
      Change(copy,
             "INSERT INTO main.trials SELECT t.* FROM temp.moved m CROSS JOIN live.trials t "
             "ON t.study = m.id WHERE NOT EXISTS (SELECT 1 FROM main.trials b WHERE b.study = "
             "t.study AND b.number = t.number AND b.row = t.row) "
             "ON CONFLICT (study, number) DO UPDATE SET (state, created_at, ended_at, failure, "
             "message, row) = (excluded.state, excluded.created_at, excluded.ended_at, "
             "excluded.failure, excluded.message, excluded.row)"));
  VERNIER_RETURN_IF_ERROR(copy.Execute(
      "INSERT OR IGNORE INTO main.trial_metrics SELECT x.* FROM temp.moved m CROSS JOIN "
      "live.trial_metrics x ON x.study = m.id"));
  // sqlite_sequence has the highest id ever given: a restored store must not give one again that a deleted study had.
  VERNIER_RETURN_IF_ERROR(
      copy.Execute("INSERT OR IGNORE INTO main.deletions SELECT * FROM live.deletions;"
                   "DELETE FROM main.sqlite_sequence;"
                   "INSERT INTO main.sqlite_sequence SELECT * FROM live.sqlite_sequence"));
  return appended;
}

// Finishes the removal of studies whose deletion was under way when the store was closed. REQUIRES: no page is damaged.
// A store of an earlier schema, which may lack the table, is left as it is.
absl::Status RemoveAllLeftovers(Connection& store) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t version, Ask(store, "PRAGMA user_version"));
  if (version != std::ssize(Migrations())) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<StudyId> studies, SelectLeftovers(store));
  for (const StudyId study : studies) {
    std::uint32_t damaged = 0;
    for (bool is_more = true; is_more;) {
      VERNIER_ASSIGN_OR_RETURN(Transaction step,
                               Transaction::Begin(store, Transaction::Kind::kWrite));
      VERNIER_ASSIGN_OR_RETURN(is_more, RemoveLeftovers(store, study, damaged));
      VERNIER_RETURN_IF_ERROR(step.Commit());
    }
  }
  return absl::OkStatus();
}

absl::Status Named(const std::string& path, const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  const std::string message(status.message());
  return Damage(fmt::format("store '{}'", path), message);
}

// Looks at every page. `what` is said of the store where one is damaged.
absl::Status CheckStructure(const std::string& path, std::string_view what) {
  VERNIER_ASSIGN_OR_RETURN(const auto store, Inspection::Open(path));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                           store->CheckPages(Inspection::Depth::kQuick, nullptr));
  if (problems.empty()) return absl::OkStatus();
  return Damage(fmt::format("store '{}' {}", path, what), problems.front());
}

}  // namespace

bool IsStoreFile(const std::string& path) {
  constexpr std::size_t kIdentifier = 68;  // Where SQLite keeps it, the highest byte first.
  std::array<char, kIdentifier + 4> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(header.data(), header.size())) return false;
  std::uint32_t identifier = 0;
  for (std::size_t i = kIdentifier; i < header.size(); ++i) {
    identifier = identifier << 8 | static_cast<unsigned char>(header[i]);
  }
  return std::string_view(header.data(), 15) == "SQLite format 3" && identifier == kApplicationId;
}

absl::StatusOr<RowCounts> CountRows(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto store, Inspection::Open(path, Inspection::Schema::kKnown));
  return Count(store->connection());
}

absl::StatusOr<RowCounts> CopyStore(const std::string& from, const std::string& to) {
  VERNIER_ASSIGN_OR_RETURN(const auto original, Inspection::Open(from, Inspection::Schema::kKnown));
  RowCounts counts;
  {
    // One snapshot for all steps: what is written meanwhile is not waited for, and does not begin the copy anew.
    VERNIER_ASSIGN_OR_RETURN(const auto snapshot, original->Snapshot());
    VERNIER_ASSIGN_OR_RETURN(counts, Count(original->connection()));
    VERNIER_ASSIGN_OR_RETURN(const auto copy, Connection::Open(to, kBusyTimeout, ""));
    VERNIER_RETURN_IF_ERROR(copy->Execute("PRAGMA synchronous = OFF"));  // The caller syncs it.
    VERNIER_RETURN_IF_ERROR(CopyPages(original->connection(), *copy));
  }
  VERNIER_RETURN_IF_ERROR(LeaveLogMode(to));
  return counts;
}

absl::StatusOr<Appended> AppendToCopy(const std::string& from, const std::string& copy) {
  // Ahead of all changes: a damaged store must not spoil a backup that is sound.
  VERNIER_RETURN_IF_ERROR(CheckStructure(from, "is damaged, the backup stays as it was"));
  VERNIER_ASSIGN_OR_RETURN(const auto connection,
                           Connection::Open(copy, kBusyTimeout, "", Connection::Missing::kRefuse));
  VERNIER_RETURN_IF_ERROR(CheckKnown(*connection));
  // Before the transaction, inside of which it has no effect. The deletion of a study then removes its rows.
  VERNIER_RETURN_IF_ERROR(connection->Execute("PRAGMA foreign_keys = ON"));
  VERNIER_RETURN_IF_ERROR(Statement(*connection, "ATTACH ? AS live", from).Run());
  // Closing would otherwise bring into the store what belongs to a process that died.
  if (Connection::HasLog(from)) connection->KeepLogOnClose();
  // Not IMMEDIATE, which would keep others from writing to the store.
  VERNIER_ASSIGN_OR_RETURN(Transaction transaction,
                           Transaction::Begin(*connection, Transaction::Kind::kRead));
  VERNIER_RETURN_IF_ERROR(CheckSameStore(*connection, copy));
  VERNIER_ASSIGN_OR_RETURN(Appended appended, AppendRows(*connection));
  VERNIER_ASSIGN_OR_RETURN(appended.counts, Count(*connection));
  VERNIER_ASSIGN_OR_RETURN(const RowCounts live, Count(*connection, "live"));
  // Only new events are appended, so a row that an earlier backup lost stays lost. The counts show it.
  if (appended.counts != live) {
    return FailedPrecondition("'{}' lacks rows that the store had before; make a whole backup",
                              copy);
  }
  VERNIER_RETURN_IF_ERROR(transaction.Commit());
  return appended;
}

absl::Status VerifyCopy(const std::string& path, const RowCounts& expected) {
  VERNIER_ASSIGN_OR_RETURN(const auto copy, Inspection::Open(path, Inspection::Schema::kKnown));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                           copy->CheckPages(Inspection::Depth::kFull, nullptr));
  if (!problems.empty()) return DataLoss("{}", problems.front());
  VERNIER_ASSIGN_OR_RETURN(const RowCounts counts, Count(copy->connection()));
  if (counts == expected) return absl::OkStatus();
  return DataLoss("it has {} studies, {} trials and {} events, must have {}, {} and {}",
                  counts.studies,
                  counts.trials,
                  counts.events,
                  expected.studies,
                  expected.trials,
                  expected.events);
}

absl::Status CompactStore(const std::string& path) {
  RowCounts counts;
  {
    VERNIER_ASSIGN_OR_RETURN(
        const auto store, Connection::Open(path, kBusyTimeout, "", Connection::Missing::kRefuse));
    VERNIER_RETURN_IF_ERROR(CheckKnown(*store));
    VERNIER_ASSIGN_OR_RETURN(counts, Count(*store));
    // Checked before and after. VACUUM builds the file anew from its rows: it must neither begin
    // with damage nor lose any of them.
    VERNIER_RETURN_IF_ERROR(Named(path, VerifyCopy(path, counts)));
    VERNIER_RETURN_IF_ERROR(RemoveAllLeftovers(*store));
    VERNIER_RETURN_IF_ERROR(
        store->Execute("PRAGMA synchronous = FULL; PRAGMA auto_vacuum = INCREMENTAL; VACUUM"));
    // VACUUM writes the new pages into the log; only a checkpoint makes the file itself smaller.
    VERNIER_RETURN_IF_ERROR(store->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  return Named(path, VerifyCopy(path, counts));
}

absl::Status ShrinkStore(const std::string& path, const std::function<void()>& rest) {
  // The answer of `PRAGMA auto_vacuum` for INCREMENTAL.
  constexpr std::int64_t kIncremental = 2;
  // One MiB at the default page size.
  constexpr std::int64_t kPagesOfStep = 256;
  VERNIER_RETURN_IF_ERROR(CheckStructure(path, "is damaged, no room is given back"));
  VERNIER_ASSIGN_OR_RETURN(const auto store,
                           Connection::Open(path, kBusyTimeout, "", Connection::Missing::kRefuse));
  VERNIER_RETURN_IF_ERROR(CheckKnown(*store));
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t mode, Ask(*store, "PRAGMA auto_vacuum"));
  if (mode != kIncremental) {
    return FailedPrecondition(
        "store '{}' was made by an earlier version and gives no room back while it is in use",
        path);
  }
  store->KeepLogOnClose();
  // The syncs of those who own the store make durable what is written here.
  VERNIER_RETURN_IF_ERROR(store->Execute("PRAGMA synchronous = NORMAL"));
  VERNIER_ASSIGN_OR_RETURN(std::int64_t left, Ask(*store, "PRAGMA freelist_count"));
  for (; left > 0; left -= kPagesOfStep) {
    {
      VERNIER_ASSIGN_OR_RETURN(Transaction step,
                               Transaction::Begin(*store, Transaction::Kind::kWrite));
      VERNIER_RETURN_IF_ERROR(
          store->Execute(fmt::format("PRAGMA incremental_vacuum({})", kPagesOfStep)));
      VERNIER_RETURN_IF_ERROR(step.Commit());
    }
    rest();
  }
  // The file gets shorter once the log is brought into it.
  return store->Execute("PRAGMA wal_checkpoint(PASSIVE)");
}

}  // namespace vernier::sqlite
