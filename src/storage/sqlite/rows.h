#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/storage.h"

// The tables, row by row. Each call belongs to a transaction of its caller.
namespace vernier::sqlite {

// --- studies ---
// The two parts of a row that may be long, encoded ahead of the transaction.
std::string SpecText(const StudySpec& spec);
std::string MetadataText(const Metadata& metadata);
// Returns the new id. `spec` is SpecText of the study's.  AlreadyExists: the name is taken.
absl::StatusOr<StudyId> InsertStudy(Connection& connection,
                                    const Study& study,
                                    std::string_view spec);
// All but the metadata and the spec.
absl::Status UpdateStudy(Connection& connection, const Study& study);
absl::Status UpdateSpec(Connection& connection, StudyId id, std::string_view spec);
absl::Status UpdateMetadata(Connection& connection, StudyId id, std::string_view metadata);
// The study is gone; its trials and events are left over, for RemoveLeftovers.  NotFound.
absl::Status DeleteStudy(Connection& connection, StudyId id);
absl::StatusOr<std::vector<StudyId>> SelectLeftovers(Connection& connection);
// Removes some rows of a deleted study, so few that others hardly wait. False: there are none any more. DataLoss: one of the
// tables is damaged there, and is added to `damaged`: the next call leaves it alone.
absl::StatusOr<bool> RemoveLeftovers(Connection& connection, StudyId id, std::uint32_t& damaged);
// Notes that the request deletes the study, which must still be there to have its name taken down.
absl::Status InsertDeletion(Connection& connection, std::string_view request_id, StudyId id);
absl::StatusOr<std::optional<std::string>> SelectDeletion(Connection& connection,
                                                          std::string_view request_id);
absl::StatusOr<Study> SelectStudy(Connection& connection, StudyId id);
absl::StatusOr<Study> SelectStudyByName(Connection& connection, std::string_view name);
absl::StatusOr<std::vector<Study>> SelectStudies(Connection& connection,
                                                 StudyId after,
                                                 std::size_t limit);
struct StudyVersion {
  EventSeq last_event;
  std::int64_t spec_version = 0;
};
absl::StatusOr<StudyVersion> SelectStudyVersion(Connection& connection, StudyId id);
// In the order of ids: from the index of names, which lacks no study whose row is damaged, or from the rows.
absl::StatusOr<std::vector<StudyKey>> SelectStudyKeys(Connection& connection);

// --- trials ---
// A trial as its row, encoded ahead of the transaction.
struct TrialRow {
  explicit TrialRow(const Trial& trial);
  std::int64_t number;
  std::string state;
  std::string created_at;
  std::optional<std::string> ended_at;
  std::optional<std::string> failure;
  std::string message;
  std::string row;
  std::map<std::string, double> metrics;  // Of a trial that has ended: CountedValues, but NaN.
};
absl::Status UpsertTrial(Connection& connection, StudyId study, const TrialRow& trial);
// What lists by a metric are read from. A trial that has ended keeps its metrics.
absl::Status InsertMetrics(Connection& connection, StudyId study, const TrialRow& trial);
absl::StatusOr<Trial> ParseTrial(std::string_view row);
absl::StatusOr<Trial> SelectTrial(Connection& connection, TrialId id);
absl::StatusOr<std::vector<Trial>> SelectTrials(Connection& connection,
                                                StudyId study,
                                                TrialNumber after,
                                                std::size_t limit);

// --- events ---
// An event as its row, encoded ahead of the transaction.
struct EventRow {
  explicit EventRow(const Event& event);
  std::int64_t seq;
  std::string time;
  std::string actor;
  std::string request_id;
  std::string kind;
  std::int64_t trial;
  std::string payload;
};
absl::Status InsertEvent(Connection& connection, StudyId study, const EventRow& event);
absl::StatusOr<std::vector<Event>> SelectEvents(Connection& connection,
                                                StudyId study,
                                                EventSeq after,
                                                std::size_t limit);
// NotFound: no such study, or an event that is no measurement.
absl::StatusOr<std::vector<Measurement>> ReadMeasurements(Connection& connection,
                                                          StudyId study,
                                                          std::span<const EventSeq> events);
absl::StatusOr<std::vector<Measurement>> SelectMeasurements(Connection& connection, TrialId trial);
// The same as events.
absl::StatusOr<std::vector<Event>> SelectReports(Connection& connection, TrialId trial);
absl::StatusOr<std::vector<Event>> SelectRequest(Connection& connection,
                                                 StudyId study,
                                                 std::string_view request_id);

}  // namespace vernier::sqlite
