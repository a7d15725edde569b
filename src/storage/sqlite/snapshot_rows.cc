#include "src/storage/sqlite/snapshot_rows.h"

#include <cstdint>
#include <string>

#include "src/core/status.h"
#include "src/storage/sqlite/rows.h"

namespace vernier::sqlite {

absl::Status UpdateSnapshot(Connection& connection,
                            StudyId study,
                            EventSeq as_of,
                            const SnapshotChange& change) {
  auto part = static_cast<std::int64_t>(change.first_part);
  VERNIER_RETURN_IF_ERROR(Statement(connection,
                                    "DELETE FROM snapshot_parts WHERE study = ? AND part >= ?",
                                    study.value(),
                                    part)
                              .Run());
  for (const std::string& data : change.parts) {
    VERNIER_RETURN_IF_ERROR(
        Statement(connection,
                  "INSERT INTO snapshot_parts (study, part, data) VALUES (?, ?, ?)",
                  study.value(),
                  part++,
                  Blob{data})
            .Run());
  }
  // Parts stay without a head: later commits add to them, until one has a head.
  if (!change.head.has_value()) {
    return Statement(connection, "DELETE FROM snapshots WHERE study = ?", study.value()).Run();
  }
  return Statement(connection,
                   "INSERT OR REPLACE INTO snapshots (study, as_of, head) VALUES (?, ?, ?)",
                   study.value(),
                   as_of.value(),
                   *change.head)
      .Run();
}

absl::StatusOr<std::optional<StudySnapshot>> SelectSnapshot(Connection& connection, StudyId study) {
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, study).status());
  // One statement, so that head and parts are of one commit.
  Statement select(connection,
                   "SELECT as_of, head, part, data FROM snapshots LEFT JOIN snapshot_parts USING "
                   "(study) WHERE study = ? ORDER BY part",
                   study.value());
  std::optional<StudySnapshot> snapshot;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return snapshot;
    if (!snapshot.has_value()) {
      snapshot.emplace();
      snapshot->as_of = EventSeq(select.Integer(0));
      snapshot->head = select.Text(1);
    }
    const std::optional<std::int64_t> part = select.OptionalInteger(2);
    // Null in the only row of a head without parts: the join keeps the head.
    if (!part.has_value()) continue;
    // A gap would shift all later parts, which have no other sign of their position.
    if (*part != static_cast<std::int64_t>(snapshot->parts.size())) {
      return DataLoss("part {} of a snapshot is missing", snapshot->parts.size());
    }
    snapshot->parts.emplace_back(select.Bytes(3));
  }
}

}  // namespace vernier::sqlite
