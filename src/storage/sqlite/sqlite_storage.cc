#include "src/storage/sqlite/sqlite_storage.h"

#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "src/core/damage.h"
#include "src/core/status.h"
#include "src/storage/commit_rules.h"
#include "src/storage/sqlite/leftovers.h"
#include "src/storage/sqlite/readers.h"
#include "src/storage/sqlite/rows.h"
#include "src/storage/sqlite/schema.h"
#include "src/storage/sqlite/snapshot_rows.h"
#include "src/storage/sqlite/trial_scan.h"
#include "src/storage/sqlite/writes.h"
#include "vernier/core/error.h"

namespace vernier {
namespace sqlite {
namespace {

class CommitInLine final : public PendingCommit {
 public:
  CommitInLine(GroupWriter& writer, std::shared_ptr<GroupWriter::Ticket> ticket)
      : writer_(writer), ticket_(std::move(ticket)) {}
  absl::Status Wait() override { return writer_.Wait(*ticket_); }
  void Then(std::function<void(const absl::Status&)> told) override {
    writer_.Then(*ticket_, std::move(told));
  }

 private:
  GroupWriter& writer_;
  std::shared_ptr<GroupWriter::Ticket> ticket_;  // The line is the other owner.
};

class Store final : public SqliteStorage {
 public:
  Store(std::unique_ptr<Connection> connection,
        const FileIdentity& file,
        const SqliteOptions& options,
        const Tuning& tuning)
      : writer_(std::move(connection)),
        readers_(options.path, file, options.busy_timeout, tuning.vfs),
        leftovers_(writer_) {}

  // Continues a deletion that was under way when the store was closed.
  void ResumeDeletion(StudyId study) { leftovers_.Remove(study); }

  absl::StatusOr<Study> CreateStudy(const Event& created) override {
    VERNIER_ASSIGN_OR_RETURN(Study study, storage::NewStudy(created));
    auto write = std::make_unique<CreateWrite>(std::move(study), created);
    const CreateWrite& outcome = *write;  // The ticket keeps it.
    const auto ticket = writer_.Enqueue(std::move(write));
    VERNIER_RETURN_IF_ERROR(writer_.Wait(*ticket));
    return outcome.created();
  }

  std::unique_ptr<PendingCommit> Begin(Commit commit) override {
    auto write = std::make_unique<CommitWrite>(std::move(commit));
    // Prepared before it is in line. Otherwise the leader would encode its rows, while the changes
    // of all studies wait.
    if (write->is_large()) write->Prepare();
    return std::make_unique<CommitInLine>(writer_, writer_.Enqueue(std::move(write)));
  }

