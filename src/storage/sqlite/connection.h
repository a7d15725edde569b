#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace vernier::sqlite {

// Which file a path led to.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// How long somebody else's transaction is waited for, in a file that is looked at or copied. A choice.
inline constexpr absl::Duration kBusyTimeout = absl::Seconds(5);

// One connection to a database file, and the statements prepared on it. Not thread-safe; may move between threads.
class Connection {
 public:
  enum class Missing { kCreate, kRefuse };
  // Opens the file, or creates it. `vfs`: an SQLite VFS by name; empty: the default.
  // Unavailable: it cannot be opened.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& path,
                                                          absl::Duration busy_timeout,
                                                          const std::string& vfs,
                                                          Missing missing = Missing::kCreate);
  // Opens the file of somebody else, who may write it meanwhile: this connection changes no table, and what the
  // write-ahead log of a process that died holds stays there. A file that cannot be written is read as it is.
  static absl::StatusOr<std::unique_ptr<Connection>> OpenToLook(const std::string& path,
                                                                absl::Duration busy_timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The file that was opened.
  const FileIdentity& file() const { return file_; }
  // Whether the path still leads to that file, and the write-ahead log is where it was at the first call that found one.
  // Unavailable (kStoreGone): one was moved, removed or replaced, so that nobody will find what is written. What the log of a
  // moved file holds is brought into it.
  absl::Status CheckInPlace();

  // Runs statements that return nothing of interest.
  absl::Status Execute(const std::string& sql);
  // Whether a transaction is open: an error may have rolled it back.
  bool in_transaction() const;
  std::int64_t last_insert_id() const;
  std::int64_t changed_rows() const;

  // The last error of this connection as a status that names the file.
  // ResourceExhausted: disk or memory is full.  Unavailable: busy, unreadable, unwritable.  DataLoss (kDataLoss):
  // damaged, or not a database.  Cancelled: a Watched said no.  Internal: the rest.
  absl::Status Error(int code) const;

  // While it lives, statements end with Cancelled once `go_on` says no; it is asked every millisecond or so,
  // but not while SQLite looks at the structure of a table.
  class Watched {
   public:
    Watched(Connection& connection, const std::function<bool()>& go_on);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    Connection& connection_;
    const std::function<bool()> go_on_;
  };

  // What the write-ahead logs hold of a process that died is left in them when this is closed: their owner brings it in.
  void KeepLogOnClose();
  // Whether there is such a log with anything in it.
  static bool HasLog(const std::string& path);
  // For calls of SQLite's own that have no statement.
  sqlite3* handle() { return db_; }

 private:
  friend class Statement;
  static absl::StatusOr<std::unique_ptr<Connection>> OpenWith(const std::string& path,
                                                              absl::Duration busy_timeout,
                                                              const std::string& vfs,
                                                              int flags);
  explicit Connection(std::string path) : path_(std::move(path)) {}
  // The statement for `sql`, prepared once. Null if it cannot be.
  sqlite3_stmt* Prepared(std::string_view sql);

  std::string path_;
  FileIdentity file_;
  std::optional<FileIdentity> log_;
  sqlite3* db_ = nullptr;                                         // Owned.
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;  // Owned; by their text.
};

// Bytes to be bound as a BLOB. They must live as long as the statement runs.
struct Blob {
  std::string_view bytes;
};

// One run of a prepared statement: binds in the constructor and by Bind, resets in the destructor.
//
//   Statement select(connection, "SELECT name FROM studies WHERE id = ?", id);
//   VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
//   if (found) Use(select.Text(0));
class Statement {
 public:
  template <typename... Values>
  Statement(Connection& connection, std::string_view sql, const Values&... values)
      : connection_(connection), statement_(connection.Prepared(sql)) {
    (Bind(values), ...);
  }
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds the next value, behind those that the constructor bound.
  void Bind(std::int64_t value);
  void Bind(double value);            // REQUIRES: not NaN.
  void Bind(std::string_view value);  // Must live as long as the statement runs.
  void Bind(const std::string& value) { Bind(std::string_view(value)); }
  void Bind(const Blob& value);
  void Bind(const std::optional<std::int64_t>& value);
  void Bind(const std::optional<std::string>& value);

  // Moves to the next row. False: there is none.
  absl::StatusOr<bool> Step();
  // Runs to the end.
  absl::Status Run();

  // Columns of the current row, from 0.
  std::int64_t Integer(int column) const;
  double Double(int column) const;
  std::string_view Text(int column) const;   // Valid until the next Step.
  std::string_view Bytes(int column) const;  // Of a BLOB; as Text.
  std::optional<std::int64_t> OptionalInteger(int column) const;

 private:
  void Note(int code);

  Connection& connection_;
  sqlite3_stmt* statement_;  // The connection's; null if it could not be prepared.
  int bound_ = 0;
  int error_ = 0;  // The first error while binding.
};

// BEGIN IMMEDIATE (or, for reading, BEGIN) … COMMIT. Rolls back when destroyed before Commit returned OK.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  static absl::StatusOr<Transaction> Begin(Connection& connection, Kind kind);
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  absl::Status Commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;  // Not owned; null once moved from.
};

}  // namespace vernier::sqlite
