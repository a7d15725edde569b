#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/storage/sqlite/group_writer.h"
#include "src/storage/sqlite/rows.h"
#include "vernier/storage.h"

// The three things that are ever written.
namespace vernier::sqlite {

class CreateWrite final : public Write {
 public:
  // The study's id is set when it is applied.
  CreateWrite(Study study, const Event& created);
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return study_.id; }
  const Study& created() const { return study_; }

 private:
  Study study_;
  EventRow event_;
};

class CommitWrite final : public Write {
 public:
  explicit CommitWrite(Commit commit);
  void Prepare() override;  // Encodes the rows.
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return commit_.study; }

 private:
  Commit commit_;
  std::once_flag prepared_;
  absl::Status legal_;  // Whether the commit makes sense in itself.
  std::vector<EventRow> events_;
  std::vector<TrialRow> trials_;
};

class DeleteWrite final : public Write {
 public:
  DeleteWrite(StudyId id, std::string_view request_id) : id_(id), request_id_(request_id) {}
  absl::Status Apply(Connection& connection, bool earlier_failed) override;
  StudyId study() const override { return id_; }

 private:
  StudyId id_;
  std::string request_id_;
};

}  // namespace vernier::sqlite
