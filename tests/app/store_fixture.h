#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/storage/sqlite/connection.h"
#include "tests/app/temporary_folder.h"
#include "tests/study/random_workload.h"
#include "tests/study/study_fixture.h"

namespace vernier::app {

// Stores with studies in which much has happened.
class StoreFixture : public ::testing::Test {
 protected:
  static Caller Me() { return {.actor = "test", .request_id = ""}; }

  // `steps` calls of every kind on each of the studies; those that are not there are created.
  void Fill(Studies& studies, const std::vector<std::string>& names, int steps) {
    for (const std::string& name : names) {
      if (!studies.FindStudyId(name).ok()) {
        ASSERT_THAT(studies.CreateStudy(study::ClientSpec(name), Me()), testing::IsOk());
      }
      study::RandomWorkload workload(studies, clock_, studies.FindStudyId(name).value(), ++seed_);
      for (int i = 0; i < steps; ++i) workload.Step().IgnoreError();
    }
  }
  void Fill(const std::vector<std::string>& names, int steps) {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    Fill(*Studies::Create(*storage, clock_), names, steps);
  }
  // Runs SQL on a file, past the store.
  static void Tamper(const std::string& path, const std::string& sql) {
    ASSERT_OK_AND_ASSIGN(const auto connection,
                         sqlite::Connection::Open(path, absl::Seconds(1), ""));
    ASSERT_THAT(connection->Execute(sql), testing::IsOk());
  }
  // Waits for the rows of deleted studies to be removed: each time the store is opened some are.
  void FinishDeletions() {
    const auto are_left = [&] {
      const auto connection = sqlite::Connection::Open(store_, absl::Seconds(1), "").value();
      return sqlite::Statement(*connection, "SELECT 1 FROM leftovers").Step().value();
    };
    while (are_left()) ASSERT_THAT(OpenSqliteStorage({.path = store_}).status(), testing::IsOk());
  }
  // All rows of the file as one text, but those of deleted studies: they are removed by and by.
  static std::string Dump(const std::string& path) {
    std::string dump;
    const auto connection = sqlite::Connection::Open(path, absl::Seconds(1), "").value();
    for (const char* sql :
         {"SELECT json_array(id, name, state, reason, created_at, updated_at, last_event, trials, "
          "completed, failed, open, best_trial, spec_version, spec, optimal_trials, "
          "converged_trial, cpu_time_ns, metadata) FROM studies ORDER BY id",
          "SELECT json_array(study, number, state, created_at, ended_at, failure, message, row) "
          "FROM trials WHERE study IN (SELECT id FROM studies) ORDER BY study, number",
          "SELECT json_array(study, seq, time, actor, request_id, kind, trial, payload) FROM "
          "events WHERE study IN (SELECT id FROM studies) ORDER BY study, seq",
          "SELECT json_array(study, metric, value, number) FROM trial_metrics WHERE study IN "
          "(SELECT id FROM studies) ORDER BY study, metric, value, number",
          "SELECT json_array(request_id, study) FROM deletions ORDER BY request_id",
          "SELECT json_array(name, seq) FROM sqlite_sequence"}) {
      sqlite::Statement select(*connection, sql);
      while (select.Step().value()) dump += std::string(select.Text(0)) + "\n";
    }
    return dump;
  }

  const TemporaryFolder folder_;
  const std::string store_ = folder_ / "store.db";
  ManualClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  std::uint64_t seed_ = 4711;
};

}  // namespace vernier::app
