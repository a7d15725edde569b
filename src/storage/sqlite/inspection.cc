#include "src/storage/sqlite/inspection.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/core/damage.h"
#include "src/core/status.h"
#include "src/storage/sqlite/rows.h"
#include "src/storage/sqlite/schema.h"
#include "src/storage/sqlite/snapshot_rows.h"
#include "src/storage/sqlite/trial_scan.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {
namespace {

class RefusedCommit final : public PendingCommit {
 public:
  absl::Status Wait() override { return FailedPrecondition("the store is open for reading"); }
  void Then(std::function<void(const absl::Status&)> told) override { told(Wait()); }
};

// The rows of one snapshot.
class SnapshotStorage final : public Storage {
 public:
  SnapshotStorage(Connection& connection, Transaction transaction)
      : connection_(connection), transaction_(std::move(transaction)) {}

  absl::StatusOr<Study> CreateStudy(const Event& /*created*/) override {
    return RefusedCommit().Wait();
  }
  std::unique_ptr<PendingCommit> Begin(Commit /*commit*/) override {
    return std::make_unique<RefusedCommit>();
  }
  absl::Status DeleteStudy(StudyId /*id*/, std::string_view /*request_id*/) override {
    return RefusedCommit().Wait();
  }
  absl::StatusOr<std::optional<std::string>> FindDeletion(
      std::string_view request_id) const override {
    return SelectDeletion(connection_, request_id);
  }
  absl::StatusOr<Study> GetStudy(StudyId id) const override { return SelectStudy(connection_, id); }
  absl::StatusOr<Study> GetStudyByName(std::string_view name) const override {
    return SelectStudyByName(connection_, name);
  }
  absl::StatusOr<std::vector<Study>> ListStudies(StudyId after, std::size_t limit) const override {
    return SelectStudies(connection_, after, limit);
  }
  absl::StatusOr<std::vector<StudyKey>> ListStudyKeys() const override {
    return SelectStudyKeys(connection_);
  }
  absl::StatusOr<std::vector<Event>> ReadReports(TrialId trial) const override {
    return SelectReports(connection_, trial);
  }
  absl::StatusOr<std::vector<Event>> ReadRequest(StudyId study,
                                                 std::string_view request_id) const override {
    return SelectRequest(connection_, study, request_id);
  }
  absl::StatusOr<std::optional<StudySnapshot>> ReadSnapshot(StudyId study) const override {
    return SelectSnapshot(connection_, study);
  }
  absl::StatusOr<Trial> GetTrial(TrialId id) const override { return SelectTrial(connection_, id); }
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                TrialNumber after,
                                                std::size_t limit) const override {
    return SelectTrials(connection_, study, after, limit);
  }
  absl::Status ScanTrials(StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) const override {
    return sqlite::ScanTrials(connection_, study, scan, visit);
  }
  absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                EventSeq after,
                                                std::size_t limit) const override {
    return SelectEvents(connection_, study, after, limit);
  }
  absl::StatusOr<std::vector<Measurement>> ReadMeasurements(
      StudyId study, std::span<const EventSeq> events) const override {
    return sqlite::ReadMeasurements(connection_, study, events);
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const override {
    return SelectMeasurements(connection_, trial);
  }

 private:
  Connection& connection_;
  const Transaction transaction_;
};

absl::StatusOr<std::int64_t> AskInteger(Connection& connection, std::string_view sql) {
  Statement select(connection, sql);
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  return found ? select.Integer(0) : 0;
}

// An answer may have several lines, under a title.
void AddLines(std::string_view text, std::vector<std::string>& found) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && line != "ok" && !line.starts_with("***")) found.emplace_back(line);
  }
}

// The texts that a check answers. The error that ended it says nothing new once something was found.
absl::Status Collect(Connection& connection,
                     std::string_view sql,
                     std::vector<std::string>& found) {
  Statement select(connection, sql);
  while (true) {
    const absl::StatusOr<bool> more = select.Step();
    if (absl::IsDataLoss(more.status())) {
      const std::string message(more.status().message());
      if (found.empty()) found.emplace_back(WithoutAdvice(message));
      return absl::OkStatus();
    }
    VERNIER_RETURN_IF_ERROR(more.status());
    if (!*more) return absl::OkStatus();
    AddLines(select.Text(0), found);
  }
}

// Finds rows of trials and events without a study, except those that are being removed.
absl::Status CollectStrays(Connection& connection, std::vector<std::string>& found) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::int64_t has_leftovers,
      AskInteger(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'leftovers'"));
  // A store of an older schema, opened as it is, has no leftovers.
  const std::string known = has_leftovers != 0
                                ? "SELECT id FROM studies UNION SELECT study FROM leftovers"
                                : "SELECT id FROM studies";
  // The server writes with foreign keys off, and the checks of SQLite do not include them. One row
  // of each table is enough to tell.
  for (const char* const table : {"trials", "events"}) {
    const std::string sql = fmt::format(
        "SELECT 'a row of {0} belongs to no study' FROM {0} WHERE study NOT IN ({1}) "
        "LIMIT 1",
        table,
        known);
    VERNIER_RETURN_IF_ERROR(Collect(connection, sql, found));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Inspection>> Inspection::Open(const std::string& path,
                                                             Schema schema) {
  std::error_code error;
  // SQLite has one code for a file that is missing and one that cannot be opened.
  if (!std::filesystem::exists(path, error)) return NotFound("there is no store at {}", path);
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                           Connection::OpenToLook(path, kBusyTimeout));
  const absl::Status ours =
      schema == Schema::kCurrent ? CheckCurrent(*connection) : CheckKnown(*connection);
  if (ours.ok()) return std::unique_ptr<Inspection>(new Inspection(std::move(connection)));
  const std::string message(ours.message());
  // Errors from the connection name the file already.
  if (message.starts_with("store '")) return ours;
  return absl::Status(ours.code(), fmt::format("store '{}': {}", path, message));
}

absl::StatusOr<Inspection::Extent> Inspection::Measure() {
  Extent extent;
  VERNIER_ASSIGN_OR_RETURN(extent.page_bytes, AskInteger(*connection_, "PRAGMA page_size"));
  VERNIER_ASSIGN_OR_RETURN(extent.pages, AskInteger(*connection_, "PRAGMA page_count"));
  VERNIER_ASSIGN_OR_RETURN(extent.free_pages, AskInteger(*connection_, "PRAGMA freelist_count"));
  return extent;
}

absl::StatusOr<std::vector<std::string>> Inspection::CheckPages(
    Depth depth, const std::function<bool()>& go_on) {
  const Connection::Watched watched(*connection_, go_on);
  std::vector<std::string> found;
  VERNIER_RETURN_IF_ERROR(
      Collect(*connection_,
              depth == Depth::kQuick ? "PRAGMA quick_check(100)" : "PRAGMA integrity_check(100)",
              found));
  VERNIER_RETURN_IF_ERROR(CollectStrays(*connection_, found));
  return found;
}

absl::StatusOr<std::unique_ptr<Storage>> Inspection::Snapshot() {
  VERNIER_ASSIGN_OR_RETURN(Transaction transaction,
                           Transaction::Begin(*connection_, Transaction::Kind::kRead));
  // SQLite takes the snapshot with the first read.
  VERNIER_RETURN_IF_ERROR(AskInteger(*connection_, "PRAGMA user_version").status());
  return std::make_unique<SnapshotStorage>(*connection_, std::move(transaction));
}

}  // namespace vernier::sqlite
