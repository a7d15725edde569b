#include "src/storage/sqlite/connection.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "src/core/damage.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {
namespace {

absl::StatusCode CodeOf(int extended, int system_error) {
  // The lowest byte of an extended code is the primary code.
  switch (extended & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_IOERR:
      return system_error == ENOSPC || system_error == EDQUOT ? absl::StatusCode::kResourceExhausted
                                                              : absl::StatusCode::kUnavailable;
    // Somebody else holds the file, or its permissions are wrong: the same call may succeed later.
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_PROTOCOL:
      return absl::StatusCode::kUnavailable;
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kCancelled;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    default:
      return absl::StatusCode::kInternal;
  }
}

std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& path,
                                                             absl::Duration busy_timeout,
                                                             const std::string& vfs,
                                                             Missing missing) {
  const int create = missing == Missing::kCreate ? SQLITE_OPEN_CREATE : 0;
  return OpenWith(path, busy_timeout, vfs, SQLITE_OPEN_READWRITE | create);
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::OpenWith(const std::string& path,
                                                                 absl::Duration busy_timeout,
                                                                 const std::string& vfs,
                                                                 int flags) {
  std::unique_ptr<Connection> connection(new Connection(path));
  // A connection is used by one thread at a time, so that SQLite need not lock it on each call.
  flags |= SQLITE_OPEN_NOMUTEX;
  const int code =
      sqlite3_open_v2(path.c_str(), &connection->db_, flags, vfs.empty() ? nullptr : vfs.c_str());
  // SQLite returns a handle even with an error, to ask it for the message. Null: no memory for one.
  if (connection->db_ == nullptr) return ResourceExhausted("store '{}': out of memory", path);
  if (code != SQLITE_OK) return connection->Error(code);
  connection->file_ = IdentityOf(path).value_or(FileIdentity());
  sqlite3_extended_result_codes(connection->db_, 1);
  sqlite3_busy_timeout(connection->db_, static_cast<int>(absl::ToInt64Milliseconds(busy_timeout)));
  return connection;
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::OpenToLook(const std::string& path,
                                                                   absl::Duration busy_timeout) {
  constexpr const char* kLook = "PRAGMA query_only = ON; PRAGMA cell_size_check = ON;";
  // Asked before the file is opened. Without an earlier log, closing removes the files that this
  // look made beside the store.
  const bool has_log = HasLog(path);
  // Opened for writing where possible: readers of a write-ahead log keep their marks in the index
  // beside it. `query_only` protects the tables.
  if (access(path.c_str(), W_OK) == 0) {
    VERNIER_ASSIGN_OR_RETURN(auto connection,
                             OpenWith(path, busy_timeout, "", SQLITE_OPEN_READWRITE));
    if (has_log) {
      connection->KeepLogOnClose();
    }
    VERNIER_RETURN_IF_ERROR(connection->Execute(kLook));
    return connection;
  }
  VERNIER_ASSIGN_OR_RETURN(auto connection, OpenWith(path, busy_timeout, "", SQLITE_OPEN_READONLY));
  VERNIER_RETURN_IF_ERROR(connection->Execute(kLook));
  return connection;
}

void Connection::KeepLogOnClose() {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

bool Connection::HasLog(const std::string& path) {
  struct stat log;
  return stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0;
}

Connection::Watched::Watched(Connection& connection, const std::function<bool()>& go_on)
    : connection_(connection), go_on_(go_on) {
  constexpr int kInstructions = 1'000;  // Less than a millisecond.
  const auto is_over = [](void* self) {
    const auto& ask = static_cast<Watched*>(self)->go_on_;
    return ask == nullptr || ask() ? 0 : 1;
  };
  sqlite3_progress_handler(connection_.db_, kInstructions, is_over, this);
}

Connection::Watched::~Watched() { sqlite3_progress_handler(connection_.db_, 0, nullptr, nullptr); }

Connection::~Connection() {
  // SQLite does not close a connection that still has statements.
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

absl::Status Connection::CheckInPlace() {
  const auto gone = [this](const char* what, bool is_replaced) {
    return WithReason(
        Unavailable("store '{}': {} was {} while it was in use; nothing more is stored",
                    path_,
                    what,
                    is_replaced ? "replaced" : "moved or removed"),
        Reason::kStoreGone);
  };
  const std::optional<FileIdentity> now = IdentityOf(path_);
  if (now != file_) {
    // Whoever finds the file then has all of it, with or without the log. SQLite refuses a checkpoint
    // inside a transaction; a passive one waits for no reader.
    if (!in_transaction())
      sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    return gone("the file", now.has_value());
  }
  // SQLite goes on writing to a log that was removed, where nobody would find what it wrote.
  const std::optional<FileIdentity> log =
      IdentityOf(sqlite3_filename_wal(sqlite3_db_filename(db_, "main")));
  if (log_.has_value() && log != log_) return gone("its write-ahead log", log.has_value());
  log_ = log;
  return absl::OkStatus();
}

absl::Status Connection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code);
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

std::int64_t Connection::last_insert_id() const { return sqlite3_last_insert_rowid(db_); }

std::int64_t Connection::changed_rows() const { return sqlite3_changes64(db_); }

absl::Status Connection::Error(int code) const {
  const int system_error = sqlite3_system_errno(db_);
  const absl::Status error(
      CodeOf(code, system_error),
      fmt::format("store '{}': {} (SQLite code {})", path_, sqlite3_errmsg(db_), code));
  return DamageOf("", error);
}

sqlite3_stmt* Connection::Prepared(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  // PERSISTENT tells SQLite not to use its small pool of memory for short-lived objects.
  sqlite3_prepare_v3(db_,
                     sql.data(),
                     static_cast<int>(sql.size()),
                     SQLITE_PREPARE_PERSISTENT,
                     &statement,
                     nullptr);
  // A failure is not remembered: a migration may create the missing table.
  if (statement != nullptr) statements_.emplace(sql, statement);
  return statement;
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  // The statement outlives this run. Reset ends its read; the bindings refer to values
  // of the caller that are about to go.
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

absl::StatusOr<bool> Statement::Step() {
  if (statement_ == nullptr) {
    const int code = sqlite3_extended_errcode(connection_.db_);
    const absl::Status error = connection_.Error(code);
    // The statements of this program are valid SQL. One that SQLite rejects all the same names a table or
    // column that the file lacks, so the schema is damaged.
    if ((code & 0xFF) != SQLITE_ERROR) return error;
    return DamageOf("", DataLoss("{}", std::string(error.message())));
  }
  if (error_ != SQLITE_OK) return connection_.Error(error_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_.Error(code);
}

absl::Status Statement::Run() {
  bool more = true;
  while (more) {
    VERNIER_ASSIGN_OR_RETURN(more, Step());
  }
  return absl::OkStatus();
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::Double(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::Text(int column) const {
  // The text before its size: asking for the text may convert the value, which changes the size.
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(size));
}

std::string_view Statement::Bytes(int column) const {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(bytes, static_cast<std::size_t>(size));
}

std::optional<std::int64_t> Statement::OptionalInteger(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return Integer(column);
}

void Statement::Bind(std::int64_t value) { Note(sqlite3_bind_int64(statement_, ++bound_, value)); }

void Statement::Bind(double value) { Note(sqlite3_bind_double(statement_, ++bound_, value)); }

void Statement::Bind(std::string_view value) {
  // A null pointer would bind NULL; an empty view may hold one.
  const char* const text = value.data() == nullptr ? "" : value.data();
  // STATIC: SQLite makes no copy. The caller keeps the bytes until the statement has run.
  Note(sqlite3_bind_text64(statement_, ++bound_, text, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::Bind(const Blob& value) {
  Note(sqlite3_bind_blob64(
      statement_, ++bound_, value.bytes.data(), value.bytes.size(), SQLITE_STATIC));
}

void Statement::Bind(const std::optional<std::int64_t>& value) {
  if (value) return Bind(*value);
  Note(sqlite3_bind_null(statement_, ++bound_));
}

void Statement::Bind(const std::optional<std::string>& value) {
  if (value) return Bind(std::string_view(*value));
  Note(sqlite3_bind_null(statement_, ++bound_));
}

void Statement::Note(int code) {
  // Step reports the first error. A null statement has an error of its own, from its preparation.
  if (error_ == SQLITE_OK && statement_ != nullptr) error_ = code;
}

// IMMEDIATE takes the lock of the writer at once, and waits for it. A transaction that reads first
// could be refused at its first write, when waiting no longer helps.
absl::StatusOr<Transaction> Transaction::Begin(Connection& connection, Kind kind) {
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN").Run());
  return Transaction(connection);
}

// After an error the transaction may still be open; the destructor rolls it back.
absl::Status Transaction::Commit() { return Statement(*connection_, "COMMIT").Run(); }

Transaction::~Transaction() {
  // Nothing to report: what a failed rollback leaves is rolled back when the file is opened next.
  if (connection_ != nullptr && connection_->in_transaction()) {
    Statement(*connection_, "ROLLBACK").Run().IgnoreError();
  }
}

}  // namespace vernier::sqlite