  absl::Status DeleteStudy(StudyId id, std::string_view request_id) override {
    VERNIER_RETURN_IF_ERROR(
        writer_.Wait(*writer_.Enqueue(std::make_unique<DeleteWrite>(id, request_id))));
    // Only after the deletion is durable. What a crash leaves here is resumed when the store is opened.
    leftovers_.Remove(id);
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<std::string>> FindDeletion(
      std::string_view request_id) const override {
    return readers_.Run([&](Connection& c) { return SelectDeletion(c, request_id); });
  }

  absl::StatusOr<Study> GetStudy(StudyId id) const override {
    return ReadOf(id, [&](Connection& c) { return SelectStudy(c, id); });
  }
  absl::StatusOr<Study> GetStudyByName(std::string_view name) const override {
    // The caller knows the name, so that damage can be reported with it without another look.
    auto study = readers_.Run([&](Connection& c) { return SelectStudyByName(c, name); });
    if (!study.ok()) return DamageOf(name, study.status());
    return study;
  }
  absl::StatusOr<std::vector<Study>> ListStudies(StudyId after, std::size_t limit) const override {
    auto studies = readers_.Run([&](Connection& c) { return SelectStudies(c, after, limit); });
    if (!studies.ok()) return DamageOf("", studies.status());
    return studies;
  }
  absl::StatusOr<std::vector<StudyKey>> ListStudyKeys() const override {
    return readers_.Run(&SelectStudyKeys);
  }
  absl::StatusOr<Trial> GetTrial(TrialId id) const override {
    return ReadOf(id.study, [&](Connection& c) { return SelectTrial(c, id); });
  }
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                TrialNumber after,
                                                std::size_t limit) const override {
    return ReadOf(study, [&](Connection& c) { return SelectTrials(c, study, after, limit); });
  }
  absl::Status ScanTrials(StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) const override {
    const auto scanned = ReadOf(study, [&](Connection& c) -> absl::StatusOr<bool> {
      VERNIER_RETURN_IF_ERROR(sqlite::ScanTrials(c, study, scan, visit));
      return true;
    });
    return scanned.status();
  }
  absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                EventSeq after,
                                                std::size_t limit) const override {
    return ReadOf(study, [&](Connection& c) { return SelectEvents(c, study, after, limit); });
  }
  absl::StatusOr<std::vector<Measurement>> ReadMeasurements(
      StudyId study, std::span<const EventSeq> events) const override {
    return ReadOf(study, [&](Connection& c) { return sqlite::ReadMeasurements(c, study, events); });
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const override {
    return ReadOf(trial.study, [&](Connection& c) { return SelectMeasurements(c, trial); });
  }
  absl::StatusOr<std::vector<Event>> ReadReports(TrialId trial) const override {
    return ReadOf(trial.study, [&](Connection& c) { return SelectReports(c, trial); });
  }
  absl::StatusOr<std::vector<Event>> ReadRequest(StudyId study,
                                                 std::string_view request_id) const override {
    return ReadOf(study, [&](Connection& c) { return SelectRequest(c, study, request_id); });
  }
  absl::StatusOr<std::optional<StudySnapshot>> ReadSnapshot(StudyId study) const override {
    return ReadOf(study, [&](Connection& c) { return SelectSnapshot(c, study); });
  }

  GroupWriter::Statistics statistics() const override { return writer_.statistics(); }
  void KeepLogOnClose() override { writer_.KeepLogOnClose(); }

 private:
  // Reads rows of one study. Errors about damage name the study.
  template <typename Read>
  std::invoke_result_t<Read, Connection&> ReadOf(StudyId id, const Read& read) const {
    auto result = readers_.Run(read);
    if (!absl::IsDataLoss(result.status())) return result;
    // The name takes another read, which only an error pays for.
    return DamageOf(NameOf(id), result.status());
  }
  // From the list of all studies, which is there even where the row of this one is damaged. Empty: unknown.
  std::string NameOf(StudyId id) const {
    const auto keys = ListStudyKeys();
    if (!keys.ok()) return "";
    const auto found = std::ranges::find(*keys, id, &StudyKey::id);
    return found == keys->end() ? "" : found->name;
  }

  // The first member, so that it is destroyed last. SQLite then brings the log into the file, since no reader has it
  // open, and `leftovers_`, which uses the writer, is gone.
  GroupWriter writer_;
  mutable Readers readers_;
  Leftovers leftovers_;
};

// Only if it is not set, since that writes.
absl::Status SetAutoVacuum(Connection& connection) {
  constexpr std::int64_t kIncremental = 2;
  {
    Statement now(connection, "PRAGMA auto_vacuum");
    VERNIER_ASSIGN_OR_RETURN(const bool answered, now.Step());
    if (answered && now.Integer(0) == kIncremental) return absl::OkStatus();
  }
  return connection.Execute("PRAGMA auto_vacuum = INCREMENTAL");
}

// Sets up the connection that writes. The write-ahead log lets readers go on during a write. Each commit is synced,
// unless a test says otherwise. Foreign keys are off, since they would remove all rows of a deleted study at once.
// `auto_vacuum` lets a new file give single pages back (ShrinkStore); a file that has tables without it stays as it is.
absl::Status Configure(Connection& connection, const Tuning& tuning) {
  constexpr const char* kCommon =
      "PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; "
      "PRAGMA journal_size_limit = 16777216;";
  VERNIER_RETURN_IF_ERROR(connection.Execute(kCommon));
  VERNIER_RETURN_IF_ERROR(SetAutoVacuum(connection));
  VERNIER_RETURN_IF_ERROR(connection.Execute(tuning.synchronous ? "PRAGMA synchronous = FULL"
                                                                : "PRAGMA synchronous = OFF"));
  Statement journal(connection, "PRAGMA journal_mode = WAL");
  VERNIER_ASSIGN_OR_RETURN(const bool answered, journal.Step());
  if (answered && journal.Text(0) == "wal") return absl::OkStatus();
  return Unavailable("the file system cannot hold a write-ahead log");
}

absl::StatusOr<std::unique_ptr<SqliteStorage>> OpenStore(const SqliteOptions& options,
                                                         const Tuning& tuning) {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                           Connection::Open(options.path, options.busy_timeout, tuning.vfs));
  // First of all, since the calls after it write: the file may belong to another program or a newer version.
  VERNIER_RETURN_IF_ERROR(CheckOurs(*connection));
  VERNIER_RETURN_IF_ERROR(Configure(*connection, tuning));
  // After Configure, since `auto_vacuum` must be set before the first table exists.
  VERNIER_RETURN_IF_ERROR(Migrate(*connection));
  // If the list is damaged, the rows of deleted studies stay. That is no reason to refuse the
  // studies that are there.
  const auto leftovers = SelectLeftovers(*connection).value_or(std::vector<StudyId>());
  const FileIdentity file = connection->file();
  auto store = std::make_unique<Store>(std::move(connection), file, options, tuning);
  for (const StudyId study : leftovers) store->ResumeDeletion(study);
  return store;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStorage>> Open(const SqliteOptions& options,
                                                    const Tuning& tuning) {
  absl::StatusOr<std::unique_ptr<SqliteStorage>> store = OpenStore(options, tuning);
  if (store.ok()) return store;
  // Errors from the connection name the file already; those of the schema do not.
  const std::string message(store.status().message());
  if (message.starts_with("store '")) return store;
  return absl::Status(store.status().code(), fmt::format("store '{}': {}", options.path, message));
}

}  // namespace sqlite

absl::StatusOr<std::unique_ptr<Storage>> OpenSqliteStorage(const SqliteOptions& options) {
  return sqlite::Open(options, sqlite::Tuning());
}

}  // namespace vernier
